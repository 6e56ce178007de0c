// SPDX-License-Identifier: Apache-2.0
// What the command line of `weft audit` asks for.
#pragma once

#include <string>
#include <vector>

#include "conformance/capture_audit.hpp"
#include "tools/audit/capture_files.hpp"

namespace weft::tools::audit {

struct Options {
  std::vector<std::string> files{};
  std::string interface{};          // instead of files
  std::string write{};              // -w, with an interface only; empty: none
  std::vector<std::string> ring{};  // -b
  RingLimits ring_limits{};         // the same, parsed
  std::string keylog{};             // empty: none
  std::string json{};               // files to write; empty: none
  std::string junit{};
  std::string filter_text{};                  // --filter; empty: all connections
  conformance::ConnectionFilter selection{};  // the same, parsed
  std::string known{};                        // --known; empty: none
  bool quiet{};
  bool summary{};
  bool list{};
  bool strict{};
  std::size_t max_connections = 10000;
  conformance::RuleFilter filter{};
};

}  // namespace weft::tools::audit
