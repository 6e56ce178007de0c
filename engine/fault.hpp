// SPDX-License-Identifier: Apache-2.0
// Why a stream goes down: what the log says, what the Terminate carries, and whose fault it was.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "engine/event.hpp"
#include "mpa/agreement.hpp"
#include "mpa/fpdu_receiver.hpp"
#include "rdmap/terminate.hpp"

namespace weft::engine {

struct Fault {
  rdmap::ErrorCode error{};
  std::string_view clause{};
  std::string_view sentence{};
  std::uint64_t stream_offset{};                   // of the inbound FPDU
  std::optional<rdmap::SegmentInError> segment{};  // what the Terminate may quote
  bool ours = false;                               // a LocalFault: the peer did nothing wrong
  bool wrong_answer = false;                       // a response that does not answer our oldest request
  bool in_terminate = false;                       // the peer's own Terminate is invalid: it is not answered with one
  std::optional<mpa::Fault> mpa_fault{};           // set when MPA found it
};

// Clause and sentence come from the layers' error tables.
[[nodiscard]] Fault make_fault(const rdmap::ErrorCode& error, std::uint64_t stream_offset,
                               std::optional<rdmap::SegmentInError> segment = {});
[[nodiscard]] Fault make_fault(mpa::Fault fault, std::uint64_t stream_offset);
// The owner of a local buffer took it away (RDMAP-7.1-02: nothing is quoted).
[[nodiscard]] Fault make_local_fault(std::uint64_t stream_offset);

[[nodiscard]] ErrorReport report_of(const Fault& fault) noexcept;
[[nodiscard]] ErrorReport report_of(mpa::Fault fault) noexcept;
[[nodiscard]] ErrorReport report_of(const rdmap::ErrorCode& error) noexcept;

}  // namespace weft::engine
