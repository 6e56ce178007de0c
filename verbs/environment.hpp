// SPDX-License-Identifier: Apache-2.0
// What the user of a program asks of weft from outside of it:
//
//   variable      what it takes                                                              read by
//   WEFT_LOG      trace, debug, info, warn, error or off                                     C++ programs, drop-in libraries
//   WEFT_PCAP     a file for every connection's octets; "%p" in it becomes the process id    the same
//   WEFT_PCAP_EXIT  the exit code of a process whose capture was cut short (below)           the same
//   WEFT_CRC32C   isa-l or portable: the code that computes CRCs                             the same
//   WEFT_POLICY   KEY=VALUE,... of every connection's policy (verbs/policy_text.hpp)         the drop-in libraries
//   WEFT_CONFIG   a file that says all this (verbs/configuration.hpp); variables win         the drop-in libraries
//
// A process reads its variables once: with the first device or channel that it opens, not when it is loaded. What the
// program itself has set with set_log_level(), set_capture_file() or set_crc32c(), before or afterwards, holds instead,
// and then the variable is not read. A value that cannot be understood or done changes nothing and is told on the log
// at level warn.
//
// WEFT_PCAP_EXIT (1 to 255; weft run --pcap sets it to 2) is read when the process calls exit(): with capture_failure() it
// prints why on standard error and ends with that code. _exit() and signals end it as ever.
//
// All of them are ignored under secure execution (setuid, file capabilities): the user that starts such a program must
// not choose which files it reads and writes.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "verbs/configuration.hpp"

namespace weft::verbs {

// A variable of this process. Nothing when it is empty, or under secure execution.
[[nodiscard]] std::optional<std::string> process_variable(const char* name);

// --- For a facade that has settings of its own, as the drop-in libraries do

// Gives a variable's value, or nothing: process_variable(), or a test's own.
using Variable = std::function<std::optional<std::string>(const char* name)>;
// Adds WEFT_LOG, WEFT_PCAP and WEFT_CRC32C to `settings`, as `variable` gives them, and a complaint about each that cannot
// be understood.
void read_variables(Configuration& settings, const Variable& variable);
// Sets log level, capture file, code for CRCs, progress threads and exposed memory; the policy is for the caller's connections. This is
// the program's own choice: no variable is read behind it. Adds to the complaints what cannot be done.
void apply_configuration(Configuration& settings);

}  // namespace weft::verbs
