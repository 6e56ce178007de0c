// SPDX-License-Identifier: Apache-2.0
// A profile file, of whatever content, is refused with a sentence or keeps the limits of docs/probe-profiles.md.
#include <cstdlib>
#include <string_view>

#include "probe/profile.hpp"

namespace {
using weft::probe::Profile;

bool within(const weft::probe::Place& place, std::size_t most) {
  return place.constant || (place.width >= 1 && place.width <= 8 && place.value <= most);
}

bool keeps_limits(const Profile& profile) {
  if (profile.private_data.size() > Profile::kMostPrivateData || profile.steps.size() > Profile::kMostSteps)
    return false;
  if (profile.at_a_time < 1 || profile.at_a_time > 64 || profile.regions.size() > weft::probe::kMostRegions)
    return false;
  std::size_t sends = 0;
  for (const auto& step : profile.steps) {
    if (step.octets.size() > Profile::kMostOctets) return false;
    if (step.kind == weft::probe::ProfileStep::kExpectSend) ++sends;
  }
  for (const auto& region : profile.regions) {
    if (region.source > sends || !within(region.stag, UINT32_MAX)) return false;
  }
  if (!profile.read) return true;
  for (const auto& hole : profile.read->holes) {
    if (hole.width < 1 || hole.width > 8 || hole.at + hole.width > profile.read->octets.size()) return false;
  }
  static_cast<void>(profile.read->filled(weft::ddp::Stag{1}, {2}, 3));
  return true;
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto profile = weft::probe::parse_profile({reinterpret_cast<const char*>(data), size});
  if (profile ? !keeps_limits(*profile) : profile.error().empty()) std::abort();
  return 0;
}
