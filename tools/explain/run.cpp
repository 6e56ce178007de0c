// SPDX-License-Identifier: Apache-2.0
// What can be read of a damaged capture is shown; then the command fails and says why.
#include "tools/explain/run.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <sstream>

#include "common/shown_text.hpp"
#include "explain/laboratory/octets.hpp"
#include "explain/model/json.hpp"
#include "explain/page/page.hpp"
#include "tools/cli/standard_output.hpp"
#include "tools/cli/whole_file.hpp"
#include "tools/explain/printing.hpp"
#include "tools/explain/reading.hpp"
#include "tools/explain/stepping.hpp"

namespace weft::tools::explaining {
namespace {

// In the current directory: "trace.html" of "captures/trace.pcapng.gz".
std::string output_of(const Options& options) {
  if (!options.output.empty()) return options.output;
  if (options.demo) return "weft-tour.html";
  std::string name = options.file == "-" ? "weft-explain" : std::filesystem::path(options.file).filename().string();
  for (const char* const ending : {".gz", ".zst", ".xz", ".pcap", ".pcapng", ".cap"}) {
    if (name.ends_with(ending) && name.size() > std::string_view(ending).size())
      name.resize(name.size() - std::string_view(ending).size());
  }
  return name + ".html";
}

Outcome<void> write_page_of(const explain::Model& model, const Options& options) {
  std::ostringstream page;
  explain::write_page(page, explain::to_json(model), explain::laboratory_octets());
  const std::string path = output_of(options);
  if (auto written = write_report(path, page.str(), Readers::kOwner); !written || path == "-") return written;
  if (model.connections.empty()) return {};
  return print_line(shown_text(path) + ": open it in a browser.");
}

bool writes_page(const Options& options) { return options.json.empty() && !options.text; }

// Without a connection there is nothing to show; a page says why, for whoever opens it.
bool has_something(const explain::Model& model, const Options& options) {
  return !model.connections.empty() || (writes_page(options) && !model.notes.empty());
}

Outcome<void> show(const explain::Model& model, const Options& options, const Palette& palette) {
  if (!options.json.empty()) return write_report(options.json, explain::to_json(model) + '\n', Readers::kOwner);
  if (options.step) return step_through(model, palette);
  if (options.text) return print_model(model, palette);
  return write_page_of(model, options);
}

Outcome<void> check(const Options& options) {
  if (!options.demo && options.file.empty())
    return usage_error("name a capture, or ask for the tour with --demo (weft explain --help).");
  if (options.step && (::isatty(STDIN_FILENO) == 0 || ::isatty(STDOUT_FILENO) == 0))
    return usage_error("--step needs a terminal to read keys from and to print on.");
  return {};
}

}  // namespace

Outcome<void> run(const Options& options, const Palette& palette) {
  if (auto sensible = check(options); !sensible) return sensible;
  auto read = read_model(options);
  if (!read) return std::unexpected(read.error());
  if (has_something(read->model, options)) {
    if (auto shown = show(read->model, options, palette); !shown) return shown;
  }
  if (read->wrong) return std::unexpected(*read->wrong);
  return {};
}

}  // namespace weft::tools::explaining
