// SPDX-License-Identifier: Apache-2.0
#include "explain/model/accesses.hpp"

#include <algorithm>

#include "rdmap/atomic_messages.hpp"
#include "rdmap/read_request.hpp"

namespace weft::explain {

std::optional<Access> access_of(const Row& row, const MessageView& message) {
  if (const auto* const header = row.segment->tagged())
    return Access{header->stag.value, header->offset.value, row.segment->payload};
  if (const auto request = rdmap::parse_read_request(message.front))
    return Access{request->source_stag.value, request->source_offset.value,
                  std::min<std::uint64_t>(request->size, Access::kMostClaimed)};
  if (const auto request = rdmap::parse_atomic_request(message.front))
    return Access{request->stag.value, request->offset.value, Access::kAtomic};
  return std::nullopt;
}

// Bounds: it is there, and the last octet that was asked for is not in it.
std::optional<Access> left_of(const Access& wanted, const rdmap::ErrorCode& error) {
  const auto is = [&](auto... errors) { return ((error == rdmap::error_code(errors)) || ...); };
  if (is(rdmap::ProtectionError::kBaseOrBounds, ddp::TaggedError::kBaseOrBounds))
    return Access{wanted.stag, wanted.begin, wanted.octets == 0 ? 0 : wanted.octets - 1};
  if (is(rdmap::ProtectionError::kOffsetWrap, ddp::TaggedError::kOffsetWrap))
    return Access{wanted.stag, wanted.begin, 1};
  if (is(rdmap::ProtectionError::kAccessRights, rdmap::OperationError::kCatastrophicStream)) return wanted;
  return std::nullopt;
}

}  // namespace weft::explain
