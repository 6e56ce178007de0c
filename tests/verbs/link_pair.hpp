// SPDX-License-Identifier: Apache-2.0
// Two links over a byte pipe of the test's own, in virtual time: no socket, no thread, no clock. The pipe splits as it is
// told to, holds no more than it is told to, and may be cut at any octet.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "verbs/stream/link.hpp"

namespace weft::verbs::detail {

struct BytePipe {
  std::size_t piece = std::numeric_limits<std::size_t>::max();      // of one read
  std::size_t room = std::numeric_limits<std::size_t>::max();       // it holds no more
  std::size_t cut_after = std::numeric_limits<std::size_t>::max();  // octets, then the connection is lost
  std::deque<std::byte> octets{};
  std::size_t passed = 0;
  bool fin = false;
  bool reset = false;
  bool broken = false;  // what is written fails

  [[nodiscard]] bool is_cut() const { return reset || passed >= cut_after; }
  std::size_t write(std::span<const Bytes> pieces) {
    std::size_t taken = 0;
    for (const Bytes part : pieces) {
      const std::size_t some = std::min(part.size(), room - std::min(room, octets.size()));
      octets.insert(octets.end(), part.begin(), part.begin() + static_cast<std::ptrdiff_t>(some));
      taken += some;
      if (some != part.size()) break;
    }
    return taken;
  }
  std::size_t read(MutableBytes into) {
    const std::size_t some = std::min({into.size(), piece, octets.size(), cut_after - passed});
    std::copy_n(octets.begin(), some, into.begin());
    octets.erase(octets.begin(), octets.begin() + static_cast<std::ptrdiff_t>(some));
    passed += some;
    return some;
  }
};

struct LinkParts {
  std::shared_ptr<StagTable> stags = std::make_shared<StagTable>();
  std::shared_ptr<ProtectionDomainState> domain =
      std::make_shared<ProtectionDomainState>(DeviceState::create({}).value());
  std::shared_ptr<ReceiveQueue> receives =
      std::make_shared<ReceiveQueue>(domain, ReceiveQueue::Shape{.max_wr = 64, .max_sge = 1});
};

// A link with all that it is connected to.
class LinkEnd final : public LinkHost, public ServedQueuePair, public StreamObserver {
 public:
  LinkEnd(mpa::Role role, const Policy& policy, BytePipe& in, BytePipe& out, const Instant& clock, LinkParts made = {})
      : ServedQueuePair(1, {}, made.domain, made.receives, {}),
        parts(std::move(made)),
        now(clock),
        in_(in),
        out_(out),
        link(*this, parts.stags, buffers_,
             {.role = role, .policy = policy, .ird = 4, .ord = 4, .send_depth = 64, .observer = observer()}, 1460,
             Witness::none(), clock) {}

  void connect() {
    attached = true;
    EXPECT_TRUE(link.connect(self(), waiter_, {}));
  }
  void post(const SendRequest& request) {
    ++posted_sends;
    if (!link.queue_pair()) return fail_send(request, WcStatus::kFlushed);
    EXPECT_TRUE(link.post(std::span(&request, 1)));
  }
  void receive_into(MutableBytes memory) {
    const Sge sge = segment(memory);
    const ReceiveRequest request{.wr_id = posted_receives++, .segments = std::span(&sge, 1)};
    EXPECT_TRUE(receives->post(std::span(&request, 1)));
  }
  Sge segment(MutableBytes memory) {
    auto& region = regions_[memory.data()];
    if (!region) {
      region = RegionState::create(parts.stags, domain,
                                   {.start = memory.data(),
                                    .length = memory.size(),
                                    .first_offset = address(memory),
                                    .access = kAllAccess,
                                    .domain = domain->number});
    }
    return {address(memory), static_cast<std::uint32_t>(memory.size()), region->stag()};
  }
  static std::uint64_t address(Bytes memory) { return std::bit_cast<std::uint64_t>(memory.data()); }

