// SPDX-License-Identifier: Apache-2.0
#include "transport/same_host/ring.hpp"

#include <algorithm>
#include <cstring>

#include "common/sanitizers.hpp"
#if WEFT_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif

namespace weft::transport::same_host {
namespace {

constexpr std::size_t kFrontOctets = 8192;  // what messages that are read one by one go through
constexpr std::size_t kWorthABell = 4;      // a waiting writer is rung when this part of the ring is free
// Octets of a long copy after which the other end may go on with them. Pieces of 1 MiB then take 0.028 s of each
// processor per GB instead of 0.040, and ends that sleep move 17 GB/s instead of 7.
constexpr std::size_t kPart = 64U * 1024U;

// ThreadSanitizer knows a word by its address, and two ends in one process have mapped it at two: what a ring hands
// over would be a race to it. Here all rings are one word.
#if WEFT_THREAD_SANITIZER
char all_rings;
void hand_over() noexcept { __tsan_release(&all_rings); }
void take_over() noexcept { __tsan_acquire(&all_rings); }
#else
void hand_over() noexcept {}
void take_over() noexcept {}
#endif

// Orders the store before it and the load after it, which no weaker order does.
void fence() noexcept { std::atomic_thread_fence(std::memory_order_seq_cst); }

// The load keeps the line shared while the flag is not set, which is the usual case.
bool take(std::atomic<std::uint32_t>& flag) noexcept {
  return flag.load(std::memory_order_relaxed) != 0 && flag.exchange(0, std::memory_order_acq_rel) != 0;
}

}  // namespace

bool RingReader::look() noexcept {
  const std::uint64_t seen = ring_.header->written.load(std::memory_order_acquire);
  take_over();
  const std::uint64_t marks = (seen & RingHeader::kEnd) != 0 ? seen & RingHeader::kReset : 0;
  const std::uint64_t written = seen & ~marks;
  if (!skip_to_front(written) || written - read_ > ring_.size) return false;
  written_ = written;
  marks_ = marks;
  return true;
}

// A front after `written` belongs to a later one. Until this end has read all, a writer that keeps to the rules skips
// nothing.
bool RingReader::skip_to_front(std::uint64_t written) noexcept {
  const std::uint64_t front = ring_.header->front.load(std::memory_order_relaxed);
  if (front <= read_ || front > written) return true;
  if (!empty() || front - read_ >= ring_.size) return false;
  read_ = written_ = front;
  return true;
}

void RingReader::copy_out(MutableBytes into) noexcept {
  for (; into.size() > kPart; into = into.subspan(kPart)) {
    copy_part(into.first(kPart));
    ring_.header->read.store(read_, std::memory_order_release);
  }
  if (!into.empty()) copy_part(into);
}

void RingReader::copy_part(MutableBytes into) noexcept {
  const std::size_t at = static_cast<std::size_t>(read_) & (ring_.size - 1);
  const std::size_t before_wrap = std::min(into.size(), ring_.size - at);
  std::memcpy(into.data(), ring_.data + at, before_wrap);
  if (before_wrap < into.size()) std::memcpy(into.data() + before_wrap, ring_.data, into.size() - before_wrap);
  read_ += into.size();
}

RingResult RingReader::read(MutableBytes first, MutableBytes second) noexcept {
  const std::size_t wanted = first.size() + second.size();
  if (written_ - read_ < wanted && !look()) return {.impossible = true};
  const std::size_t octets = std::min(wanted, static_cast<std::size_t>(written_ - read_));
  if (octets == 0) return {};
  const std::size_t to_first = std::min(octets, first.size());
  copy_out(first.first(to_first));
  copy_out(second.first(octets - to_first));
  return {.octets = octets, .rings = publish()};
}

// Returns whether the writer waits, and this end took its flag.
bool RingReader::publish() noexcept {
  ring_.header->read.store(read_, std::memory_order_release);
  fence();  // with that of RingWriter::make_room: it sees the room, or this sees that it waits
  // The writer may have written since, and its ring be fuller than this thinks: then it is rung too early.
  const std::size_t free = ring_.size - static_cast<std::size_t>(written_ - read_);
  const bool worth_it = free >= ring_.size / kWorthABell;
  return worth_it && take(ring_.header->waits);
}

// An impossible position is the next read's to find.
Bytes RingReader::lend(std::size_t octets) noexcept {
  if (written_ - read_ < octets && !look()) return {};
  const std::size_t at = static_cast<std::size_t>(read_) & (ring_.size - 1);
  if (written_ - read_ < octets || ring_.size - at < octets) return {};
  return {ring_.data + at, octets};
}

bool RingReader::take_back(std::size_t octets) noexcept {
  read_ += octets;
  return publish();
}

void RingReader::announce_sleep() noexcept {
  announced_ = true;
  ring_.header->sleeps.store(1, std::memory_order_relaxed);
  fence();  // with that of RingWriter::publish: it sees the flag, or the look that follows sees the octets
}

// If the writer takes the flag meanwhile, its bell wakes nobody, or once for nothing.
void RingReader::withdraw_sleep() noexcept {
  if (announced_) ring_.header->sleeps.store(0, std::memory_order_relaxed);
  announced_ = false;
}

bool RingWriter::look() noexcept {
  const std::uint64_t read = position_of_reader();
  if (written_ - read > ring_.size) return false;
  read_ = read;
  return true;
}

// A reader that has not looked since is at the front without knowing it.
std::uint64_t RingWriter::position_of_reader() const noexcept {
  const std::uint64_t read = ring_.header->read.load(std::memory_order_acquire);
  return read == skipped_ ? front_ : read;
}

// Once in so many octets, because the reader's position costs a cache miss.
void RingWriter::start_over() noexcept {
  const std::size_t at = position_in_ring();
  if (at < kFrontOctets || !look() || read_ != written_) return;
  skipped_ = written_;
  written_ += ring_.size - at;
  read_ = front_ = written_;
  ring_.header->front.store(front_, std::memory_order_relaxed);
}

std::size_t RingWriter::copy_in(Bytes from) noexcept {
  const std::size_t octets = std::min({from.size(), room(), kPart});
  const std::size_t before_wrap = std::min(octets, ring_.size - position_in_ring());
  if (from.data() != next()) std::memcpy(next(), from.data(), before_wrap);
  if (before_wrap < octets) std::memcpy(ring_.data, from.data() + before_wrap, octets - before_wrap);
  written_ += octets;
  return octets;
}

MutableBytes RingWriter::room_in_place(std::size_t least) noexcept {
  start_over();
  if (room_ahead().size() < least && !look()) return {};
  return room_ahead().size() < least ? MutableBytes() : room_ahead();
}

// Returns whether the reader sleeps, and this end took its flag.
bool RingWriter::publish() noexcept {
  hand_over();
  ring_.header->written.store(written_ | end_, std::memory_order_release);
  fence();  // with that of RingReader::announce_sleep
  return take(ring_.header->sleeps);
}

// The reader may read while this announces that it waits, so what is full is looked at again. A reader that never
// stops keeps this going no longer than there are octets to write.
bool RingWriter::make_room(RingResult& result) noexcept {
  result.impossible = !look();
  if (result.impossible || room() != 0) return !result.impossible;
  result.rings = publish() || result.rings;
  waits_ = true;
  ring_.header->waits.store(1, std::memory_order_relaxed);
  fence();  // with that of RingReader::read
  result.impossible = !look();
  result.full = !result.impossible && room() == 0;
  return !result.impossible && !result.full;
}

RingResult RingWriter::write(std::span<const Bytes> pieces) noexcept {
  RingResult result;
  result.rung = waits_ && ring_.header->waits.load(std::memory_order_relaxed) == 0;
  const bool in_place = !pieces.empty() && pieces.front().data() == next();
  if (!in_place) start_over();
  for (Bytes piece : pieces) {
    while (!piece.empty() && (room() != 0 || make_room(result))) {
      const std::size_t octets = copy_in(piece);
      piece = piece.subspan(octets);
      result.octets += octets;
      if (octets != kPart) continue;
      hand_over();
      ring_.header->written.store(written_ | end_, std::memory_order_release);
    }
    if (!piece.empty()) break;
  }
  // Room that came late ends the wait, and so does an end that writes again without having been rung.
  if (waits_ && !result.full) {
    waits_ = false;
    ring_.header->waits.store(0, std::memory_order_relaxed);
  }
  if (result.octets != 0) result.rings = publish() || result.rings;
  return result;
}

bool RingWriter::end(std::uint64_t mark) noexcept {
  end_ = mark;
  return publish();
}

bool RingWriter::room_was_made() noexcept {
  if (!waits_ || ring_.header->waits.load(std::memory_order_acquire) != 0) return false;
  if (!has_free()) {  // it rang early
    ring_.header->waits.store(1, std::memory_order_relaxed);
    fence();  // with that of RingReader::read
    if (!has_free()) return false;
  }
  waits_ = false;
  return true;
}

std::size_t RingWriter::unread() const noexcept {
  const std::uint64_t read = position_of_reader();
  return written_ - read > ring_.size ? 0 : static_cast<std::size_t>(written_ - read);
}

}  // namespace weft::transport::same_host
