// SPDX-License-Identifier: Apache-2.0
// What holds for the whole process: log level, packet capture, threads, the code for CRCs. Where the program says nothing
// of log, capture and CRCs, the environment may (verbs/environment.hpp).
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/crc32c_routine.hpp"
#include "verbs/error.hpp"

namespace weft::verbs {

// How much the log tells: lines of this level and of those behind it.
enum class LogLevel : std::uint8_t {
  kTrace,  // no line has it: shows the same as kDebug
  kDebug,  // each FPDU
  kInfo,   // each connection's life
  kWarn,   // what deserves a look; the default
  kError,  // what failed
  kOff,    // nothing
};

// Log lines go to standard error. A protocol error's line names clause, layer, code and octet offset. A thread that
// only writes does so, and no other waits for it: lines that standard error does not take in time are dropped and
// counted. Kinds of line that could flood it have a rate above which they are left out; a line tells how many were.
// What was said is written when exit() ends the process, not when _exit() or a signal does.
void set_log_level(LogLevel level);
// "trace", "debug", "info", "warn", "error" or "off".
[[nodiscard]] Result<LogLevel> parse_log_level(std::string_view name);

// One line of a facade's own, with the same clock, process number and level as every other.
// An application's thread waits until it is written, 0.2 s at most, so that the line is there if the program ends next.
void log_line(LogLevel level, std::string_view line);
[[nodiscard]] bool log_shows(LogLevel level);  // whether a line of this level is written
// Waits until what was said so far is written, `patience` at most; false when it is not. Does not wait behind a wait
// that was in vain, until standard error takes something again. In any thread.
bool flush_log(std::chrono::milliseconds patience);

// Connections made from now on write their octets as TCP packets into `path` (a file Wireshark opens; needs no
// privilege); with TLS those that Policy::pcap_shows asks for. The file is its owner's alone (mode 0600). Errc::kSystem with os_error, or without one and with the
// reason where weft refuses: a symbolic link, a file of another user or with a second name, a pipe without a reader.
// An empty path stops capturing for new connections. When a write fails later (disk full ...), the log tells it once,
// as a warning, and the capture ends there.
[[nodiscard]] Result<void> set_capture_file(const std::string& path);
// Why a capture of this process is not complete: "cannot write FILE: No space left on device". Empty when nothing failed.
// The file has whole packets up to there. Holds the first failure, also of a capture that has been stopped since. Thread-safe.
[[nodiscard]] std::string capture_failure();

inline constexpr std::size_t kMostProgressThreads = 64;  // that set_progress_threads() takes
// How many progress threads serve the connections' sockets where no thread of the application does: 1 to
// kMostProgressThreads, or 0 for what weft chooses, one for every four processors. Connections are spread over them.
// Holds for a process, or a child, that has no device open yet. Errc::kLimitExceeded when it is too many.
Result<void> set_progress_threads(std::size_t count);

// How many octets of registered memory peers may reach by an STag, in all of the process: regions with a remote right, or
// to which windows may be bound. One more is refused with Errc::kNoResources; what is registered already stays. 0, as
// when this is not called: no bound, for it is the program that registers, and knows what it serves (RFC 5042 section
// 6.4.1). At any time and from any thread.
void set_exposed_memory_limit(std::uint64_t octets);
[[nodiscard]] std::uint64_t exposed_memory();  // the octets that there are now

// Which code computes the CRCs of FPDUs, from now on and in every connection: crc32c_in_use() tells (weft/common). Both
// give the same values; weft takes what fits the processor when this is not called. At any time and from any thread.
void set_crc32c(Crc32cRoutine routine) noexcept;
// "isa-l" or "portable"; else Errc::kInvalidArgument.
[[nodiscard]] Result<Crc32cRoutine> parse_crc32c(std::string_view name);

// Whether weft's own thread asks: what a preloaded library lets that thread call is not the application's wish.
[[nodiscard]] bool on_progress_thread() noexcept;

}  // namespace weft::verbs
