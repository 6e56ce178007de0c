// SPDX-License-Identifier: Apache-2.0
// The options of `weft bench lat`, `bw` and `rate`.
#pragma once

#include <string>
#include <vector>

#include "tools/bench/options.hpp"
#include "tools/cli/command.hpp"

namespace weft::tools::bench {

struct Arguments {
  Options options{};
  std::string crc = "on";
  std::vector<std::string> against{"tcp"};
  std::string markers = "off";
};

// Adds those that go with arguments.options.kind, which is set before.
void add_options(CLI::App& command, Arguments& arguments);
// Add the options that the suite has too: how long to measure, and beside which rivals.
void add_length_options(CLI::App& command, Options& options);
void add_against_option(CLI::App& command, std::vector<std::string>& against);
[[nodiscard]] Outcome<Against> against_of(const std::vector<std::string>& names);
// Makes of the policy's text what it says beside the other options.
[[nodiscard]] Outcome<void> take_policy(Options& options);
// What was asked for, or which options contradict each other. Once the command line has been parsed.
[[nodiscard]] Outcome<Options> options_of(const Arguments& arguments);

}  // namespace weft::tools::bench
