// SPDX-License-Identifier: Apache-2.0
// What stands on the ladder of a connection, in the words of the RFCs. The first part is the name, the others tell more.
#pragma once

#include "conformance/messages.hpp"
#include "conformance/seen.hpp"
#include "tools/dissect/part.hpp"

namespace weft::tools::dissect {

// "RDMA Write", "Send with SE and Invalidate", "opcode 13": as short as RFC 5040 has it.
[[nodiscard]] std::string name_of(std::uint8_t opcode);

// `rtr`: it is the ready-to-receive indication of a peer-to-peer connection.
[[nodiscard]] Parts words_of(const conformance::Message& message, bool rtr);
[[nodiscard]] Parts words_of(const conformance::StartupSeen& startup);
[[nodiscard]] Parts words_of(const conformance::StreamingSeen& streaming);
[[nodiscard]] Parts words_of(const conformance::LostSeen& lost);
[[nodiscard]] Parts words_of(const conformance::ResumedSeen& resumed);
[[nodiscard]] Parts words_of(const conformance::EndSeen& end);
// Of an FPDU that belongs to no message.
[[nodiscard]] Parts words_of_stray(const conformance::FpduSeen& fpdu);

// The message is a zero-length Send, RDMA Write or RDMA Read: what the first one of the Initiator is in peer-to-peer mode.
[[nodiscard]] bool may_be_rtr(const conformance::Message& message);

}  // namespace weft::tools::dissect
