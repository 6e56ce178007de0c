// SPDX-License-Identifier: Apache-2.0
// Rules on the RDMAP Control Field of one segment: version, opcode, and that T and QN fit the opcode (RFC 5040 section
// 4.1, RFC 7306 section 4.1).
#pragma once

#include <cstdint>

#include "conformance/rules/ulpdu.hpp"

namespace weft::conformance::rules {

enum class HeaderVerdict : std::uint8_t {
  kRight,
  kFlawed,    // a field is wrong that leaves no doubt what the message is
  kUnusable,  // no message that a peer could act on: nothing else is to be judged of it
};
HeaderVerdict judge_rdmap_header(const Ulpdu& ulpdu, Findings& findings);

}  // namespace weft::conformance::rules
