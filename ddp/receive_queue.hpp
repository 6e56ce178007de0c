// SPDX-License-Identifier: Apache-2.0
// Queue 0: messages go to buffers that the ULP posted, one buffer each, in order (RFC 5041 section 5.1.2).
#pragma once

#include <array>
#include <cstdint>
#include <expected>
#include <optional>
#include <variant>

#include "ddp/errors.hpp"
#include "ddp/message_window.hpp"
#include "ddp/placement.hpp"

namespace weft::ddp {

// The segment was placed and its message goes on.
struct SegmentPlaced {};

// No receive is posted for a new message. Nothing has changed: offer the same segment again when one is posted, or end
// the stream with UntaggedError::kNoBuffer. RFC 5041 section 7.1 permits both (DDP-7.1-04, DDP-7.1-06).
struct NoReceivePosted {};

// A message complete and in order: deliver it (DDP-5.4-02).
struct ReceiveFilled {
  ReceiveBuffer buffer{};
  std::uint32_t length{};   // of the message (DDP-5.4-04)
  std::uint8_t rsvd_ulp{};  // of its last segment (DDP-4.3-08, DDP-5.4-06)
  std::uint32_t rsvd_ulp_word{};
  Msn msn{};
  Bytes aside{};  // the message's octets when they were kept aside; valid until the next segment
};

using ReceiveOutcome = std::variant<SegmentPlaced, NoReceivePosted, ReceiveFilled>;
using ReceiveFault = std::variant<UntaggedError, LocalFault>;  // the peer's fault, or our own side's

class ReceiveQueue {
 public:
  // Octets of a message that is not meant for the posted buffer: 8 of Immediate Data (RFC 7306 section 6.2).
  static constexpr std::size_t kAsideCapacity = 8;
  enum class Where : std::uint8_t { kBuffer, kAside };

  explicit ReceiveQueue(Msn first = kFirstMsn) noexcept : window_(first) {}

  // One segment of queue 0. With kAside the message uses up a receive like any other, but its octets are kept here, so
  // that a receive of any size, zero included, can take Immediate Data. The first segment of a message decides for all
  // of it, so that its octets are together (DDP-5.2-05).
  std::expected<ReceiveOutcome, ReceiveFault> place(const UntaggedHeader& header, Bytes payload, Placement& placement,
                                                    Where where = Where::kBuffer);

  // A message of one segment that uses up no receive, because its ULP has a place of its own for it. Only between
  // messages.
  std::expected<void, UntaggedError> pass(const UntaggedHeader& header, std::size_t length);

  // The buffer to which a segment's payload of `length` octets will go, known before it is there and before it was
  // verified: place() has the last word. Empty unless the segment only goes on with a message that is sound so far, or
  // begins one, which takes a receive.
  std::optional<ReceiveBuffer> landing(const UntaggedHeader& header, std::size_t length, Placement& placement);

  // Where the message that is under way is kept; empty between messages.
  [[nodiscard]] std::optional<Where> under_way() const noexcept;

  // The receive of the message that is under way; when the stream ends early, its owner gets it back through this.
  std::optional<ReceiveBuffer> take_unfinished() noexcept;

 private:
  inline std::expected<void, ReceiveFault> store(const UntaggedHeader& header, Bytes payload, Placement& placement);
  inline std::expected<ReceiveOutcome, ReceiveFault> advance(const UntaggedHeader& header, std::size_t length);

  MessageWindow window_;
  std::optional<ReceiveBuffer> open_{};
  Where where_ = Where::kBuffer;  // of the open message
  std::array<std::byte, kAsideCapacity> aside_{};
};

}  // namespace weft::ddp