  // What a driver does; true if anything moved.
  bool drive() {
    if (link.life().finished()) return false;
    bool moved = false;
    while (read_once()) moved = true;
    moved |= write_all();
    link.forget_leases();
    follow_disposition();
    return moved;
  }
  [[nodiscard]] std::optional<Instant> deadline() const {
    if (link.life().finished()) return std::nullopt;
    auto first = link.engine().next_deadline();
    const Instant disconnect = link.life().disconnect.look_at;
    if (disconnect != engine::kNever) first = first ? std::min(*first, disconnect) : disconnect;
    return first;
  }
  void deadline_passed() {
    if (link.life().finished()) return;
    const auto due = link.engine().next_deadline();
    if (due && *due <= now) {
      link.deadline_passed(now);
      link.stop_waiting(now);
      write_all();
    }
    if (link.disconnect_wait_is_due(now) && link.check_disconnect_wait(moved(), now)) {
      write_all();
      link.end_disconnect_wait();
    }
    follow_disposition();
  }
  void disconnect(Unfinished work = Unfinished::kFlush) {
    ASSERT_TRUE(link.disconnect(work, now));
    write_all();
    link.begin_disconnect_wait(moved(), round_trip, now);
    follow_disposition();
  }

  // --- What was reported
  std::vector<WorkCompletion> sends{}, received{};
  int established_count = 0, closed_count = 0, peer_closed_count = 0;
  Extensions wanted_extensions{};          // before the connection
  bool attached = false;                   // the link serves, or has served, the queue pair
  std::chrono::microseconds round_trip{};  // as the socket has measured it, at disconnect()
  std::uint64_t posted_sends = 0, posted_receives = 0;
  std::optional<std::string> startup_failure{};

  LinkParts parts;
  const Instant& now;

  // --- LinkHost
  void on_requested() override {}
  void on_established() override {}
  void on_let_go() override {}
  [[nodiscard]] bool takes_octets() const override { return true; }
  [[nodiscard]] transport::PipeFailure failure() const override { return {}; }

  // --- ServedQueuePair
  [[nodiscard]] Result<void> set_stream(const Attempt&, std::shared_ptr<Stream>) override { return {}; }
  Extensions extensions() const override { return wanted_extensions; }
  bool peer_left() override { return false; }
  Beginning established(const Negotiated&) override { return {}; }
  [[nodiscard]] bool has_send_room(std::size_t unfinished) noexcept override { return unfinished < 64; }
  bool complete_send(const WorkCompletion& completion) override { return sends.push_back(completion), true; }
  bool complete_receive(const WorkCompletion& completion) override { return received.push_back(completion), true; }
  void fail_send(const SendRequest& request, WcStatus status) override {
    complete_send({.wr_id = request.wr_id, .status = status});
  }
  void stream_error(const StreamError&, AsyncEventType) override {}
  void ended_by(const Error&) override {}
  bool fall() override {
    while (const auto taken = receives->take({})) {
      complete_receive({.wr_id = receives->complete(taken->buffer.cookie), .status = WcStatus::kFlushed});
    }
    return false;
  }
  void drained() override {}
  void raise(AsyncEventType, std::optional<StreamError>) const override {}
  [[nodiscard]] bool report_stall(StreamWait, Instant) const override { return true; }
  [[nodiscard]] std::uint32_t vendor_error() const override { return 0; }

  // --- StreamObserver
  void on_requested(engine::ConnectionRequested) override { accepts_ = true; }
  bool admits_reply(Bytes) override { return true; }
  void on_established(const engine::Established&) override { ++established_count; }
  bool on_rejected(engine::Rejected) override { return false; }
  bool on_startup_failed(const engine::StartupFailed& failure, const transport::PipeFailure&) override {
    startup_failure = std::string(failure.report.sentence);
    return false;
  }
  void on_peer_closed() override { ++peer_closed_count; }
  void on_closed() override { ++closed_count; }
  void on_queue_pair_lost() override {}

 private:
  struct Waiter final : ReceiveWaiter {
    explicit Waiter(LinkEnd& end) : end_(end) {}
    void receives_available() override { end_.link.stop_waiting(end_.now); }
    LinkEnd& end_;
  };

