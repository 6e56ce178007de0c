// SPDX-License-Identifier: Apache-2.0
/// @file
/// The DDP errors of RFC 5041 section 7.2. The values of the enumerators are the codes on the wire.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "ddp/placement.hpp"

namespace weft::ddp {

/// Identifies the type of a DDP error.
enum class ErrorType : std::uint8_t { kLocalCatastrophic = 0, kTagged = 1, kUntagged = 2, kReservedForLlp = 3 };

/// Identifies a tagged buffer error.
enum class TaggedError : std::uint8_t {
  kInvalidStag = 0x00,
  kBaseOrBounds = 0x01,
  kNotAssociated = 0x02,
  kOffsetWrap = 0x03,
  kInvalidVersion = 0x04,
};

/// Identifies an untagged buffer error.
enum class UntaggedError : std::uint8_t {
  kInvalidQueue = 0x01,
  kNoBuffer = 0x02,
  kMsnRange = 0x03,
  kInvalidOffset = 0x04,
  kTooLong = 0x05,
  kInvalidVersion = 0x06,
};

/// Describes an error for Terminate messages, logs and the auditor. Static storage.
struct ErrorRow {
  ErrorType type{};
  std::uint8_t code{};
  std::string_view clause{};  ///< id of the violated clause
  std::string_view sentence{};
};

namespace detail {
constexpr ErrorRow row_of(TaggedError error, std::string_view clause, std::string_view sentence) noexcept {
  return {ErrorType::kTagged, std::to_underlying(error), clause, sentence};
}
constexpr ErrorRow row_of(UntaggedError error, std::string_view clause, std::string_view sentence) noexcept {
  return {ErrorType::kUntagged, std::to_underlying(error), clause, sentence};
}

inline constexpr std::array kErrorTable{
    ErrorRow{ErrorType::kLocalCatastrophic, 0, "DDP-7.2-02", "DDP failed locally; the peer did nothing wrong"},
    row_of(TaggedError::kInvalidStag, "DDP-7.1-12", "the STag is invalid, or allows no placement"),
    row_of(TaggedError::kBaseOrBounds, "DDP-7.1-15", "the segment reaches outside the tagged buffer"),
    row_of(TaggedError::kNotAssociated, "DDP-8.2-03", "the STag belongs to another Protection Domain or stream"),
    row_of(TaggedError::kOffsetWrap, "DDP-7.1-16", "TO plus payload length passes 2^64"),
    row_of(TaggedError::kInvalidVersion, "DDP-4.1-15", "a tagged segment's DDP version is not 1"),
    row_of(UntaggedError::kInvalidQueue, "DDP-7.1-01", "the queue number does not exist"),
    row_of(UntaggedError::kNoBuffer, "DDP-7.1-02", "no buffer is available for this MSN"),
    row_of(UntaggedError::kMsnRange, "DDP-7.1-09", "the MSN is not the next one of its queue"),
    row_of(UntaggedError::kInvalidOffset, "DDP-7.1-07", "the MO lies outside the buffer or leaves octets missing"),
    row_of(UntaggedError::kTooLong, "DDP-7.1-08", "the message is longer than the buffer"),
    row_of(UntaggedError::kInvalidVersion, "DDP-4.1-15", "an untagged segment's DDP version is not 1"),
};
}  // namespace detail

/// The table of all DDP errors.
inline constexpr const auto& kErrorTable = detail::kErrorTable;

/// Returns the description of a code, or null for a combination that RFC 5041 does not define.
[[nodiscard]] constexpr const ErrorRow* find_error(ErrorType type, std::uint8_t code) noexcept {
  for (const ErrorRow& row : kErrorTable) {
    if (row.type == type && row.code == code) return &row;
  }
  return nullptr;
}

/// Returns the description of a tagged buffer error.
[[nodiscard]] constexpr const ErrorRow& row(TaggedError error) noexcept {
  return *find_error(ErrorType::kTagged, std::to_underlying(error));
}
/// Returns the description of an untagged buffer error.
[[nodiscard]] constexpr const ErrorRow& row(UntaggedError error) noexcept {
  return *find_error(ErrorType::kUntagged, std::to_underlying(error));
}

/// Returns the error that reports a refused placement.
/// DDP has no code for missing rights: check 2 of section 7.1 ("a buffer that allows Placement") makes it an invalid
/// STag (DDP-7.1-13). Alignment does not concern DDP and is reported as a bounds error.
[[nodiscard]] constexpr TaggedError tagged_error(AccessError error) noexcept {
  switch (error) {
    case AccessError::kInvalidStag: return TaggedError::kInvalidStag;
    case AccessError::kNotAssociated: return TaggedError::kNotAssociated;
    case AccessError::kAccessRights: return TaggedError::kInvalidStag;
    case AccessError::kOffsetWrap: return TaggedError::kOffsetWrap;
    case AccessError::kBaseOrBounds: return TaggedError::kBaseOrBounds;
    case AccessError::kUnaligned: return TaggedError::kBaseOrBounds;
  }
  std::unreachable();
}

}  // namespace weft::ddp
