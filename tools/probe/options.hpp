// SPDX-License-Identifier: Apache-2.0
// What the command line of `weft probe` asks for.
#pragma once

#include <cstdint>
#include <string>

#include "probe/runner.hpp"
#include "tools/probe/listening.hpp"

namespace weft::tools::probing {

// Which octets are sent, and how often.
struct Sampling {
  std::uint64_t seed = 1;
  probe::Depth depth = probe::Depth::kNormal;
  unsigned repeat = 1;
};

struct RandomRuns {
  std::uint32_t fuzz{};  // seconds
  std::string folder = ".";
  std::string replay{};
};

struct Options {
  std::string target{};  // "HOST:PORT"
  ListenArguments listen{};
  std::string profile = "raw";
  probe::CaseFilter filter{};
  Sampling sampling{};
  unsigned at_a_time = 0;              // 0: what the profile allows
  std::uint32_t patience = 5000;       // milliseconds
  std::uint32_t first_fpdu_delay = 0;  // milliseconds
  std::string json{};                  // files to write; empty: none
  std::string junit{};
  std::string html{};
  std::string captures{};  // a folder
  bool list{};
  bool quiet{};
  bool verbose{};
  bool strict{};
  std::string title{};
  std::string known{};  // a file; empty: none
  RandomRuns random{};
};

}  // namespace weft::tools::probing
