// SPDX-License-Identifier: Apache-2.0
// What holds for the whole process: log level, packet capture, threads, the code for CRCs.
#pragma once

#include <string>

#include "common/crc32c_routine.hpp"
#include "verbs/error.hpp"

namespace weft::verbs {

enum class LogLevel : std::uint8_t { kTrace, kDebug, kInfo, kWarn, kError, kOff };

// Log lines go to standard error. A protocol error's line names clause, layer, code and octet offset.
void set_log_level(LogLevel level);
// "trace", "debug", "info", "warn", "error" or "off".
[[nodiscard]] Result<LogLevel> parse_log_level(std::string_view name);

// One line of a facade's own, with the same clock, process number and level as every other.
void log_line(LogLevel level, std::string_view line);
[[nodiscard]] bool log_shows(LogLevel level);

// Connections made from now on write their octets as TCP packets into `path` (a file Wireshark opens; needs no
// privilege). An empty path stops capturing for new connections. When a write fails later (disk full ...), the log
// tells it once, as a warning, and the capture ends there.
[[nodiscard]] Result<void> set_capture_file(const std::string& path);

// How many progress threads serve the connections' sockets where no thread of the application does: 1 to
// kMostProgressThreads, or 0 for what weft chooses, one for every four processors. Connections are spread over them.
// Holds for a process, or a child, that has no device open yet. Errc::kLimitExceeded when it is too many.
inline constexpr std::size_t kMostProgressThreads = 64;
Result<void> set_progress_threads(std::size_t count);

// Which code computes the CRCs of FPDUs, from now on and in every connection: crc32c_in_use() tells (weft/common). Both
// give the same values; weft takes what fits the processor when nobody asks. At any time and from any thread.
void set_crc32c(Crc32cRoutine routine) noexcept;
// "isa-l" or "portable"; else Errc::kInvalidArgument.
[[nodiscard]] Result<Crc32cRoutine> parse_crc32c(std::string_view name);

// Whether weft's own thread asks: what a preloaded library lets that thread call is not the application's wish.
[[nodiscard]] bool on_progress_thread() noexcept;

}  // namespace weft::verbs
