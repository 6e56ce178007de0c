// SPDX-License-Identifier: Apache-2.0
// The errors that Terminates name, as the cases write them.
#pragma once

#include "rdmap/errors.hpp"

namespace weft::probe {

// Layer 2, RFC 5044 section 8 and RFC 6581 section 8.
inline constexpr rdmap::ErrorCode kBadCrc{rdmap::Layer::kLlp, 0, 0x02};
inline constexpr rdmap::ErrorCode kMarkerMismatch{rdmap::Layer::kLlp, 0, 0x03};
inline constexpr rdmap::ErrorCode kBadStartupFrame{rdmap::Layer::kLlp, 0, 0x04};
inline constexpr rdmap::ErrorCode kEnhancedFailure{rdmap::Layer::kLlp, 0, 0x05};
inline constexpr rdmap::ErrorCode kInsufficientIrd{rdmap::Layer::kLlp, 0, 0x06};
inline constexpr rdmap::ErrorCode kNoMatchingRtr{rdmap::Layer::kLlp, 0, 0x07};

// Layer 1, RFC 5041 section 7.2: of tagged segments, then of untagged ones.
inline constexpr rdmap::ErrorCode kTaggedStag = rdmap::error_code(ddp::TaggedError::kInvalidStag);
inline constexpr rdmap::ErrorCode kTaggedBounds = rdmap::error_code(ddp::TaggedError::kBaseOrBounds);
inline constexpr rdmap::ErrorCode kTaggedNotAssociated = rdmap::error_code(ddp::TaggedError::kNotAssociated);
inline constexpr rdmap::ErrorCode kTaggedWrap = rdmap::error_code(ddp::TaggedError::kOffsetWrap);
inline constexpr rdmap::ErrorCode kTaggedVersion = rdmap::error_code(ddp::TaggedError::kInvalidVersion);
inline constexpr rdmap::ErrorCode kQueue = rdmap::error_code(ddp::UntaggedError::kInvalidQueue);
inline constexpr rdmap::ErrorCode kNoBuffer = rdmap::error_code(ddp::UntaggedError::kNoBuffer);
inline constexpr rdmap::ErrorCode kMsnRange = rdmap::error_code(ddp::UntaggedError::kMsnRange);
inline constexpr rdmap::ErrorCode kOffset = rdmap::error_code(ddp::UntaggedError::kInvalidOffset);
inline constexpr rdmap::ErrorCode kTooLong = rdmap::error_code(ddp::UntaggedError::kTooLong);
inline constexpr rdmap::ErrorCode kUntaggedVersion = rdmap::error_code(ddp::UntaggedError::kInvalidVersion);

// Layer 0, RFC 5040 section 4.8: remote protection errors, then remote operation errors.
inline constexpr rdmap::ErrorCode kReadStag = rdmap::error_code(rdmap::ProtectionError::kInvalidStag);
inline constexpr rdmap::ErrorCode kReadBounds = rdmap::error_code(rdmap::ProtectionError::kBaseOrBounds);
inline constexpr rdmap::ErrorCode kReadRights = rdmap::error_code(rdmap::ProtectionError::kAccessRights);
inline constexpr rdmap::ErrorCode kReadNotAssociated = rdmap::error_code(rdmap::ProtectionError::kNotAssociated);
inline constexpr rdmap::ErrorCode kReadWrap = rdmap::error_code(rdmap::ProtectionError::kOffsetWrap);
inline constexpr rdmap::ErrorCode kCannotInvalidate = rdmap::error_code(rdmap::ProtectionError::kCannotInvalidate);
inline constexpr rdmap::ErrorCode kProtection = rdmap::error_code(rdmap::ProtectionError::kUnspecified);
inline constexpr rdmap::ErrorCode kVersion = rdmap::error_code(rdmap::OperationError::kInvalidVersion);
inline constexpr rdmap::ErrorCode kOpcode = rdmap::error_code(rdmap::OperationError::kUnexpectedOpcode);
inline constexpr rdmap::ErrorCode kStreamError = rdmap::error_code(rdmap::OperationError::kCatastrophicStream);
inline constexpr rdmap::ErrorCode kCannotInvalidateOperation =
    rdmap::error_code(rdmap::OperationError::kCannotInvalidate);
inline constexpr rdmap::ErrorCode kOperation = rdmap::error_code(rdmap::OperationError::kUnspecified);

}  // namespace weft::probe