  // Owned by the test: neither link nor queue keeps this alive.
  [[nodiscard]] std::shared_ptr<ServedQueuePair> self() { return {std::shared_ptr<void>(), this}; }
  [[nodiscard]] std::shared_ptr<StreamObserver> observer() { return {std::shared_ptr<void>(), this}; }
  [[nodiscard]] std::uint64_t moved() const {
    return link.inbox().octets_so_far() + link.outbox().octets_so_far() - out_.octets.size();
  }

  bool read_once() {
    if (!link.inbox().reads()) return false;
    if (in_.is_cut()) return link.lost(std::make_error_code(std::errc::connection_reset), now), true;
    if (in_.octets.empty()) return in_.fin && (link.end_of_stream(now), true);
    const auto room = link.room();
    std::size_t octets = in_.read(room.landing.empty() ? room.staging : room.landing);
    if (octets == room.landing.size() && octets != 0) octets += in_.read(room.staging);
    link.arrived(room, octets, now);
    if (std::exchange(accepts_, false)) {
      attached = true;
      EXPECT_TRUE(link.accept(self(), waiter_, {}, {}));
      link.pump(now);
    }
    return true;
  }
  bool write_all() {
    auto& outbox = link.outbox();
    outbox.blocked = false;
    bool moved = false;
    while (link.has_output() && !outbox.blocked && !link.life().finished()) {
      if (!outbox.pending()) link.fill({}, now);
      if (!outbox.pending()) break;
      Bytes tail;
      if (out_.broken) return link.stop_writing(std::make_error_code(std::errc::broken_pipe), now), link.pump(now);
      const std::size_t offered = [&] {
        std::size_t sum = 0;
        for (const Bytes piece : outbox.pieces(tail)) sum += piece.size();
        return sum;
      }();
      const std::size_t taken = out_.write(outbox.pieces(tail));
      moved |= taken != 0;
      if (taken != 0) link.written(taken, now);
      if (taken != offered) link.stop_writing({}, now);
    }
    link.pump(now);
    return moved;
  }
  void follow_disposition() {
    if (link.life().finished() || (link.has_output() && !link.life().is_closed())) return;
    switch (link.engine().disposition()) {
      case engine::Disposition::kOpen: return;
      case engine::Disposition::kShutdownWrite: out_.fin = true; return;
      case engine::Disposition::kReset: out_.reset = true; break;
      case engine::Disposition::kClose: out_.fin = true; break;
    }
    link.finish();
    link.report_end();
  }

  BytePipe& in_;
  BytePipe& out_;
  BufferPool buffers_{};
  std::map<const std::byte*, std::shared_ptr<RegionState>> regions_{};
  std::shared_ptr<Waiter> waiter_ = std::make_shared<Waiter>(*this);
  bool accepts_ = false;

 public:
  Link link;
};

struct LinkPair {
  explicit LinkPair(Policy policy = {}, const ServedQueuePair::Extensions& of_client = {})
      : policy_(std::move(policy)) {
    client.wanted_extensions = of_client;
    client.connect();
  }

  // Until nothing moves any more, at this time.
  void run() {
    for (bool moved = true; moved;) {
      moved = client.drive();
      moved |= server.drive();
    }
  }
  // To the first deadline of either end; false if there is none before `end`.
  bool advance(Instant end) {
    const auto one = client.deadline(), other = server.deadline();
    const auto first = one && other ? std::min(*one, *other) : one ? one : other;
    if (!first || *first > end) return now = std::max(now, end), false;
    now = std::max(now, *first);
    client.deadline_passed();
    server.deadline_passed();
    run();
    return true;
  }
  void pass(Duration time) {
    for (const Instant end = now + time; advance(end);) {
    }
  }

  Policy policy_;
  Instant now{std::chrono::seconds(1)};
  BytePipe there{}, back{};
  LinkEnd client{mpa::Role::kInitiator, policy_, back, there, now};
  LinkEnd server{mpa::Role::kResponder, policy_, there, back, now};
};

}  // namespace weft::verbs::detail
