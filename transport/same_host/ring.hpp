// SPDX-License-Identifier: Apache-2.0
// A ring of octets in memory that two processes share: one writes, one reads, and neither believes the other. Each end
// keeps its own position in private memory and only publishes it, so a peer that writes garbage into the shared page
// changes what this end sees of the other position and nothing else. A position that is read is loaded once, checked
// against the size of the ring, and used as the checked copy.
//
// A reader that sleeps and a writer that waits for room say so in a flag. The other end rings (Session) only if it
// changed that flag from 1 to 0. Why no wake-up is lost: each end stores what the other waits for, or its own flag,
// then passes a sequentially consistent fence, and then loads the other. Of two fences one is the first, and the end
// with the second sees what was stored before the first. So either the end that goes to sleep sees the octets or the
// room, or the end that made them sees the flag. tests/model/rings.pml tries all orders.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "common/wire.hpp"

namespace weft::transport::same_host {

// What one direction has in the shared page. Two cache lines for each word, because processors fetch lines in pairs:
// an end that polls one word is not disturbed by writes to another. A fresh file of zeros is an empty ring.
struct RingHeader {
  static constexpr std::size_t kApart = 128;
  // In `written`.
  static constexpr std::uint64_t kEnd = std::uint64_t{1} << 63;            // nothing follows
  static constexpr std::uint64_t kReset = kEnd | std::uint64_t{1} << 62U;  // and the connection is aborted

  // The writer's. Positions count octets since the start of the stream, and those that were skipped: a writer that
  // finds all read goes on at the front of the ring, so that a connection with small messages touches few pages.
  alignas(kApart) std::atomic<std::uint64_t> written;
  std::atomic<std::uint64_t> front;                   // the last position that it went on at, stored before `written`
  alignas(kApart) std::atomic<std::uint64_t> read;    // the reader's
  alignas(kApart) std::atomic<std::uint32_t> sleeps;  // the reader sets it, the writer clears it and rings
  alignas(kApart) std::atomic<std::uint32_t> waits;   // the writer sets it, the reader clears it and rings
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<std::uint32_t>::is_always_lock_free);

// Where a ring is. `size` is a power of two. The memory outlives both ends.
struct Ring {
  RingHeader* header = nullptr;
  std::byte* data = nullptr;
  std::size_t size = 0;
};

// What a read or a write of a ring did.
struct RingResult {
  std::size_t octets = 0;   // that were moved
  bool rings = false;       // the peer sleeps or waits: ring its bell
  bool full = false;        // write: octets are left, and the reader was told to ring when there is room
  bool impossible = false;  // the position of the peer is: nothing was moved because of it
  bool rung = false;        // write: the reader has taken the flag of the last wait, so it rings, or has rung
};

// The end that reads. Not thread-safe.
class RingReader {
 public:
  explicit RingReader(const Ring& ring) noexcept : ring_(ring) {}

  // Reads what there is, to the second place once the first is full. Fewer octets than fit: no more for now.
  [[nodiscard]] RingResult read(MutableBytes first, MutableBytes second) noexcept;
  // Returns the next `octets` octets where they are, if all of them are there and do not wrap; else nothing. The writer
  // can still change them. take_back() counts them as read; it returns whether the peer's bell is to be rung.
  [[nodiscard]] Bytes lend(std::size_t octets) noexcept;
  [[nodiscard]] bool take_back(std::size_t octets) noexcept;
  // Looks at the writer's position. Returns false if it is impossible.
  [[nodiscard]] bool look() noexcept;
  // As of the last look.
  [[nodiscard]] bool empty() const noexcept { return read_ == written_; }
  [[nodiscard]] bool ended() const noexcept { return marks_ != 0 && empty(); }
  [[nodiscard]] bool was_reset() const noexcept { return marks_ == RingHeader::kReset && empty(); }
  // Returns whether the writer has ended the stream; octets may be there still.
  [[nodiscard]] bool end_is_near() const noexcept {
    return (ring_.header->written.load(std::memory_order_acquire) & RingHeader::kEnd) != 0;
  }
  // Returns whether a look would find octets or an end that the last one did not.
  [[nodiscard]] bool has_more() const noexcept {
    return ring_.header->written.load(std::memory_order_acquire) != (written_ | marks_);
  }

