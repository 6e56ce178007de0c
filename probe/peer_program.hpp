// SPDX-License-Identifier: Apache-2.0
// What the prober can do with a `weft probe-peer`, whichever end opened the connection: the ways of both roles have it.
#pragma once

#include "probe/case.hpp"
#include "probe/conversation.hpp"

namespace weft::probe {

inline constexpr std::string_view kPeerProgram = "weft";  // the name of its profile
// Besides its role.
inline constexpr std::uint32_t kPeerProgramOffers =
    kStream | kRegions | kReceives | kReport | kOrders | kSessions | kAtomics | kReads;

// It answers an order for its report.
void expect_program_alive(Conversation& by);
// It is told to read our memory at Scene::kOwnStag.
void ask_program_to_read(Conversation& by, ddp::TaggedOffset offset, std::uint32_t size);

}  // namespace weft::probe
