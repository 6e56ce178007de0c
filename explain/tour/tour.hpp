// SPDX-License-Identifier: Apache-2.0
// A connection that has every operation, between two engines in memory: what `weft explain --demo` shows. Nothing in it
// is random, so it is the same octets every time.
#pragma once

#include <functional>
#include <string_view>

#include "conformance/packet.hpp"

namespace weft::explain {

/// What the tour is called where a capture has a name.
inline constexpr std::string_view kTourName = "the tour: every operation on one connection";

/// Plays the tour, and hands over each packet of it.
void play_tour(const std::function<void(const conformance::Packet&)>& take);

}  // namespace weft::explain