  // Announces that this end sleeps. Look again before sleeping.
  void announce_sleep() noexcept;
  [[nodiscard]] bool has_announced() const noexcept { return announced_; }
  // Free of charge if none was announced.
  void withdraw_sleep() noexcept;

 private:
  [[nodiscard]] bool publish() noexcept;
  void copy_out(MutableBytes into) noexcept;
  void copy_part(MutableBytes into) noexcept;
  [[nodiscard]] bool skip_to_front(std::uint64_t written) noexcept;

  Ring ring_;
  std::uint64_t read_ = 0;     // what is true; the header has a copy for the writer
  std::uint64_t written_ = 0;  // checked: at most `size` ahead
  std::uint64_t marks_ = 0;    // those that were beside it
  bool announced_ = false;
};

// The end that writes. Not thread-safe.
class RingWriter {
 public:
  explicit RingWriter(const Ring& ring) noexcept : ring_(ring) {}

  // Returns the free memory that the next octets go to, up to where it wraps; nothing if it is less than `least`. What
  // a write() finds there already it does not copy, if its first piece begins there.
  [[nodiscard]] MutableBytes room_in_place(std::size_t least) noexcept;
  // Writes what fits. If octets are left, it has announced that it waits for room.
  [[nodiscard]] RingResult write(std::span<const Bytes> pieces) noexcept;
  // Ends the stream after what was written; `mark`: kEnd or kReset. Returns whether the peer's bell is to be rung.
  [[nodiscard]] bool end(std::uint64_t mark = RingHeader::kEnd) noexcept;
  [[nodiscard]] bool ended() const noexcept { return end_ != 0; }
  // Returns, once for each wait, whether the reader has made room since: its bell may have been heard already.
  [[nodiscard]] bool room_was_made() noexcept;
  // Returns whether a write would move something, or move it without having been rung too early.
  [[nodiscard]] bool has_room() const noexcept {
    return has_free() && (!waits_ || ring_.header->waits.load(std::memory_order_acquire) == 0);
  }
  // Returns how many octets the reader has not read; 0 if its position is impossible.
  [[nodiscard]] std::size_t unread() const noexcept;

 private:
  [[nodiscard]] bool has_free() const noexcept { return unread() < ring_.size; }
  [[nodiscard]] std::size_t room() const noexcept { return ring_.size - static_cast<std::size_t>(written_ - read_); }
  [[nodiscard]] bool look() noexcept;
  [[nodiscard]] std::uint64_t position_of_reader() const noexcept;
  void start_over() noexcept;
  [[nodiscard]] bool make_room(RingResult& result) noexcept;
  [[nodiscard]] MutableBytes room_ahead() const noexcept {
    return {next(), std::min(room(), ring_.size - position_in_ring())};
  }
  [[nodiscard]] std::byte* next() const noexcept { return ring_.data + position_in_ring(); }
  [[nodiscard]] std::size_t position_in_ring() const noexcept {
    return static_cast<std::size_t>(written_) & (ring_.size - 1);
  }
  [[nodiscard]] std::size_t copy_in(Bytes from) noexcept;
  [[nodiscard]] bool publish() noexcept;

  Ring ring_;
  std::uint64_t written_ = 0;  // what is true; the header has a copy for the reader
  std::uint64_t read_ = 0;     // checked: at most `size` behind
  std::uint64_t front_ = 0;    // as in the header
  std::uint64_t skipped_ = 0;  // the position that it went on from
  std::uint64_t end_ = 0;      // the mark, once ended
  bool waits_ = false;
};

}  // namespace weft::transport::same_host
