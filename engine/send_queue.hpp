// SPDX-License-Identifier: Apache-2.0
// The work requests of one connection, from post() until the user has polled their completion. They start, and they
// complete, in the order of posting (RDMAP-5.5-17, RDMAP-5.5-19); in between each goes at its own pace.
//
//   waiting -> started -> cut -> done -> (completion polled)
//                          |
//                          +-> awaiting its response -> done       RDMA Reads and atomics
#pragma once

#include <array>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "common/bounded_ring.hpp"
#include "engine/event.hpp"
#include "engine/work.hpp"
#include "rdmap/read_request.hpp"

namespace weft::engine {

// Room for a gather list, or for inline octets in its place.
template <std::size_t Segments>
struct SourceRoom {
  using List = std::array<rdmap::LocalSegment, Segments>;
  using Octets = std::array<std::byte, Segments * sizeof(rdmap::LocalSegment)>;
  static constexpr std::size_t kOctets = Octets{}.size();
  std::variant<List, Octets> held{};
};
static_assert(SourceRoom<kMaxSegments>::kOctets >= kMaxInline);

// A work request with its gather list or inline octets copied, since the caller's may go when post() returns. Most are
// short and lie in the entry; longer ones lie apart, for there may be thousands of connections with some entries each.
struct SendEntry {
  static constexpr std::size_t kNear = 4;  // segments
  using Apart = std::unique_ptr<SourceRoom<kMaxSegments>>;

  enum class Stage : std::uint8_t { kWaiting, kStarted, kCut, kAwaiting, kDone };
  struct Order {  // a WorkRequest but for its octets, of which local() and inline_octets() tell
    std::uint64_t cookie{};
    Operation operation{};
    bool fence{};
    bool solicited{};
    ddp::Stag remote_stag{};
    ddp::Stag sink_stag{};
    std::optional<ddp::Stag> invalidate{};
    ddp::TaggedOffset remote_offset{};
    ddp::TaggedOffset sink_offset{};
    std::array<std::byte, kImmediateSize> immediate{};
    rdmap::AtomicOperation atomic{};
  };

  Stage stage{};
  WorkStatus status{};
  bool internal = false;       // the ready-to-receive message: the user does not hear of it (MPA2-5-05)
  bool inlined = false;        // octets, and no segments
  std::uint32_t segments = 0;  // used elements of a list
  Order request{};
  SourceRoom<kNear> near{};
  Apart apart{};                  // null unless they are longer
  std::uint64_t length = 0;       // octets of the message
  std::uint64_t end = 0;          // kCut: position in our outbound octet stream after its last octet
  std::optional<ddp::Msn> msn{};  // of its untagged message; a Terminate names it

  [[nodiscard]] rdmap::LocalSegments local() const noexcept;
  [[nodiscard]] bool is_inline() const noexcept { return inlined; }
  [[nodiscard]] Bytes inline_octets() const noexcept;

  [[nodiscard]] static constexpr bool is_long(const WorkRequest& request) noexcept {
    return request.local.size() > kNear || request.inline_data.size() > SourceRoom<kNear>::kOctets;
  }
  // A new work request in the place of an old one. Of its room only what is used is written. `apart` is there for one
  // that is_long().
  void begin(const WorkRequest& wanted, bool of_engine) noexcept;

 private:
  void keep(rdmap::LocalSegments list) noexcept;
  void keep(Bytes octets) noexcept;
};

[[nodiscard]] constexpr bool awaits_response(Operation operation) noexcept {
  return is_among(operations_that([](const OperationRow& kind) { return kind.awaits_response; }), operation);
}

// Returns why this work request can never be carried out, whatever the state of the stream.
[[nodiscard]] std::expected<void, PostError> check(const WorkRequest& request) noexcept;

class SendQueue {
 public:
  explicit SendQueue(std::uint32_t depth) : entries_(depth + 1), depth_(depth) {}  // one more: the RTR

  [[nodiscard]] bool has_room() const noexcept { return users_ + unpolled_ < depth_; }
  void push(const WorkRequest& request, bool internal = false);

  // --- Starting
  [[nodiscard]] bool nothing_to_start() const noexcept { return started_ == entries_.size(); }
  [[nodiscard]] SendEntry& next() noexcept { return entries_[started_]; }  // unless nothing_to_start()
  std::uint64_t start() noexcept {                                         // next() is under way now; its ticket
    next().stage = SendEntry::Stage::kStarted;
    return retired_ + started_++;
  }
  [[nodiscard]] SendEntry& at(std::uint64_t ticket) noexcept {
    return entries_[static_cast<std::size_t>(ticket - retired_)];
  }

  // --- Ending
  // The transport took our octets up to `position`: Sends and Writes before it are complete (RDMAP-5.5-18).
  void transferred(std::uint64_t position) noexcept;
  void finish(std::uint64_t ticket, WorkStatus status) noexcept;
  // The unfinished entry that a Terminate quotes, by its untagged header or by a tagged one.
  [[nodiscard]] SendEntry* find_untagged(ddp::Msn msn, bool request_queue) noexcept;
  [[nodiscard]] SendEntry* find_write(ddp::Stag stag, ddp::TaggedOffset offset) noexcept;
  // The same by the Read Request that it quotes, or what is left of one.
  [[nodiscard]] SendEntry* find_read(const rdmap::ReadRequest& quoted) noexcept;
  void flush() noexcept;  // everything that is not done ends as kFlushed

  [[nodiscard]] bool first_is_done() const noexcept {
    return !entries_.empty() && entries_.front().stage == SendEntry::Stage::kDone;
  }
  // The completion of the oldest entry, once it is done: the entry is gone, its room comes back with polled().
  // An internal entry goes without a completion.
  [[nodiscard]] std::optional<SendCompleted> retire();
  void polled() noexcept { --unpolled_; }

  [[nodiscard]] bool empty() const noexcept { return entries_.empty(); }
  [[nodiscard]] bool idle() const noexcept { return started_ == 0; }  // nothing started and unfinished

 private:
  [[nodiscard]] SendEntry::Apart take_room();

  BoundedRing<SendEntry> entries_;
  std::vector<SendEntry::Apart> rooms_{};  // that entries have left: in steady state nothing is allocated
  std::size_t started_ = 0;                // entries_[0, started_) have left kWaiting
  std::size_t settled_ = 0;                // entries_[0, settled_) need no look by transferred()
  std::uint64_t retired_ = 0;              // ticket of the front entry
  std::uint32_t depth_;
  std::uint32_t users_ = 0;     // entries that are not internal
  std::uint32_t unpolled_ = 0;  // completions that the user has not taken yet
};

// One completion for each operation of the user (RDMAP-3.2-02).
inline std::optional<SendCompleted> SendQueue::retire() {
  std::optional<SendCompleted> completed;
  while (!completed && first_is_done()) {
    SendEntry& entry = entries_.front();
    if (entry.apart) rooms_.push_back(std::move(entry.apart));
    if (!entry.internal) {
      const std::uint64_t moved = entry.status == WorkStatus::kSuccess ? entry.length : 0;
      completed.emplace(entry.request.cookie, entry.request.operation, entry.status, moved);
      --users_;
      ++unpolled_;
    }
    entries_.advance();  // it owns nothing any more
    ++retired_;
    if (started_ > 0) --started_;
    if (settled_ > 0) --settled_;
  }
  return completed;
}

}  // namespace weft::engine
