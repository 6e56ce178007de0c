// SPDX-License-Identifier: Apache-2.0
// What a row is, in words.
#pragma once

#include <string>

#include "conformance/messages.hpp"
#include "conformance/words.hpp"
#include "explain/model/model.hpp"

namespace weft::explain {

/// "MPA Request: revision 2, CRC, IRD 4, ORD 4".
[[nodiscard]] std::string words_of(const conformance::StartupSeen& startup);
/// "FIN, 17 octets of an unfinished FPDU before it".
[[nodiscard]] std::string joined(const conformance::Words& words);

/// Describes a message and one of its segments, counted from 0: "RDMA Write, segment 2 of 3, 1432 octets".
[[nodiscard]] std::string words_of(const MessageView& message, const Segment& segment, std::size_t which);
/// What is missing of a message: ", its beginning was not seen"; empty when nothing is.
[[nodiscard]] std::string words_of_missing(const conformance::Message& message);

}  // namespace weft::explain
