// SPDX-License-Identifier: Apache-2.0
// What is known of a connection and what more than one group of rules needs. Absent means that the capture did not show
// it: then no end may be blamed for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "conformance/place.hpp"
#include "mpa/fpdu.hpp"
#include "mpa/startup_frame.hpp"

namespace weft::conformance {

struct StartupFacts {
  std::uint8_t revision{};
  bool markers{}, crc{}, reject{};
  std::optional<mpa::EnhancedData> enhanced{};
  std::vector<std::byte> private_data{};  // the ULP's
  std::uint64_t packet{};
};

struct Facts {
  std::optional<StartupFacts> request{}, reply{};
  std::optional<std::uint16_t> mss_from_initiator{}, mss_from_responder{};  // MSS options that each end sent
  // Read and Atomic Requests that this end may have outstanding (RFC 6581: the other end's IRD); absent: not
  // negotiated.
  [[nodiscard]] std::optional<std::uint32_t> request_limit(Direction from) const noexcept;
};

}  // namespace weft::conformance
