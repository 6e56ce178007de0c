// SPDX-License-Identifier: Apache-2.0
// Rules on the RDMAP Control Field of one segment: version, opcode, and that T and QN fit the opcode (RFC 5040 section
// 4.1, RFC 7306 section 4.1).
#pragma once

#include <array>

#include "conformance/rules/ulpdu.hpp"

namespace weft::conformance::rules {

extern const Rule kRdmapVersion;          // RDMAP-4.1-17
extern const Rule kRdmapReserved;         // RDMAP-4.1-20
extern const Rule kNoSuchQueue;           // DDP-4.3-09: what queues there are is RDMAP's matter
extern const Rule kOpcode;                // RDMAP-4.1-22
extern const Rule kInvalidateStag;        // RDMAP-4.1-23
extern const Rule kInvalidateStagOf7306;  // RDMAPX-4.1-03

// Of one kind of message: its T bit and its queue.
struct ModelRule {
  rdmap::Opcode opcode{};
  const Rule* buffer_model{};  // T
  const Rule* queue{};         // null for tagged messages
};
extern const std::array<ModelRule, 12> kModelRules;

enum class HeaderVerdict : std::uint8_t {
  kRight,
  kFlawed,    // a field is wrong that leaves no doubt what the message is
  kUnusable,  // no message that anybody could act on: nothing else is to be judged of it
};
HeaderVerdict judge_rdmap_header(const Ulpdu& ulpdu, Findings& findings);

}  // namespace weft::conformance::rules
