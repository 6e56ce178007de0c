// SPDX-License-Identifier: Apache-2.0
// Smaller and smaller scripts that bring the same to light, one change at a time.
#include <algorithm>

#include "probe/random/fuzz.hpp"

namespace weft::probe {
namespace {

// The sentence without its numbers: two findings of one kind differ in offsets and octets.
std::string kind_of(const std::string& what) {
  std::string out;
  for (const char letter : what) {
    if (std::isxdigit(static_cast<unsigned char>(letter)) == 0) out += letter;
  }
  return out;
}

// All scripts that are one change simpler.
std::vector<Script> simpler(const Script& script) {
  std::vector<Script> out;
  const auto with = [&](auto change) {
    Script next = script;
    change(next);
    if (next != script) out.push_back(std::move(next));
  };
  for (std::size_t i = 0; i < script.steps.size(); ++i) {
    with([i](Script& s) { s.steps.erase(s.steps.begin() + static_cast<std::ptrdiff_t>(i)); });
  }
  with([](Script& s) { s.markers = false; });
  for (std::size_t i = 0; i < script.edits.size(); ++i) {
    with([i](Script& s) { s.edits.erase(s.edits.begin() + static_cast<std::ptrdiff_t>(i)); });
  }
  for (std::size_t i = 0; i < script.steps.size(); ++i) {
    with([i](Script& s) { s.steps[i].cuts.clear(); });
    with([i](Script& s) { s.steps[i].again = false; });
    with([i](Script& s) { s.steps[i].glued = false; });
    with([i](Script& s) { s.steps[i].crc_xor = 0; });
    with([i](Script& s) { s.steps[i].length_xor = 0; });
    with([i](Script& s) { s.steps[i].size /= 2; });
    with([i](Script& s) { s.steps[i].offset = 0; });
    for (std::size_t j = 0; j < script.steps[i].edits.size(); ++j)
      with([i, j](Script& s) { s.steps[i].edits.erase(s.steps[i].edits.begin() + static_cast<std::ptrdiff_t>(j)); });
  }
  return out;
}

}  // namespace

ScriptFinding shrink(const RunScript& run, const ScriptFinding& finding, std::size_t runs) {
  ScriptFinding best = finding;
  for (bool better = true; better && runs > 0;) {
    better = false;
    for (const Script& next : simpler(best.script)) {
      if (runs == 0) break;
      --runs;
      auto found = run(next);
      if (!found || kind_of(found->what) != kind_of(finding.what)) continue;
      found->seed = finding.seed;
      best = std::move(*found);
      better = true;
      break;
    }
  }
  return best;
}

FuzzResult fuzz(Way& way, const FuzzOptions& options) {
  FuzzResult result;
  std::vector<std::string> known;
  const auto run = [&way](const Script& script) { return run_script(way, script); };
  const Instant end = now() + Duration(options.duration);
  const auto stopped = [&] { return options.stop != nullptr && *options.stop; };
  for (; now() < end && !stopped() && result.findings.size() < options.most_findings; ++result.runs) {
    const std::uint64_t seed = options.seed + result.runs;
    const bool first_half = now() + Duration(options.duration) / 2 < end;
    auto found = run(first_half ? boundary_script(seed) : random_script(seed));
    if (options.on_progress) options.on_progress(result.runs, result.findings.size());
    if (!found || std::ranges::find(known, kind_of(found->what)) != known.end()) continue;
    known.push_back(kind_of(found->what));
    found->seed = seed;
    result.findings.push_back(shrink(run, *found));
    if (!check_reachable(way)) break;  // there is nothing left to be tried
  }
  return result;
}

}  // namespace weft::probe
