// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/key_log_file.hpp"

#include <utility>

#include "tools/cli/interruption.hpp"

namespace weft::tools {

Outcome<std::unique_ptr<conformance::KeyLog>> open_key_log(const std::string& path, bool complete) {
  if (path.empty()) return std::make_unique<conformance::KeyLog>(conformance::KeyLog::of_text(""));
  const conformance::StopSwitch* const stop = interruptions_are_caught() ? &interruption_switch() : nullptr;
  auto opened = conformance::KeyLog::open(path, {.stop = stop, .grows = !complete});
  if (!opened && interrupted())
    return std::unexpected(Failure{"--keylog: " + opened.error() + ".", ExitCode::kInterrupted});
  if (!opened) return usage_error("--keylog: " + opened.error() + ".");
  if (complete && opened->empty())
    return usage_error("--keylog: " + path + " is no key log: no line of it is one that SSLKEYLOGFILE has written.");
  return std::make_unique<conformance::KeyLog>(std::move(*opened));
}

}  // namespace weft::tools
