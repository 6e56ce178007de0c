// SPDX-License-Identifier: Apache-2.0
// Atomic Request and Atomic Response headers, RFC 7306 sections 5.2.1 and 5.2.2.
#pragma once

#include <cstdint>
#include <expected>
#include <limits>
#include <optional>

#include "rdmap/errors.hpp"
#include "rdmap/memory.hpp"

namespace weft::rdmap {

// 52 octets (RDMAPX-5.2.1-01):
//             | reserved 28 bits, AOpCode 4 | Request Identifier 4 | Remote STag 4 | Remote TO 8 |
//             | Add/Swap Data 8 | Add/Swap Mask 8 | Compare Data 8 | Compare Mask 8 |
struct AtomicRequestLayout {
  using AOpCode = Be<0, std::uint32_t>;
  using RequestId = Be<4, std::uint32_t>;
  using RemoteStag = Be<8, std::uint32_t>;
  using RemoteTo = Be<12, std::uint64_t>;
  using AddSwapData = Be<20, std::uint64_t>;
  using AddSwapMask = Be<28, std::uint64_t>;
  using CompareData = Be<36, std::uint64_t>;
  using CompareMask = Be<44, std::uint64_t>;
  static constexpr std::uint32_t kAOpCodeMask = 0xF;
  static constexpr std::size_t kSize = CompareMask::end;
};
static_assert(AtomicRequestLayout::kSize == 52);

// 12 octets:  | Original Request Identifier 4 | Original Remote Data Value 8 |
struct AtomicResponseLayout {
  using RequestId = Be<0, std::uint32_t>;
  using Original = Be<4, std::uint64_t>;
  static constexpr std::size_t kSize = Original::end;
};
static_assert(AtomicResponseLayout::kSize == 12);

struct AtomicRequest {
  AtomicOperation operation{};
  std::uint32_t request_id{};
  ddp::Stag stag{};
  ddp::TaggedOffset offset{};
};

struct AtomicResponse {
  std::uint32_t request_id{};
  std::uint64_t original{};  // the value before the operation, also when a comparison failed
  constexpr bool operator==(const AtomicResponse&) const = default;
};

// 0 and 2 (RDMAPX-5.2.1-04); 1 is reserved and the rest unassigned (RDMAPX-10.1-01).
[[nodiscard]] constexpr std::optional<AtomicOperation::Kind> atomic_kind(std::uint32_t aopcode) noexcept {
  switch (aopcode) {
    case 0: return AtomicOperation::Kind::kFetchAdd;
    case 2: return AtomicOperation::Kind::kCmpSwap;
    default: return std::nullopt;
  }
}

// A FetchAdd's compare fields are ignored on receive and sent as zero and all ones (RDMAPX-5.2.1-12, RDMAPX-5.2.1-13).
[[nodiscard]] constexpr AtomicOperation without_unused_fields(AtomicOperation operation) noexcept {
  if (operation.kind == AtomicOperation::Kind::kFetchAdd) {
    operation.compare = 0;
    operation.compare_mask = std::numeric_limits<std::uint64_t>::max();
  }
  return operation;
}

// An unknown AOpCode is an unexpected opcode; RFC 7306 asks for an error but names none (RDMAPX-5.2.1-18). The reserved
// bits are not looked at (RDMAPX-5.2.1-02).
[[nodiscard]] constexpr std::expected<AtomicRequest, OperationError> parse_atomic_request(Bytes payload) noexcept {
  using L = AtomicRequestLayout;
  if (payload.size() != L::kSize) return std::unexpected(OperationError::kUnspecified);
  const auto kind = atomic_kind(L::AOpCode::get(payload) & L::kAOpCodeMask);
  if (!kind) return std::unexpected(OperationError::kUnexpectedOpcode);
  const AtomicOperation operation{*kind, L::AddSwapData::get(payload), L::AddSwapMask::get(payload),
                                  L::CompareData::get(payload), L::CompareMask::get(payload)};
  return AtomicRequest{without_unused_fields(operation),
                       L::RequestId::get(payload),
                       {L::RemoteStag::get(payload)},
                       {L::RemoteTo::get(payload)}};
}

constexpr std::size_t serialize(const AtomicRequest& request, MutableBytes out) noexcept {
  using L = AtomicRequestLayout;
  const AtomicOperation operation = without_unused_fields(request.operation);
  L::AOpCode::put(out, std::to_underlying(operation.kind));
  L::RequestId::put(out, request.request_id);
  L::RemoteStag::put(out, request.stag.value);
  L::RemoteTo::put(out, request.offset.value);
  L::AddSwapData::put(out, operation.add_or_swap);
  L::AddSwapMask::put(out, operation.add_or_swap_mask);
  L::CompareData::put(out, operation.compare);
  L::CompareMask::put(out, operation.compare_mask);
  return L::kSize;
}

[[nodiscard]] constexpr std::expected<AtomicResponse, OperationError> parse_atomic_response(Bytes payload) noexcept {
  using L = AtomicResponseLayout;
  if (payload.size() != L::kSize) return std::unexpected(OperationError::kUnspecified);
  return AtomicResponse{L::RequestId::get(payload), L::Original::get(payload)};
}

constexpr std::size_t serialize(const AtomicResponse& response, MutableBytes out) noexcept {
  using L = AtomicResponseLayout;
  L::RequestId::put(out, response.request_id);
  L::Original::put(out, response.original);
  return L::kSize;
}

}  // namespace weft::rdmap
