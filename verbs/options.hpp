// SPDX-License-Identifier: Apache-2.0
/// @file
/// Process-wide options: log level, packet capture, progress threads, exposed memory and the CRC32C implementation.
///
/// Environment variables provide log level, capture file and CRC32C implementation if the program does not set them
/// (verbs/environment.hpp).
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/crc32c_routine.hpp"
#include "verbs/error.hpp"

namespace weft::verbs {

/// Identifies the severity of a log line. A log level shows its own lines and those of all more severe levels.
enum class LogLevel : std::uint8_t {
  kDebug,  ///< each FPDU
  kInfo,   ///< the life of each connection
  kWarn,   ///< conditions that deserve attention; the default level
  kError,  ///< failures
  kOff,    ///< no lines
};

/// Sets the log level of the process.
/// Log lines go to standard error. The line of a protocol error names clause, layer, code and octet offset.
/// A dedicated thread writes the lines, so other threads never wait for standard error. Lines that standard error does
/// not accept in time are dropped and counted.
/// Kinds of lines that could flood the log are limited in rate; a later line reports how many were omitted.
/// Pending lines are written when exit() ends the process, but not when _exit() or a signal does.
void set_log_level(LogLevel level);
/// Parses "debug", "info", "warn", "error" or "off". Errors: Errc::kInvalidArgument for any other text.
[[nodiscard]] Result<LogLevel> parse_log_level(std::string_view name);

/// Logs a line of a facade, with the same clock, process id and level as weft's own lines.
/// Waits up to 0.2 s until the line is written, so that it is not lost if the program then ends.
/// Does not wait on a progress thread.
void log_line(LogLevel level, std::string_view line);
/// Returns whether lines of this level are written.
[[nodiscard]] bool log_shows(LogLevel level);
/// Waits until all pending log lines are written, at most `patience`. Returns whether they are.
/// Returns at once if an earlier flush timed out and standard error has not accepted any output since. Thread-safe.
bool flush_log(std::chrono::milliseconds patience);

/// Captures the octets of all connections and datagram queue pairs made from now on in `path`, as TCP and UDP packets
/// in a format that Wireshark reads.
/// Needs no privileges. For connections with TLS, TlsPolicy::pcap_shows selects what is captured.
/// The file is readable by its owner only (mode 0600). An empty path stops the capture for new connections.
/// If a write fails later (for example because the disk is full), weft logs one warning and the capture ends there.
/// Errors: Errc::kSystem, with os_error if the operating system refused. os_error is 0 if weft refuses the path: a
/// symbolic link, a file that another user owns or that has another hard link, or a pipe without a reader.
[[nodiscard]] Result<void> set_capture_file(const std::string& path);
/// Returns why a capture of this process is incomplete ("cannot write FILE: No space left on device"), or an empty
/// text. The result is the first failure of the process, also if that capture was stopped since. A child of fork()
/// starts without a failure. The file contains complete packets up to the failed write. Thread-safe.
[[nodiscard]] std::string capture_failure();

/// The maximum that set_progress_threads() accepts.
inline constexpr std::size_t kMostProgressThreads = 64;
/// Sets the number of progress threads, which serve the sockets that no thread of the application serves.
/// The range is 1 to kMostProgressThreads. 0 selects the default: one thread per four processors, from 1 to 8.
/// Connections are distributed over the threads.
/// Takes effect only if the process (or the child of a fork()) has no device open yet.
/// Errors: Errc::kLimitExceeded beyond kMostProgressThreads.
Result<void> set_progress_threads(std::size_t count);

/// Limits how many octets of registered memory peers can reach by an STag, in the whole process.
/// Regions with a remote right count, as do regions to which windows may be bound. A registration beyond the limit
/// fails with Errc::kNoResources; existing registrations are not affected.
/// 0 is the default and means no limit: the program controls what it registers (RFC 5042 section 6.4.1). Thread-safe.
void set_exposed_memory_limit(std::uint64_t octets);
/// Returns how many octets of registered memory peers can currently reach. Thread-safe.
[[nodiscard]] std::uint64_t exposed_memory();

/// Selects the implementation that computes the CRCs of FPDUs, from now on and for all connections.
/// Both compute the same values. The default is the one that suits the processor. crc32c_in_use() returns the current
/// one (common/crc32c_routine.hpp). Thread-safe.
void set_crc32c(Crc32cRoutine routine) noexcept;
/// Parses "isa-l" or "portable". Errors: Errc::kInvalidArgument for any other text.
[[nodiscard]] Result<Crc32cRoutine> parse_crc32c(std::string_view name);

/// Returns true when called on a weft progress thread.
/// A preloaded library uses it to tell weft's own socket calls from those of the application.
[[nodiscard]] bool on_progress_thread() noexcept;

}  // namespace weft::verbs
