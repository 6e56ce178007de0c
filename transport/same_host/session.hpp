// SPDX-License-Identifier: Apache-2.0
// One end of a connection whose octets travel through two rings in memory that both processes have mapped. Beside the
// rings there is a doorbell, an AF_UNIX socket, over which the file of the rings was passed. It carries one octet each
// time an end wakes the other, and it tells when the other process has ended. An end that polls is never woken, so
// neither end makes a system call then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <span>
#include <system_error>

#include "common/wire.hpp"
#include "transport/endpoint.hpp"
#include "transport/same_host/memory.hpp"
#include "transport/same_host/ring.hpp"
#include "transport/socket.hpp"

namespace weft::transport::same_host {

// Not thread-safe. Does what Socket does on the data path, except that a read may also follow from a position of the
// peer that is impossible (protocol_error).
class Session {
 public:
  static constexpr std::size_t kRingOctets = 1U << 20U;  // of each direction; half of it and twice as much cost more
  // A reader that only polls asks after so many reads of an empty ring whether the peer's process has ended.
  static constexpr std::uint32_t kReadsPerLook = 4096;

  // Makes rings, and offers them to the process that listens for offers (listen_for_offers) at the TCP endpoint
  // `remote`, or at its port and the wildcard. Never waits. `local` and `remote` are the ends of the TCP connection, by
  // which the acceptor finds the connection. Fails with connection_refused if nobody listens, which is the usual case
  // and takes four system calls; with permission_denied if the listener is another user's; with
  // resource_unavailable_try_again if its queue is full; or for want of memory or descriptors (too_many_files_open:
  // more than three quarters of the descriptors that this process may have are in use).
  [[nodiscard]] static std::expected<std::unique_ptr<Session>, std::error_code> offer(const Endpoint& local,
                                                                                      const Endpoint& remote);

  // For offer(), receive_offer() and tests. `writes`: which of the two rings carries what this end writes.
  Session(Memory memory, Socket doorbell, Memory::From writes) noexcept;
  ~Session() = default;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Reads what there is, to the second place once the first is full; `second` may be empty. kMoved with fewer octets
  // than fit: no more for now. kEndOfStream: the peer has ended its direction, or has gone after it had read all that
  // this end wrote. kLost: it has gone before (connection_reset), or has called reset(); or its position is impossible.
  // All that it wrote was read, in each case but the last.
  [[nodiscard]] IoResult read(MutableBytes first, MutableBytes second) noexcept;
  // Copies what fits. If fewer octets fit than there are, also if none (kWouldBlock), the peer rings once it has read
  // so much that a quarter of the ring is free.
  [[nodiscard]] IoResult write(std::span<const Bytes> pieces) noexcept;

  // Returns the next `octets` octets where they are, if all of them are there in one piece; else nothing. The peer can
  // still write to them. take_back() counts them as read.
  [[nodiscard]] Bytes lend(std::size_t octets) noexcept { return lost_ ? Bytes() : in_.lend(octets); }
  void take_back(std::size_t octets) noexcept;
  // Returns the memory that the next octets go to, up to kMostInPlace, or nothing if less than half of that is free in
  // one piece. write() copies no octets of a first piece that begins there. No other write() comes in between.
  static constexpr std::size_t kMostInPlace = kRingOctets / 4;
  [[nodiscard]] MutableBytes room_in_place() noexcept;

  // Call it before the owner sleeps in an epoll set (level-triggered) that has doorbell(). Announces that this end
  // sleeps, after it has drained the doorbell, and looks at the rings again. Returns whether there is something to do:
  // octets, an end or a loss to read, or room for a write that left octets. Then it does not count as asleep, and the
  // owner reads on, and writes what it has. Ends, losses and room are told once, octets until they are read.
  [[nodiscard]] bool sleep() noexcept;
  // Withdraws the announcement: from now on the peer does not ring. Free of charge if there is none.
  void awake() noexcept {
    if (!lost_) in_.withdraw_sleep();
  }
  // Ends this direction after what was written, and rings. Reading continues.
  void shutdown_write() noexcept;
  // Aborts the connection, which the peer then finds lost. The destructor follows.
  void reset() noexcept;
  // Returns how many octets that were written the peer has not read; 0 if unknown.
  [[nodiscard]] std::size_t unread_by_peer() const noexcept { return lost_ ? 0 : out_.unread(); }

  // Returns whether a read would not block; without effect.
  [[nodiscard]] bool is_readable() const noexcept { return lost_ || !in_.empty() || in_.has_more() || has_ended(); }
  // Returns whether a write would move something; without effect.
  [[nodiscard]] bool is_writable() const noexcept { return lost_ || out_.has_room(); }
  // Returns whether the peer has ended its direction, or has gone; octets may be there still.
  [[nodiscard]] bool peer_has_closed() const noexcept { return in_.end_is_near() || has_ended(); }
  // Returns whether the peer has let go of the rings; octets may be there still.
  [[nodiscard]] bool has_ended() const noexcept { return doorbell_.peer_has_closed(); }

  // Readable when the peer has rung, or has gone; EPOLLRDHUP when it has gone. Only for epoll sets: this class alone
  // reads and writes it.
  [[nodiscard]] const Socket& doorbell() const noexcept { return doorbell_; }

  // In a child process after fork(): replaces the doorbell by `nowhere`, so that the peer sees the end of the parent,
  // and leaves the rings alone from now on. All calls here then report the loss operation_canceled, or do nothing.
  void leave_to_parent(int nowhere) noexcept;

 private:
  enum class Peer : std::uint8_t { kThere, kGone, kGoneAndTold };

  void ring() noexcept;
  void drain() noexcept;
  [[nodiscard]] bool has_news() noexcept;
  [[nodiscard]] bool looks_once_more() noexcept;
  [[nodiscard]] IoResult nothing_to_read() noexcept;
  [[nodiscard]] IoResult lose(std::errc error) noexcept;
  [[nodiscard]] IoResult lost() const noexcept { return {.status = IoResult::Status::kLost, .error = lost_}; }

  Memory memory_;
  Socket doorbell_;
  RingReader in_;
  RingWriter out_;
  std::error_code lost_;
  std::uint32_t reads_in_vain_ = 0;
  Peer peer_ = Peer::kThere;
  bool end_was_told_ = false;
};

}  // namespace weft::transport::same_host
