// SPDX-License-Identifier: Apache-2.0
// `weft probe --fuzz` and `--replay`: random conversations, and those of a case file.
#pragma once

#include <cstdint>
#include <string>

#include "probe/random/script.hpp"
#include "probe/way.hpp"
#include "tools/cli/outcome.hpp"

namespace weft::tools::probing {

struct FuzzRequest {
  std::uint32_t seconds{};
  std::uint64_t seed = 1;
  std::string folder = ".";  // for case files
  bool quiet{};
};

// What is found is shrunk and written to probe-SEED.case files. Fails with ExitCode::kFailure where something is found.
Outcome<void> fuzz(probe::Way& way, const FuzzRequest& request);

// Reads a case file. An interrupt ends the wait for a pipe.
Outcome<probe::Script> read_case(const std::string& file);
// Runs it once.
Outcome<void> replay(probe::Way& way, const probe::Script& script, bool quiet);

}  // namespace weft::tools::probing
