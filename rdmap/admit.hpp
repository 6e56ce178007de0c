// SPDX-License-Identifier: Apache-2.0
// The checks that RDMAP makes on every segment before a single octet of it is placed (RFC 5040 section 7.2). Pure.
#pragma once

#include <expected>
#include <variant>

#include "rdmap/control.hpp"
#include "rdmap/errors.hpp"

namespace weft::rdmap {

namespace detail {

// A queue that does not exist is DDP's error and comes first (DDP-7.1-01); an opcode on a queue not its own is ours.
constexpr std::expected<void, ErrorCode> check_queue(const ddp::Header& header) noexcept {
  const auto* untagged = std::get_if<ddp::UntaggedHeader>(&header);
  if (untagged == nullptr) return {};
  if (const auto queue = ddp::queue_number(untagged->queue); !queue) return std::unexpected(error_code(queue.error()));
  return {};
}

// Figure 4: T and QN follow from the opcode. The RFC names no code for a mismatch (RDMAP-4.1-16).
constexpr bool fits(const OpcodeRow& kind, const ddp::Header& header) noexcept {
  const auto* untagged = std::get_if<ddp::UntaggedHeader>(&header);
  if (untagged == nullptr) return kind.tagged();
  return kind.queue && std::to_underlying(*kind.queue) == untagged->queue;
}

}  // namespace detail

[[nodiscard]] constexpr std::uint8_t control_of(const ddp::Header& header) noexcept {
  return std::visit([](const auto& h) { return h.rsvd_ulp; }, header);
}

// The message type of a segment, or what the Terminate has to say. In this order: queue exists (1/2/01), version
// (0/2/05), opcode known (0/2/06), opcode fits T and QN (0/2/06). The Invalidate STag word is not looked at
// (RDMAP-4.1-24, RDMAPX-4.1-04).
[[nodiscard]] constexpr std::expected<Opcode, ErrorCode> admit(const ddp::Header& header) noexcept {
  if (const auto queue = detail::check_queue(header); !queue) return std::unexpected(queue.error());
  const std::uint8_t control = control_of(header);
  if (version_bits(control) != Control::kVersion) {  // RDMAP-4.1-19, RDMAP-7.2-03, RDMAP-7.2-06, RDMAPX-8.2-03
    return std::unexpected(error_code(OperationError::kInvalidVersion));
  }
  const OpcodeRow* kind = find_opcode(opcode_bits(control));
  if (kind == nullptr || !detail::fits(*kind, header)) {  // RDMAP-7.2-02, RDMAP-7.2-05, RDMAPX-8.2-02
    return std::unexpected(error_code(OperationError::kUnexpectedOpcode));
  }
  return kind->opcode;
}

}  // namespace weft::rdmap
