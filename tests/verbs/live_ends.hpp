// SPDX-License-Identifier: Apache-2.0
// The two ends of a Pair in the list of live streams, which is in the order in which they began: either may be first.
#pragma once

#include <stdexcept>
#include <utility>

#include "verbs/live_streams.hpp"

namespace weft::verbs::test {

struct LiveEnds {
  LiveStream client{};
  LiveStream server{};
};

inline LiveEnds live_ends() {
  auto all = live_streams();
  if (all.size() != 2 || all[0].initiator == all[1].initiator) throw std::runtime_error("not the two ends of a pair");
  if (all[1].initiator) std::swap(all[0], all[1]);
  return {all[0], all[1]};
}

}  // namespace weft::verbs::test
