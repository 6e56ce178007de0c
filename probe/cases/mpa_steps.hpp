// SPDX-License-Identifier: Apache-2.0
// Steps that the cases of MPA have in common.
#pragma once

#include <string>
#include <vector>

#include "probe/cases/steps.hpp"
#include "probe/verdict.hpp"

namespace weft::probe {

// --- Connections

// The first connection of a case begins a session, and each later one joins it. So a case that breaks a hundred
// connections asks the peer for one session.
[[nodiscard]] Conversation& connect_again(Scene& scene, const Opening& opening = {});

// --- Good Writes around a wrong ULPDU

// Returns whether the peer's memory can be looked at when a connection is over. Where it cannot, the good Writes below
// have no octets, which every peer takes, and the wrong ones go to an STag that does not exist: MPA finds its fault
// first.
[[nodiscard]] bool sees_memory(const Scene& scene);
// Memory that the peer lets us write and read, 64 KiB of it at weft probe-peer.
[[nodiscard]] Region target(const Scene& scene);
// The octets that a region held at first.
[[nodiscard]] std::vector<std::byte> first_octets(const Region& region, std::size_t from, std::size_t size);

// How many octets each Write around a wrong ULPDU has. The one before it lies at offset 0 of the target, and the one
// after it at kBehind.
inline constexpr std::size_t kAround = 32;
inline constexpr std::size_t kBehind = 4096;
void send_before(Conversation& by, const Region& region);
void send_behind(Conversation& by, const Region& region);
// The first of them was placed, and nothing else was in the first 8 KiB of the target. Joins the session.
void expect_only_before(Scene& scene, const Region& region);

// --- Reactions

// The Terminate of an FPDU that MPA finds wrong, or the end of the connection. A peer that drops the TCP segment
// silently, as MPA-8-11 allows it, is a case for itself: it cannot be told what it does with such FPDUs, and the case
// is not applicable.
void expect_mpa_error(Conversation& by, const Errors& any_of);

// Where the RFC leaves the reaction open. An RDMA Read of no octets goes out, and what comes tells:
enum class Reaction : std::uint8_t { kTerminated, kEnded, kWentOn, kSilent };
[[nodiscard]] Reaction reaction_of(Conversation& by);
// The same within `limit`, and without asking for anything.
[[nodiscard]] Reaction reaction_within(Conversation& by, Duration limit);

// --- What the session's report tells, read as memory: no Send is needed for it, so completions are those of the case.

[[nodiscard]] PeerReport look(Scene& scene, Conversation& by);
// As soon as `count` receives have completed; fails when they do not, or when more did.
PeerReport expect_receives(Scene& scene, Conversation& by, std::uint32_t count);
// No more than these, also after a while.
void expect_no_more_receives(Scene& scene, Conversation& by, std::uint32_t count);

// --- Memory

// An RDMA Read on `by` finds these octets there.
void expect_content(Scene& scene, Conversation& by, const Region& region, std::size_t from, Bytes octets,
                    const std::string& what);

}  // namespace weft::probe
