// SPDX-License-Identifier: Apache-2.0
// Moves octets between a socket and a link: many FPDUs a read, many a write. Its owner serializes the calls, and calls
// nothing here once the link has finished, except where noted.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "transport/pipe.hpp"
#include "transport/tls/session.hpp"
#include "verbs/base/clock.hpp"
#include "verbs/stream/link.hpp"

namespace weft::verbs::detail {

class LinkIo {
 public:
  static constexpr int kMaxBatches = 4;
  // By one post, which sends all that the socket takes: what it left over would wake the progress thread at once, to
  // take the lock from the next post.
  static constexpr int kMaxBatchesOfPost = 16;

  // `link` may be made later.
  LinkIo(Link& link, transport::Socket socket, std::unique_ptr<transport::tls::Session> tls)
      : link_(link), pipe_(std::move(socket), std::move(tls)) {}

  [[nodiscard]] transport::Pipe& pipe() noexcept { return pipe_; }
  [[nodiscard]] const transport::Pipe& pipe() const noexcept { return pipe_; }

  // --- Inbound. Receiving never waits for sending: two peers that write at each other both go on reading.
  // One turn of the connection, before others have theirs. False when nothing came.
  bool receive();
  // Reads what the pipe holds. No more than that, for the socket is left alone.
  void read_held();
  // Returns whether the engine knows that a part of a TLS record is here, or that none is; watch_part() reports it.
  [[nodiscard]] bool part_known() const noexcept { return waits_for_part() == link_.inbox().part; }
  void watch_part();

  // --- Outbound. Does nothing once the link has finished, or while the socket takes nothing.
  void send(int most_batches = kMaxBatches);
  [[nodiscard]] bool has_output() const noexcept;

  // The end: no thread drives the connection any more.
  void last_octets();

  // In the startup to the nanosecond.
  [[nodiscard]] Instant time() const noexcept { return link_.life().is_established() ? about_now() : now(); }

 private:
  // What a read of the socket found; kAll: it is empty now, as a short read shows, or over.
  enum class Read : std::uint8_t { kNothing, kSome, kAll };
  struct Turn {
    std::size_t octets = 0;
    std::uint32_t frames = 0;
    [[nodiscard]] bool over() const noexcept { return octets >= Inbox::kMostRead || frames >= Inbox::kMostFrames; }
  };
  static constexpr Duration kEmssRefresh = std::chrono::milliseconds(100);

  Read read_once(Turn& turn);
  Read show(Turn& turn, const Link::Room& room, Bytes rest);
  Read take_no_octets(const transport::IoResult& io);
  [[nodiscard]] bool waits_for_part() const noexcept { return pipe_.holds_part() && !link_.inbox().stalled; }
  void refresh_emss(Instant at);
  bool write_pending(Instant at);
  bool flush_pipe(Instant at);
  bool stop_writing(const transport::IoResult& io, Instant at);

  Link& link_;
  transport::Pipe pipe_;
  Instant emss_read_at_ = now();
};

}  // namespace weft::verbs::detail
