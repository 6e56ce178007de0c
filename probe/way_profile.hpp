// SPDX-License-Identifier: Apache-2.0
// Connections to a peer whose protocol a file describes: those of the raw profile, followed by the steps of the file.
#pragma once

#include <memory>
#include <string>

#include "probe/profile.hpp"
#include "probe/way.hpp"

namespace weft::probe {

// `raw` leads to the peer; where the peer connects, it leaves the peer's first message to its user
// (Listening::leaves_first) when first_is_the_peers(profile). `name`: for reports.
[[nodiscard]] std::unique_ptr<Way> way_by_profile(std::string name, Profile profile, std::unique_ptr<Way> raw);

// Returns whether the first step is a message of the peer.
[[nodiscard]] bool first_is_the_peers(const Profile& profile) noexcept;

}  // namespace weft::probe
