// SPDX-License-Identifier: Apache-2.0
// Runs random conversations against a peer, and shrinks those that it should not have survived so.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "probe/random/script.hpp"
#include "probe/runner.hpp"

namespace weft::probe {

// What a script brought to light.
struct ScriptFinding {
  std::uint64_t seed{};  // boundary_script() or random_script() of it gave the script before it was shrunk
  Script script{};
  std::string what{};  // a sentence
  std::vector<Exchange> exchanges{};
};

// Runs a script once. Empty: the peer did nothing that it may not do:
//   a hang                     the connection stays open after our FIN
//   an end without a cause     nothing was wrong with any step, and the stream ended
//   a breach                   a rule of conformance/ that the peer's octets break, or an FPDU that cannot be read
//   memory                     a region without the right to be written has changed
//   loss of service            a fresh connection does not work any more
[[nodiscard]] std::optional<ScriptFinding> run_script(Way& way, const Script& script);

// Runs a script, as run_script() does against its way.
using RunScript = std::function<std::optional<ScriptFinding>(const Script&)>;

// The same finding by fewer steps and changes. At most `runs` conversations.
[[nodiscard]] ScriptFinding shrink(const RunScript& run, const ScriptFinding& finding, std::size_t runs = 200);

struct FuzzOptions {
  std::uint64_t seed = 1;
  std::chrono::seconds duration{10};
  std::size_t most_findings = 8;  // then it ends
  const std::atomic<bool>* stop{};
  std::function<void(std::uint64_t runs, std::size_t findings)> on_progress{};  // from one thread at a time
};
struct FuzzResult {
  std::uint64_t runs{};
  std::vector<ScriptFinding> findings{};  // shrunk; no two with the same sentence
};
// Half of the time goes to boundary_script(), the rest to random_script().
[[nodiscard]] FuzzResult fuzz(Way& way, const FuzzOptions& options);

}  // namespace weft::probe
