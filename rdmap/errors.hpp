// SPDX-License-Identifier: Apache-2.0
/// @file
/// The RDMAP errors of RFC 5040 section 4.8, figure 9. The values of the enumerators are the codes on the wire.
#pragma once

#include <cstdint>
#include <utility>

#include "ddp/errors.hpp"

namespace weft::rdmap {

/// Identifies the layer of an error (RDMAP-4.8-06).
enum class Layer : std::uint8_t { kRdmap = 0, kDdp = 1, kLlp = 2 };

/// Identifies the type of an RDMAP error (layer 0).
enum class ErrorType : std::uint8_t { kLocalCatastrophic = 0, kRemoteProtection = 1, kRemoteOperation = 2 };

/// Identifies a remote protection error.
enum class ProtectionError : std::uint8_t {
  kInvalidStag = 0x00,
  kBaseOrBounds = 0x01,
  kAccessRights = 0x02,
  kNotAssociated = 0x03,
  kOffsetWrap = 0x04,
  kCannotInvalidate = 0x09,
  kUnspecified = 0xff,
};

/// Identifies a remote operation error.
enum class OperationError : std::uint8_t {
  kInvalidVersion = 0x05,
  kUnexpectedOpcode = 0x06,
  kCatastrophicStream = 0x07,
  kCatastrophicGlobal = 0x08,
  kCannotInvalidate = 0x09,
  kUnspecified = 0xff,
};

/// Holds an error of any layer in the encoding of the Terminate message. rdmap/error_table.hpp describes the codes.
struct ErrorCode {
  Layer layer{};
  std::uint8_t type{};
  std::uint8_t code{};
  constexpr bool operator==(const ErrorCode&) const = default;
};

/// Returns the code of an error. RDMAP adopts type and code of an error that a lower layer detected (RDMAP-4.8-07).
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

/// Code of a local fault, such as a receive that its owner deregistered. Any code would be permitted (RDMAP-4.8-23).
inline constexpr ErrorCode kLocalCatastrophic{Layer::kRdmap, 0, 0};

/// Code of a ULPDU shorter than its DDP header, for which the RFC has no code (DDP-4-01).
inline constexpr ErrorCode kUlpduTooShort = error_code(OperationError::kUnspecified);

[[nodiscard]] constexpr ErrorCode error_code(ddp::HeaderError error) noexcept {
  switch (error) {
    case ddp::HeaderError::kTooShort: return kUlpduTooShort;
    case ddp::HeaderError::kTaggedVersion: return error_code(ddp::TaggedError::kInvalidVersion);
    case ddp::HeaderError::kUntaggedVersion: return error_code(ddp::UntaggedError::kInvalidVersion);
  }
  std::unreachable();
}

/// Returns the code for a Read or Atomic Request whose access to local memory was refused. RFC 7306 section 8.2 makes a
/// misaligned atomic the one exception (RDMAPX-8.2-05).
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

/// Returns whether the error means that an end accessed memory without permission: the remote protection errors of
/// RDMAP and the tagged buffer errors of DDP.
[[nodiscard]] constexpr bool refuses_memory(const ErrorCode& error) noexcept {
  switch (error.layer) {
    case Layer::kRdmap: return error.type == std::to_underlying(ErrorType::kRemoteProtection);
    case Layer::kDdp: return error.type == std::to_underlying(ddp::ErrorType::kTagged);
    case Layer::kLlp: return false;
  }
  return false;  // from the wire: a layer that no registry has
}

/// Code of a Send with Invalidate whose STag cannot be invalidated, whatever the reason (RDMAP-5.3-15). The code exists
/// under two types; figure 10 lists the invalidating Sends under the protection errors.
inline constexpr ErrorCode kCannotInvalidate = error_code(ProtectionError::kCannotInvalidate);

}  // namespace weft::rdmap
