// SPDX-License-Identifier: Apache-2.0
// Two engines joined by a byte pipe, with a clock that only the test moves. The pipe splits, joins, corrupts and cuts.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

#include "engine/engine.hpp"
#include "tests/engine/vector_memory.hpp"

namespace weft::engine::test {

// One end: an engine, its memory, and what a socket driver keeps for it.
struct End {
  explicit End(const Config& config, Instant now = {}) : engine(config, memory, now) {}
  End(const End&) = delete;  // the engine refers to the memory
  End& operator=(const End&) = delete;

  VectorMemory memory;
  Engine engine;
  TransmitBatch batch{256 * 1024};
  std::vector<std::byte> arrived;  // in the socket
  std::vector<std::byte> unread;   // read and not consumed
  std::vector<Event> events;
  std::vector<std::byte> sent;  // everything that left this end
  bool fin_sent = false, fin_received = false, fin_told = false, gone = false;
  ReceiveResult last{};
  bool lands = false;        // payload is read to its place where the engine names one
  std::size_t landings = 0;  // how often it was

  void poll() {
    while (auto event = engine.poll_event()) events.push_back(std::move(*event));
  }
  template <typename T>
  [[nodiscard]] std::vector<T> all() const {
    std::vector<T> found;
    for (const Event& event : events) {
      if (const T* one = std::get_if<T>(&event)) found.push_back(*one);
    }
    return found;
  }
  template <typename T>
  [[nodiscard]] std::optional<T> first() const {
    const auto found = all<T>();
    return found.empty() ? std::nullopt : std::optional<T>(found.front());
  }
  template <typename T>
  [[nodiscard]] std::size_t count() const {
    return all<T>().size();
  }
};

class Pair {
 public:
  Pair(const Config& a, const Config& b) : a(a), b(b) {}

  End a;
  End b;
  Instant now{};

  // --- The pipe's manners; the first applies to a write as to a read.
  std::function<std::size_t(std::size_t)> chop = [](std::size_t n) { return n; };
  std::function<void(const End& from, std::vector<std::byte>& octets)> meddle{};  // sees each write before it leaves
  std::size_t fail_at = 0;  // the n-th write or read breaks the connection; 0: never
  std::size_t operations = 0;

  // Moves octets until nothing moves any more.
  void run() {
    for (int rounds = 0; rounds < 100000; ++rounds) {
      const bool x = step(a, b);
      const bool y = step(b, a);
      if (!x && !y) return;
    }
    std::abort();  // a livelock
  }

  // Lets time pass up to each deadline in between.
  void advance(Duration by) {
    const Instant until = now + by;
    for (;;) {
      run();
      const auto next = earliest();
      if (!next || *next > until) break;
      now = std::max(now, *next);
      a.engine.deadline_passed(now);
      b.engine.deadline_passed(now);
    }
    now = until;
    run();
  }

 private:
  [[nodiscard]] std::optional<Instant> earliest() const {
    const auto x = a.engine.next_deadline(), y = b.engine.next_deadline();
    if (!x || !y) return x ? x : y;
    return std::min(*x, *y);
  }

  bool step(End& from, End& to) {
    const bool wrote = write(from, to);
    const bool shut = shutdown(from, to);
    const bool read = receive(to);
    from.poll();
    to.poll();
    return wrote || shut || read;
  }

  bool broken(End& x, End& y) {
    if (fail_at == 0 || ++operations != fail_at) return false;
    for (End* end : {&x, &y}) {
      if (!end->gone) end->engine.connection_lost(now);
      end->gone = true;
      end->poll();
    }
    return true;
  }

  bool write(End& from, End& to) {
    if (from.gone || from.fin_sent) return false;
    from.engine.fill(from.batch, now);
    if (from.batch.empty()) return false;
    if (broken(from, to)) return true;
    const std::size_t n = std::clamp<std::size_t>(chop(from.batch.size()), 1, from.batch.size());
    std::vector<std::byte> octets = front(from.batch, n);
    from.batch.consume(n);
    from.engine.written(n, now);
    if (meddle) meddle(from, octets);
    from.sent.insert(from.sent.end(), octets.begin(), octets.end());
    if (!to.gone) to.arrived.insert(to.arrived.end(), octets.begin(), octets.end());
    return true;
  }

