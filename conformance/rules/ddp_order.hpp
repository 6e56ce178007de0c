// SPDX-License-Identifier: Apache-2.0
// Rules on the segments of one direction after each other: MSN, MO, TO, L and what stays the same within a message
// (RFC 5041 sections 4.1 to 5.3).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "conformance/rules/coverage.hpp"
#include "conformance/rules/ulpdu.hpp"

namespace weft::conformance::rules {

// Rules for tagged and untagged messages.
extern const Rule kLastMissing;   // DDP-4.1-05
extern const Rule kEmptySegment;  // DDP-5.2-11

// One untagged queue in one direction.
class QueueOrder {
 public:
  explicit QueueOrder(bool from_the_beginning) noexcept : sequence_known_(from_the_beginning) {}
  // `flawed`: the RDMAP header was told to be wrong already.
  void on(const Ulpdu& ulpdu, bool flawed, Findings& findings);
  // A whole message that was submitted later came while this one is open.
  void overtake(std::uint32_t queue, const Ulpdu& later, Findings& findings);
  // No more of it follows. A message of a fixed size that has all of its octets lacks the L, and so does one that was
  // overtaken.
  void end(Findings& findings);

 private:
  struct Jump {  // a segment that did not begin where the one before ended
    Place place{};
    std::uint64_t stream_offset{};
    std::uint32_t expected{}, found{};
  };
  void judge_start(const Ulpdu& ulpdu, Findings& findings);
  void begin(const Ulpdu& ulpdu);
  void judge_inside(const Ulpdu& ulpdu, bool flawed, Findings& findings);
  void judge_empty(const Ulpdu& ulpdu, Findings& findings);
  void judge_end(const Ulpdu& ulpdu, Findings& findings);
  void await_last(const Ulpdu& ulpdu, Findings& findings);

  bool sequence_known_;  // the next MSN can be told
  bool any_ = false;     // a message has begun
  bool open_ = false;    // its L has not come
  bool whole_ = false;   // the capture shows it from its first segment on
  bool several_ = false;
  bool flawed_ = false;      // the RsvdULP of a segment was told to be wrong
  bool empty_told_ = false;  // of a segment without payload
  std::uint32_t msn_ = 0;
  std::optional<std::uint32_t> meant_{};  // what msn_ should have been: the sender may go on from either
  std::uint64_t next_offset_ = 0;
  std::array<std::byte, 5> rsvd_ulp_{};
  Coverage coverage_{};
  std::optional<Jump> jump_{};
  std::optional<Finding> without_last_{};  // if nothing follows
};

// The tagged messages of one opcode in one direction. Nothing forbids that a Write and a Read Response interleave.
class TaggedOrder {
 public:
  explicit TaggedOrder(bool from_the_beginning) noexcept : whole_next_(from_the_beginning) {}
  void on(const Ulpdu& ulpdu, Findings& findings);
  // The same segment, once what the message says has been judged, which may excuse it.
  void conclude(const Ulpdu& ulpdu, Findings& findings);
  // A segment of another opcode goes on exactly where this message stopped.
  [[nodiscard]] bool continued_by(const Ulpdu& ulpdu) const noexcept;
  void close() noexcept { open_ = false; }
  // As those of QueueOrder.
  void overtake(const Ulpdu& later, Findings& findings);
  void end(Findings& findings);
  // What is wrong with the open message was told: nothing more of it is judged.
  void excuse() noexcept { excused_ = true; }
  // A segment of the message, which may be complete by now, did not begin where the one before ended.
  [[nodiscard]] bool jumped() const noexcept { return jump_.has_value(); }
  // The last segment was the first of a message.
  [[nodiscard]] bool begun() const noexcept { return begun_; }

 private:
  void begin(const Ulpdu& ulpdu);
  void judge_inside(const Ulpdu& ulpdu, Findings& findings);
  void judge_empty(const Ulpdu& ulpdu, Findings& findings);
  void judge_end(const Ulpdu& ulpdu, Findings& findings);

  [[nodiscard]] bool has(ddp::Stag stag) const noexcept { return stag == stag_ || stag == other_stag_; }

  bool whole_next_;  // the capture shows the next message from its first segment on
  bool whole_ = false;
  bool open_ = false;
  bool begun_ = false;
  bool excused_ = false;
  bool empty_told_ = false;  // of a segment without payload
  ddp::Stag stag_{};
  std::optional<ddp::Stag> other_stag_{};  // of a later segment, once told
  std::uint64_t first_offset_ = 0;         // TO of the first segment
  std::uint64_t next_offset_ = 0;
  Coverage coverage_{};  // relative to 2^63 octets before the first TO, so that a jump backwards has a place too
  struct Jump {
    Place place{};
    std::uint64_t stream_offset{}, expected{}, found{};
  };
  std::optional<Jump> jump_{};
  std::optional<Finding> without_last_{};  // if nothing follows
};

// One direction.
class DdpOrder {
 public:
  // Returns false if it is not known to which message the segment belongs.
  bool on(const Ulpdu& ulpdu, bool flawed, Findings& findings);
  // The same segment, after judgment by RDMAP.
  void conclude(const Ulpdu& ulpdu, Findings& findings);
  // The direction ended between two FPDUs.
  void end(Findings& findings);
  void forget();
  // The Read Response under way has all of its octets, and no L, which is told elsewhere.
  void close_response() noexcept { responses_.close(); }
  // The Read Response under way was found to be wrong.
  void excuse_response() noexcept { responses_.excuse(); }
  [[nodiscard]] bool response_jumped() const noexcept { return responses_.jumped(); }
  [[nodiscard]] bool response_begun() const noexcept { return responses_.begun(); }

 private:
  void overtake(const Ulpdu& ulpdu, Findings& findings);

  std::array<QueueOrder, 4> queues_{QueueOrder{true}, QueueOrder{true}, QueueOrder{true}, QueueOrder{true}};
  TaggedOrder writes_{true}, responses_{true};
};

}  // namespace weft::conformance::rules
