// SPDX-License-Identifier: Apache-2.0
/// @file
/// MPA errors: the wire codes of RFC 5044 section 8 and RFC 6581 section 8, and the faults that cause them. One table
/// serves Terminate messages, logs, the auditor and the documentation.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "common/table.hpp"

namespace weft::mpa {

inline constexpr std::uint8_t kErrorLayer = 2;  ///< layer of MPA errors: LLP (MPA2-8-02)
inline constexpr std::uint8_t kErrorType = 0;   ///< type of MPA errors: MPA (MPA2-8-02)

/// Identifies an error on the wire. A Terminate names layer 2, type 0 and one of these codes (MPA-8-05, MPA2-8-03).
enum class ErrorCode : std::uint8_t {
  kConnectionLost = 0x01,
  kCrcMismatch = 0x02,
  kMarkerMismatch = 0x03,
  kInvalidStartupFrame = 0x04,
  kLocalFailure = 0x05,
  kInsufficientIrd = 0x06,
  kNoMatchingRtr = 0x07,
};

/// Identifies the cause of an error. Several causes share one wire code.
enum class Fault : std::uint8_t {
  kConnectionLost,
  kClosedInsideFpdu,
  kClosedInStartup,
  kStartupTimeout,
  kCrcMismatch,
  kMarkerMismatch,
  kBadKey,
  kRoleClash,
  kUnsupportedRevision,
  kPrivateDataTooLong,
  kStartupCutShort,
  kSurplusAfterRequest,
  kSurplusAfterReply,
  kEnhancedDataMissing,
  kReplyNotEnhanced,
  kReplyEnhanced,
  kModelNotMirrored,
  kLocalFailure,
  kInsufficientIrd,
  kNoMatchingRtr,
};

/// Describes one cause.
struct FaultEntry {
  Fault fault{};
  ErrorCode code{};
  std::string_view clause{};            ///< id of the violated clause
  std::string_view sentence{};          ///< description for people
  std::optional<std::uint8_t> octet{};  ///< octet of the startup frame at which the wrong field begins
};

/// The table of all causes, in the order of the enumerators.
inline constexpr std::array kFaults{
    FaultEntry{Fault::kConnectionLost, ErrorCode::kConnectionLost, "MPA-8-01",
               "the TCP connection was reset, lost or timed out"},
    FaultEntry{Fault::kClosedInsideFpdu, ErrorCode::kConnectionLost, "MPA-8-01",
               "the peer closed the TCP connection inside an FPDU"},
    FaultEntry{Fault::kClosedInStartup, ErrorCode::kConnectionLost, "MPA-8-01",
               "the peer closed the TCP connection before sending its MPA startup frame"},
    FaultEntry{Fault::kStartupTimeout, ErrorCode::kConnectionLost, "MPA-7.1.2-31",
               "the peer did not complete the MPA startup in time"},
    FaultEntry{Fault::kCrcMismatch, ErrorCode::kCrcMismatch, "MPA-8-02",
               "the CRC of an FPDU does not match its contents"},
    FaultEntry{Fault::kMarkerMismatch, ErrorCode::kMarkerMismatch, "MPA-8-03",
               "a Marker and the ULPDU_Length fields disagree on where an FPDU begins"},
    FaultEntry{Fault::kBadKey, ErrorCode::kInvalidStartupFrame, "MPA-7.1.2-18",
               "the startup frame does not begin with the MPA key", 0},
    FaultEntry{Fault::kRoleClash, ErrorCode::kInvalidStartupFrame, "MPA-7.1.2-25",
               "both ends sent an MPA Request: the peer is an initiator too", 0},
    FaultEntry{Fault::kUnsupportedRevision, ErrorCode::kInvalidStartupFrame, "MPA-7.1.1-21",
               "the startup frame has an MPA revision that this end does not accept", 17},
    FaultEntry{Fault::kPrivateDataTooLong, ErrorCode::kInvalidStartupFrame, "MPA-7.1.1-26",
               "PD_Length is greater than 512", 18},
    FaultEntry{Fault::kStartupCutShort, ErrorCode::kInvalidStartupFrame, "MPA-7.1.1-25",
               "the stream ended inside the startup frame"},
    FaultEntry{Fault::kSurplusAfterRequest, ErrorCode::kInvalidStartupFrame, "MPA-7.1.1-25",
               "octets followed the MPA Request before the Reply was sent"},
    FaultEntry{Fault::kSurplusAfterReply, ErrorCode::kInvalidStartupFrame, "MPA-7.1.1-25",
               "octets followed the MPA Reply before the initiator's first FPDU"},
    FaultEntry{Fault::kEnhancedDataMissing, ErrorCode::kInvalidStartupFrame, "MPA2-6-11",
               "the S bit is set but there is no room for the enhanced data", 18},
    FaultEntry{Fault::kReplyNotEnhanced, ErrorCode::kInvalidStartupFrame, "MPA2-10-02",
               "an enhanced Request was accepted by a Reply that is not enhanced", 16},
    FaultEntry{Fault::kReplyEnhanced, ErrorCode::kInvalidStartupFrame, "MPA2-10-04",
               "a Request that is not enhanced was answered by an enhanced Reply", 16},
    FaultEntry{Fault::kModelNotMirrored, ErrorCode::kInvalidStartupFrame, "MPA2-9.2-06",
               "the A bit of the Reply differs from that of the Request", 20},
    FaultEntry{Fault::kLocalFailure, ErrorCode::kLocalFailure, "MPA2-9.3-04",
               "a local failure without a code of its own ended the connection establishment"},
    FaultEntry{Fault::kInsufficientIrd, ErrorCode::kInsufficientIrd, "MPA2-9.1-15",
               "the responder's ORD is greater than the IRD that this end can provide", 22},
    FaultEntry{Fault::kNoMatchingRtr, ErrorCode::kNoMatchingRtr, "MPA2-9.2-13",
               "the two ends have no ready-to-receive indication in common", 20},
};

static_assert(kFaults.size() == std::to_underlying(Fault::kNoMatchingRtr) + 1 && in_order(kFaults, &FaultEntry::fault));

/// Returns the description of a cause.
[[nodiscard]] constexpr const FaultEntry& explain(Fault fault) noexcept { return kFaults[std::to_underlying(fault)]; }
/// Returns the wire code of a cause.
[[nodiscard]] constexpr ErrorCode wire_code(Fault fault) noexcept { return explain(fault).code; }

}  // namespace weft::mpa
