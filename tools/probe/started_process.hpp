// SPDX-License-Identifier: Apache-2.0
// A peer that `weft probe --run` has started.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "probe/way_listening.hpp"
#include "tools/cli/outcome.hpp"

namespace weft::tools::probing {

// The words of a command: blanks separate them, '...' and "..." hold them together. An error where a quote has no end.
[[nodiscard]] Outcome<std::vector<std::string>> words_of(const std::string& command);

// From any thread. Its input is empty; its output goes nowhere, or to standard error with `show`. A Judgement where it
// cannot be started. Its end: it has a moment to leave by itself, then it and what it has started are ended.
[[nodiscard]] std::unique_ptr<probe::StartedPeer> start_process(const std::vector<std::string>& words, bool show);

}  // namespace weft::tools::probing
