// SPDX-License-Identifier: Apache-2.0
// The operations of a `weft probe-peer`, whichever end opened the connection. The drivers of both roles share them.
#pragma once

#include "probe/case.hpp"
#include "probe/conversation.hpp"
#include "probe/peer_protocol.hpp"

namespace weft::probe {

inline constexpr std::string_view kPeerProgram = "weft";  // the name of its profile
// Besides its role.
inline constexpr std::uint32_t kPeerProgramOffers =
    kStream | kRegions | kReceives | kReport | kOrders | kSessions | kAtomics | kReads;

// Returns the report in the Send that the peer owes; other Sends are skipped.
PeerReport expect_report(Conversation& by);
// Checks that the peer answers a command for its report.
void expect_program_alive(Conversation& by);
// Commands the peer to read memory at Scene::kOwnStag.
void ask_program_to_read(Conversation& by, ddp::TaggedOffset offset, std::uint32_t size);

}  // namespace weft::probe
