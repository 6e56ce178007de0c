// SPDX-License-Identifier: Apache-2.0
/// @file
/// Configuration files for programs that are not aware of weft (docs/drop-in.md).
///
/// A file has one "KEY = VALUE" per line. The rest of a line after a number sign is a comment.
///
///     log     = info
///     pcap    = /tmp/weft-%p.pcap
///     progress-threads = 2
///     exposed-memory = 4G      as set_exposed_memory_limit() takes it; K, M and G are powers of 1024
///     crc32c  = portable       implementation of CRC32C, as parse_crc32c() takes it
///     mpa-rev = 1              any key that parse_policy() accepts
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

/// Holds the settings of a configuration file. A setting that the file does not contain keeps its default value.
struct Configuration {
  std::optional<LogLevel> log{};          ///< argument of set_log_level()
  std::string pcap{};                     ///< pattern of the capture file's path, as written; see capture_path()
  std::size_t progress_threads = 0;       ///< argument of set_progress_threads()
  std::uint64_t exposed_memory = 0;       ///< argument of set_exposed_memory_limit(), in octets
  std::optional<Crc32cRoutine> crc32c{};  ///< argument of set_crc32c()
  Policy policy{};                        ///< policy of every connection
  std::vector<std::string> complaints{};  ///< one message such as "weft.conf:3: ..." per line that was ignored
};

/// Parses the text of a configuration file. Lines that are not understood are ignored and reported in `complaints`.
/// `name` is the name of the file in complaints. `base` provides the policy's values that the text does not set.
[[nodiscard]] Configuration parse_configuration(std::string_view text, const std::string& name,
                                                const Policy& base = {});
/// Reads and parses a configuration file. A file that cannot be read yields the defaults and a complaint.
[[nodiscard]] Configuration read_configuration(const std::string& path, const Policy& base = {});

/// Returns `pattern` with each "%p" replaced by the id of `process`, so that each process writes a separate capture.
[[nodiscard]] std::string capture_path(std::string_view pattern, pid_t process);

}  // namespace weft::verbs
