// SPDX-License-Identifier: Apache-2.0
// What the command line of `weft probe-peer` asks for.
#pragma once

#include <cstdint>

#include "verbs/endpoint.hpp"
#include "verbs/policy.hpp"

namespace weft::tools::probe_peer {

struct Options {
  bool connects{};            // else it listens
  verbs::Endpoint address{};  // to listen at, or to connect to
  verbs::Policy policy{};
  std::uint32_t parallel = 64;    // connections that are kept open, where it connects
  std::uint32_t connections = 0;  // in all; 0: goes on
  bool chatty{};                  // sends legal messages that nobody asked for
};

}  // namespace weft::tools::probe_peer
