// SPDX-License-Identifier: Apache-2.0
// The tables of cases, one for each group of rules. cases.cpp puts them one behind the other, in the order of the RFCs.
#pragma once

#include <span>

#include "probe/case.hpp"

namespace weft::probe {

[[nodiscard]] std::span<const Case> request_cases();  // MPA Request: RFC 5044 7.1, where the peer listens
[[nodiscard]] std::span<const Case> crc_cases();      // CRC: RFC 5044 4.4, 6, 8

}  // namespace weft::probe
