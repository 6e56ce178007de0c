// SPDX-License-Identifier: Apache-2.0
// The RDMAP errors of RFC 5040 section 4.8, figure 9. The enumerators' values are the codes on the wire.
#pragma once

#include <cstdint>
#include <utility>

#include "ddp/errors.hpp"

namespace weft::rdmap {

enum class Layer : std::uint8_t { kRdmap = 0, kDdp = 1, kLlp = 2 };  // RDMAP-4.8-06

// Error types of layer 0.
enum class ErrorType : std::uint8_t { kLocalCatastrophic = 0, kRemoteProtection = 1, kRemoteOperation = 2 };

enum class ProtectionError : std::uint8_t {
  kInvalidStag = 0x00,
  kBaseOrBounds = 0x01,
  kAccessRights = 0x02,
  kNotAssociated = 0x03,
  kOffsetWrap = 0x04,
  kCannotInvalidate = 0x09,
  kUnspecified = 0xff,
};

enum class OperationError : std::uint8_t {
  kInvalidVersion = 0x05,
  kUnexpectedOpcode = 0x06,
  kCatastrophicStream = 0x07,
  kCatastrophicGlobal = 0x08,
  kCannotInvalidate = 0x09,
  kUnspecified = 0xff,
};

// An error of any layer, spelled as the Terminate message spells it. What it means is in rdmap/error_table.hpp.
struct ErrorCode {
  Layer layer{};
  std::uint8_t type{};
  std::uint8_t code{};
  constexpr bool operator==(const ErrorCode&) const = default;
};

// RDMAP takes over type and code of an error that a lower layer found (RDMAP-4.8-07).
[[nodiscard]] constexpr ErrorCode error_code(ddp::TaggedError error) noexcept {
  return {Layer::kDdp, std::to_underlying(ddp::ErrorType::kTagged), std::to_underlying(error)};
}
[[nodiscard]] constexpr ErrorCode error_code(ddp::UntaggedError error) noexcept {
  return {Layer::kDdp, std::to_underlying(ddp::ErrorType::kUntagged), std::to_underlying(error)};
}
[[nodiscard]] constexpr ErrorCode error_code(ProtectionError error) noexcept {
  return {Layer::kRdmap, std::to_underlying(ErrorType::kRemoteProtection), std::to_underlying(error)};
}
[[nodiscard]] constexpr ErrorCode error_code(OperationError error) noexcept {
  return {Layer::kRdmap, std::to_underlying(ErrorType::kRemoteOperation), std::to_underlying(error)};
}

// A fault of our own, for instance a receive that its owner deregistered; any code would do (RDMAP-4.8-23).
inline constexpr ErrorCode kLocalCatastrophic{Layer::kRdmap, 0, 0};

// A ULPDU shorter than its DDP header has no code of its own (DDP-4-01).
inline constexpr ErrorCode kUlpduTooShort = error_code(OperationError::kUnspecified);

[[nodiscard]] constexpr ErrorCode error_code(ddp::HeaderError error) noexcept {
  switch (error) {
    case ddp::HeaderError::kTooShort: return kUlpduTooShort;
    case ddp::HeaderError::kTaggedVersion: return error_code(ddp::TaggedError::kInvalidVersion);
    case ddp::HeaderError::kUntaggedVersion: return error_code(ddp::UntaggedError::kInvalidVersion);
  }
  std::unreachable();
}

// A Read or Atomic Request whose access to our memory was refused. A misaligned atomic is the one case that RFC 7306
// section 8.2 puts elsewhere (RDMAPX-8.2-05).
[[nodiscard]] constexpr ErrorCode request_error(ddp::AccessError error) noexcept {
  switch (error) {
    case ddp::AccessError::kInvalidStag: return error_code(ProtectionError::kInvalidStag);
    case ddp::AccessError::kNotAssociated: return error_code(ProtectionError::kNotAssociated);
    case ddp::AccessError::kAccessRights: return error_code(ProtectionError::kAccessRights);
    case ddp::AccessError::kOffsetWrap: return error_code(ProtectionError::kOffsetWrap);
    case ddp::AccessError::kBaseOrBounds: return error_code(ProtectionError::kBaseOrBounds);
    case ddp::AccessError::kUnaligned: return error_code(OperationError::kCatastrophicStream);
  }
  std::unreachable();
}

// An end wanted memory that it may not have: RDMAP's remote protection errors and DDP's tagged buffer errors.
[[nodiscard]] constexpr bool refuses_memory(const ErrorCode& error) noexcept {
  switch (error.layer) {
    case Layer::kRdmap: return error.type == std::to_underlying(ErrorType::kRemoteProtection);
    case Layer::kDdp: return error.type == std::to_underlying(ddp::ErrorType::kTagged);
    case Layer::kLlp: return false;
  }
  return false;  // from the wire: a layer that no registry has
}

// A Send with Invalidate whose STag cannot be invalidated, whatever the reason (RDMAP-5.3-15). The code exists under
// two types; figure 10 lists the invalidating Sends under the protection errors.
inline constexpr ErrorCode kCannotInvalidate = error_code(ProtectionError::kCannotInvalidate);

}  // namespace weft::rdmap
