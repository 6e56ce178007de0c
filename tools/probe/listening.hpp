// SPDX-License-Identifier: Apache-2.0
// `weft probe --listen`: the prober waits for the peer's connections, or starts the peer for them (--run).
#pragma once

#include <CLI/CLI.hpp>

#include <memory>
#include <string>

#include "probe/way.hpp"
#include "tools/cli/outcome.hpp"

namespace weft::tools::probing {

struct ListenArguments {
  std::string at{};    // [ADDR:]PORT; empty: the peer listens
  std::string run{};   // starts the peer
  std::string from{};  // the one address that may connect; empty: that of the first connection
  bool show{};         // its output
};

void add_listen_options(CLI::App& app, ListenArguments& arguments);

// `target`: what stands where the peer's address would, and has to be empty.
[[nodiscard]] Outcome<std::unique_ptr<probe::Way>> way_by(const ListenArguments& arguments, const std::string& profile,
                                                          const std::string& target);

}  // namespace weft::tools::probing