  static std::vector<std::byte> front(const TransmitBatch& batch, std::size_t n) {
    std::vector<std::byte> out;
    for (Bytes piece : batch.pieces()) {
      piece = piece.first(std::min(piece.size(), n - out.size()));
      out.insert(out.end(), piece.begin(), piece.end());
    }
    return out;
  }

  bool shutdown(End& from, End& to) {
    if (from.gone || !from.batch.empty()) return false;
    switch (from.engine.disposition()) {
      case Disposition::kOpen: return false;
      case Disposition::kShutdownWrite:
        if (from.fin_sent) return false;
        from.fin_sent = true;
        return finish(to);
      case Disposition::kClose: from.gone = true; return finish(to);
      case Disposition::kReset:
        from.gone = true;
        if (!to.gone) to.engine.connection_lost(now);
        to.gone = true;
        return true;
    }
    return false;
  }

  // A FIN on its way to `to`: it arrives after all octets.
  static bool finish(End& to) {
    to.fin_received = true;
    return true;
  }

  bool receive(End& to) {
    if (to.gone) return false;
    if (to.lands && land(to)) return true;
    const std::size_t moved = read(to);
    if (to.gone) return true;
    if (!to.unread.empty()) {
      present(to, {});
      if (moved + to.last.consumed > 0) return true;
    }
    if (!to.fin_received || to.fin_told || !to.arrived.empty() || to.last.want == ReceiveResult::Want::kReceive)
      return false;
    to.fin_told = true;
    to.engine.end_of_stream(now);
    return true;
  }

  void present(End& to, const mpa::Landed& landed) {
    to.last = to.engine.receive(to.unread, now, landed);
    if (to.last.want == ReceiveResult::Want::kNothing) to.last.consumed = to.unread.size();
    to.unread.erase(to.unread.begin(), to.unread.begin() + static_cast<std::ptrdiff_t>(to.last.consumed));
  }

  // Reads the rest of the frame that has begun, its payload to where it belongs. False: it is not all there, or does
  // not.
  bool land(End& to) {
    const Landing landing = to.unread.empty() ? Landing{} : to.engine.landing(to.unread);
    const std::size_t octets = landing.memory.size() + landing.behind;
    if (landing.memory.empty() || to.arrived.size() < octets) return false;
    const auto payload_end = to.arrived.begin() + static_cast<std::ptrdiff_t>(landing.memory.size());
    const auto end = payload_end + static_cast<std::ptrdiff_t>(landing.behind);
    const std::size_t at = to.unread.size();
    std::copy(to.arrived.begin(), payload_end, landing.memory.begin());
    to.unread.resize(at + landing.memory.size(), std::byte{0xee});  // only room
    to.unread.insert(to.unread.end(), payload_end, end);
    to.arrived.erase(to.arrived.begin(), end);
    to.memory.landed = Bytes(to.unread).subspan(at, landing.memory.size());
    present(to, {at, landing.memory});
    to.memory.landed = {};
    ++to.landings;
    return true;
  }

  // What one read takes from the socket.
  std::size_t read(End& to) {
    if (to.arrived.empty() || to.last.want == ReceiveResult::Want::kReceive) return 0;
    if (broken(a, b)) return 0;
    const std::size_t n = std::clamp<std::size_t>(chop(to.arrived.size()), 1, to.arrived.size());
    const auto end = to.arrived.begin() + static_cast<std::ptrdiff_t>(n);
    to.unread.insert(to.unread.end(), to.arrived.begin(), end);
    to.arrived.erase(to.arrived.begin(), end);
    return n;
  }
};

}  // namespace weft::engine::test
