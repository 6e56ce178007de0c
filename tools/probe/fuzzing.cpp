// SPDX-License-Identifier: Apache-2.0
#include "tools/probe/fuzzing.hpp"

#include <fmt/format.h>

#include <utility>

#include "probe/random/fuzz.hpp"
#include "tools/cli/input_file.hpp"
#include "tools/cli/interruption.hpp"
#include "tools/cli/progress_line.hpp"
#include "tools/cli/standard_output.hpp"
#include "tools/cli/whole_file.hpp"

namespace weft::tools::probing {
namespace {

constexpr std::size_t kMostOctets = 1U << 20U;  // of a case file

std::string text_of(const probe::ScriptFinding& finding, const std::string& file) {
  return fmt::format("{}\n  {} steps, in {} (weft probe --replay runs it)\n", finding.what, finding.script.steps.size(),
                     file);
}

}  // namespace

Outcome<void> fuzz(probe::Way& way, const FuzzRequest& request) {
  ProgressLine progress;
  std::atomic<bool> stop = false;
  probe::FuzzOptions options{.seed = request.seed, .duration = std::chrono::seconds(request.seconds), .stop = &stop};
  options.on_progress = [&](std::uint64_t runs, std::size_t findings) {
    stop = interrupted();
    if (!request.quiet && runs % 16 == 0) progress.show(fmt::format("{} conversations, {} findings", runs, findings));
  };
  const probe::FuzzResult result = probe::fuzz(way, options);
  progress.clear();
  std::string text;
  for (const probe::ScriptFinding& finding : result.findings) {
    const std::string name = fmt::format("{}/probe-{}.case", request.folder, finding.seed);
    const std::string octets = probe::to_text(finding.script) + "# " + finding.what + "\n";
    if (auto written = write_file(name, octets); !written) return written;
    text += text_of(finding, name);
  }
  text +=
      fmt::format("{} conversations from seed {}, {} findings\n", result.runs, request.seed, result.findings.size());
  if (!request.quiet) {
    if (auto printed = print_now(text); !printed) return printed;
  }
  if (!result.findings.empty()) return failure("the peer did not survive every conversation as it should.");
  return {};
}

Outcome<probe::Script> read_case(const std::string& file) {
  const auto text = read_input(file, kMostOctets, failure("cannot read '" + file + "'."));
  if (!text) return std::unexpected(text.error());
  if (text->size() > kMostOctets) return failure("'" + file + "' is longer than a case file can be.");
  auto script = probe::parse_script(*text);
  if (!script) return failure("'" + file + "' is no case file: " + script.error() + ".");
  return std::move(*script);
}

Outcome<void> replay(probe::Way& way, const probe::Script& script, bool quiet) {
  const auto finding = probe::run_script(way, script);
  if (!finding) return quiet ? Outcome<void>() : print_now("no violation: the finding does not occur any more.\n");
  return failure(finding->what + ".");
}

}  // namespace weft::tools::probing
