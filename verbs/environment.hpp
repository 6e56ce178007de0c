// SPDX-License-Identifier: Apache-2.0
/// @file
/// Environment variables that configure weft from outside a program.
///
///     variable        value                                                                     read by
///     WEFT_LOG        debug, info, warn, error or off                                           all programs
///     WEFT_PCAP       capture of connections and datagrams; "%p" is replaced by the process id  all programs
///     WEFT_PCAP_EXIT  exit code of a process whose capture is incomplete (see below)            all programs
///     WEFT_CRC32C     isa-l or portable: implementation of CRC32C                               all programs
///     WEFT_POLICY     KEY=VALUE,... for the policy of every connection (verbs/policy_text.hpp)  drop-in only
///     WEFT_DEVICE     iwarp or roce: how devices present themselves                             drop-in only
///     WEFT_PORTS      TCP ports of queue pairs that a program connects by ibv_modify_qp         drop-in only
///     WEFT_CONFIRM_WRITES  on or off: RDMA Writes complete once placed                          drop-in only
///     WEFT_CONFIG     configuration file (verbs/configuration.hpp); variables take precedence   drop-in only
///
/// "All programs" means C++ programs that link weft and programs that use the drop-in libraries.
/// A process reads the variables once: when it opens its first device or channel, not when it is loaded.
/// A variable is not read if the program itself calls set_log_level(), set_capture_file() or set_crc32c(), before or
/// afterwards: the program's setting takes precedence.
/// An invalid value has no effect and is logged at level warn.
///
/// WEFT_PCAP_EXIT is read when the process calls exit(). Its range is 1 to 255; `weft run --pcap` sets it to 2.
/// If capture_failure() is not empty then, the process prints it to standard error and exits with this code.
/// The variable has no effect on _exit() and on processes that a signal ends.
///
/// All variables are ignored under secure execution (setuid, file capabilities): the user that starts such a program
/// must not choose which files the program reads and writes.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "verbs/configuration.hpp"

namespace weft::verbs {

/// Returns the value of an environment variable of this process.
/// Returns nothing if the variable is unset or empty, and under secure execution.
[[nodiscard]] std::optional<std::string> process_variable(const char* name);

// --- For facades that have settings of their own, such as the drop-in libraries

/// Looks up a variable by name: process_variable(), or a substitute in tests.
using Variable = std::function<std::optional<std::string>(const char* name)>;
/// Adds WEFT_LOG, WEFT_PCAP and WEFT_CRC32C to `settings`, as `variable` returns them.
/// Adds a complaint for each value that is invalid.
void read_variables(Configuration& settings, const Variable& variable);
/// Applies log level, capture file, CRC32C implementation, progress threads and exposed memory limit to the process.
/// The policy is not applied: the caller sets it on its connections.
/// Counts as a choice of the program: variables are not read afterwards.
/// Adds a complaint for each setting that cannot be applied.
void apply_configuration(Configuration& settings);

}  // namespace weft::verbs
