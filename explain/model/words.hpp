// SPDX-License-Identifier: Apache-2.0
// What a row is, in words.
#pragma once

#include <string>

#include "conformance/messages.hpp"
#include "explain/model/model.hpp"

namespace weft::explain {

/// "MPA Request: revision 2, CRC, IRD 4, ORD 4".
[[nodiscard]] std::string words_of(const conformance::StartupSeen& startup);
/// Of octets that MPA does not deliver, or that have no DDP header.
[[nodiscard]] std::string words_of_stray(const conformance::FpduSeen& fpdu);
/// Of octets before MPA.
[[nodiscard]] std::string words_of(const conformance::StreamingSeen& streaming);
/// Of octets that are missing, or no FPDU.
[[nodiscard]] std::string words_of(const conformance::LostSeen& lost);
/// Of FPDUs that were found again.
[[nodiscard]] std::string words_of(const conformance::ResumedSeen& resumed);
/// Of the end of a direction.
[[nodiscard]] std::string words_of(const conformance::EndSeen& end);

/// A message's name in the RFC; "opcode 13" where there is none.
[[nodiscard]] std::string name_of(std::uint8_t opcode);
/// Of a message and one of its segments, counted from 0: "RDMA Write, segment 2 of 3, 1432 octets".
[[nodiscard]] std::string words_of(const MessageView& message, const Segment& segment, std::size_t which);
/// What is missing of a message: ", its beginning was not seen"; empty when nothing is.
[[nodiscard]] std::string words_of_missing(const conformance::Message& message);

}  // namespace weft::explain
