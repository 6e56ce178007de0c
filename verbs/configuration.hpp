// SPDX-License-Identifier: Apache-2.0
// A file of settings for programs that know nothing of weft (docs/drop-in.md). One "KEY = VALUE" a line:
//
//   # what stands behind a '#' is not read
//   log     = info
//   pcap    = /tmp/weft-%p.pcap
//   progress-threads = 2
//   exposed-memory = 4G      as set_exposed_memory_limit() takes it; K, M and G are powers of 1024
//   crc32c  = portable       the code that computes CRCs, as parse_crc32c takes it
//   mpa-rev = 1              any key that parse_policy knows
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "verbs/options.hpp"
#include "verbs/policy.hpp"

namespace weft::verbs {

// What a file of settings says. What it does not say is empty, 0 or as in the policy that was given along.
struct Configuration {
  std::optional<LogLevel> log{};          // as set_log_level() takes it
  std::string pcap{};                     // as written; see capture_path
  std::size_t progress_threads = 0;       // as set_progress_threads() takes it
  std::uint64_t exposed_memory = 0;       // as set_exposed_memory_limit() takes it
  std::optional<Crc32cRoutine> crc32c{};  // as set_crc32c() takes it
  Policy policy{};                        // for every connection
  std::vector<std::string> complaints{};  // "weft.conf:3: ...", one a line that was left out
};

// `name` is what the complaints call the text; what it does not say of the policy is as in `base`.
[[nodiscard]] Configuration parse_configuration(std::string_view text, const std::string& name,
                                                const Policy& base = {});
// A file that cannot be read is a complaint.
[[nodiscard]] Configuration read_configuration(const std::string& path, const Policy& base = {});

// Each process writes a capture of its own: "%p" in `pattern` becomes the process id.
[[nodiscard]] std::string capture_path(std::string_view pattern, pid_t process);

}  // namespace weft::verbs
