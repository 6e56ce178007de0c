// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/key_log_file.hpp"

#include <utility>

namespace weft::tools {

Outcome<std::unique_ptr<conformance::KeyLog>> open_key_log(const std::string& path, bool complete) {
  if (path.empty()) return nullptr;
  auto opened = conformance::KeyLog::open(path);
  if (!opened) return usage_error("--keylog: " + opened.error() + ".");
  if (complete && opened->empty())
    return usage_error("--keylog: " + path + " is no key log: no line of it is one that SSLKEYLOGFILE has written.");
  return std::make_unique<conformance::KeyLog>(std::move(*opened));
}

}  // namespace weft::tools
