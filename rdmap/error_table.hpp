// SPDX-License-Identifier: Apache-2.0
// Every error that a Terminate message can name, of all three layers: the registries of RFC 6580 section 3 with those
// that RFC 6581 added. Feeds logs, the auditor and the docs.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "rdmap/errors.hpp"

namespace weft::rdmap {

struct ErrorRow {
  ErrorCode error{};
  bool any_code{};            // the registry says ALL: the code octet means nothing (RDMAP-IANA-3.1-01)
  std::string_view clause{};  // the rule that was broken, or the one that defines the code
  std::string_view sentence{};
};

namespace detail {

inline constexpr std::array kRdmapErrors{
    ErrorRow{kLocalCatastrophic, true, "RDMAP-4.8-23", "RDMAP failed locally; the peer did nothing wrong"},
    ErrorRow{error_code(ProtectionError::kInvalidStag), false, "RDMAP-7.2-09",
             "the STag of a Read or Atomic Request is invalid"},
    ErrorRow{error_code(ProtectionError::kBaseOrBounds), false, "RDMAP-7.2-13",
             "a Read or Atomic Request reaches outside the tagged buffer"},
    ErrorRow{error_code(ProtectionError::kAccessRights), false, "RDMAP-7.2-11",
             "the STag does not grant what the Read or Atomic Request asks for"},
    ErrorRow{error_code(ProtectionError::kNotAssociated), false, "RDMAP-7.2-10",
             "the STag of a request belongs to another Protection Domain or stream"},
    ErrorRow{error_code(ProtectionError::kOffsetWrap), false, "RDMAP-7.2-14",
             "TO plus length of a request passes 2^64"},
    ErrorRow{error_code(ProtectionError::kCannotInvalidate), false, "RDMAP-5.3-15",
             "the STag of a Send with Invalidate cannot be invalidated"},
    ErrorRow{error_code(ProtectionError::kUnspecified), false, "RDMAP-4.8-30",
             "a protection error without a code of its own"},
    ErrorRow{error_code(OperationError::kInvalidVersion), false, "RDMAP-7.2-03", "the RDMAP version is not 1"},
    ErrorRow{error_code(OperationError::kUnexpectedOpcode), false, "RDMAP-7.2-02",
             "the opcode is unknown, or does not fit its queue, its message or what was asked for"},
    ErrorRow{error_code(OperationError::kCatastrophicStream), false, "RDMAP-4.8-33",
             "a catastrophic error of this stream, for instance an atomic on a misaligned address"},
    ErrorRow{error_code(OperationError::kCatastrophicGlobal), false, "RDMAP-4.8-34",
             "a catastrophic error of the whole RNIC"},
    ErrorRow{error_code(OperationError::kCannotInvalidate), false, "RDMAP-4.8-35",
             "the STag of a Send with Invalidate cannot be invalidated"},
    ErrorRow{error_code(OperationError::kUnspecified), false, "RDMAP-4.8-36",
             "a malformed message without a code of its own"},
};

// The registry of RFC 6580 section 3.3. mpa/errors.hpp has the same codes with what leads to them; engine/fault.cpp,
// which sees both, holds them against each other.
constexpr ErrorRow llp_row(std::uint8_t code, std::string_view clause, std::string_view sentence) noexcept {
  return {{Layer::kLlp, 0, code}, false, clause, sentence};
}
inline constexpr std::array kLlpErrors{
    llp_row(0x01, "RDMAP-IANA-3.3-01", "the TCP connection was closed, terminated or lost"),
    llp_row(0x02, "RDMAP-IANA-3.3-02", "an FPDU's CRC is wrong"),
    llp_row(0x03, "RDMAP-IANA-3.3-03", "an MPA Marker and the ULPDU Length disagree"),
    llp_row(0x04, "RDMAP-IANA-3.3-04", "the MPA Request or Reply Frame is invalid"),
    llp_row(0x05, "RDMAP-IANA-3.3-05", "the enhanced connection set-up failed locally"),
    llp_row(0x06, "RDMAP-IANA-3.3-06", "the IRD is insufficient"),
    llp_row(0x07, "RDMAP-IANA-3.3-07", "no RTR option is acceptable to both ends"),
};

constexpr auto all_errors() noexcept {
  std::array<ErrorRow, kRdmapErrors.size() + ddp::kErrorTable.size() + 1 + kLlpErrors.size()> rows{};
  auto out = std::ranges::copy(kRdmapErrors, rows.begin()).out;
  for (const ddp::ErrorRow& row : ddp::kErrorTable) {
    *out++ = {{Layer::kDdp, std::to_underlying(row.type), row.code}, false, row.clause, row.sentence};
  }
  *out++ = {{Layer::kDdp, std::to_underlying(ddp::ErrorType::kReservedForLlp), 0},
            true,
            "DDP-7.2-14",
            "a DDP error type that is reserved for the LLP"};
  std::ranges::copy(kLlpErrors, out);
  return rows;
}

}  // namespace detail

inline constexpr auto kErrorTable = detail::all_errors();

// The line of an error, or null for a combination that no registry has.
[[nodiscard]] constexpr const ErrorRow* find_error(const ErrorCode& error) noexcept {
  for (const ErrorRow& row : kErrorTable) {
    const bool same_type = row.error.layer == error.layer && row.error.type == error.type;
    if (same_type && (row.any_code || row.error.code == error.code)) return &row;
  }
  return nullptr;
}

// For people: never empty, never null.
[[nodiscard]] constexpr std::string_view sentence(const ErrorCode& error) noexcept {
  const ErrorRow* row = find_error(error);
  return row != nullptr ? row->sentence : "an error that no registry knows";
}

}  // namespace weft::rdmap
