// SPDX-License-Identifier: Apache-2.0
#include "engine/fault.hpp"

#include <algorithm>
#include <utility>

#include "rdmap/error_table.hpp"

namespace weft::engine {

namespace {

constexpr std::string_view kLocalSentence =
    "a buffer of our own side was taken away, or may not be used, while work needed it";

constexpr rdmap::ErrorCode llp_error(mpa::Fault fault) noexcept {
  return {rdmap::Layer::kLlp, mpa::kErrorType, std::to_underlying(mpa::wire_code(fault))};
}

// RDMAP's table of what a Terminate can name and MPA's codes know nothing of each other: here they meet.
static_assert(mpa::kErrorLayer == std::to_underlying(rdmap::Layer::kLlp));
static_assert(std::ranges::all_of(mpa::kFaults, [](const mpa::FaultEntry& entry) {
  return rdmap::find_error(llp_error(entry.fault)) != nullptr;
}));

}  // namespace

Fault make_fault(const rdmap::ErrorCode& error, std::uint64_t stream_offset,
                 std::optional<rdmap::SegmentInError> segment) {
  const rdmap::ErrorRow* row = rdmap::find_error(error);
  const std::string_view clause = row == nullptr ? std::string_view{} : row->clause;
  return {error, clause, rdmap::sentence(error), stream_offset, segment};
}

Fault make_fault(mpa::Fault fault, std::uint64_t stream_offset) {
  const mpa::FaultEntry& entry = mpa::explain(fault);
  return {.error = llp_error(fault),
          .clause = entry.clause,
          .sentence = entry.sentence,
          .stream_offset = stream_offset,
          .mpa_fault = fault};
}

Fault make_local_fault(std::uint64_t stream_offset) {
  return {rdmap::kLocalCatastrophic, "RDMAP-4.8-23", kLocalSentence, stream_offset, {}, true};
}

// The user hears the numbers of the RFCs' tables (DDP-6.2.2-04).
ErrorReport report_of(const Fault& fault) noexcept {
  return {.layer = fault.error.layer,
          .type = fault.error.type,
          .code = fault.error.code,
          .clause = fault.clause,
          .sentence = fault.sentence,
          .stream_offset = fault.stream_offset,
          .mpa_fault = fault.mpa_fault};
}

ErrorReport report_of(mpa::Fault fault) noexcept {
  ErrorReport report = report_of(make_fault(fault, 0));
  report.startup_octet = mpa::explain(fault).octet;
  return report;
}

ErrorReport report_of(const rdmap::ErrorCode& error) noexcept { return report_of(make_fault(error, 0)); }

}  // namespace weft::engine
