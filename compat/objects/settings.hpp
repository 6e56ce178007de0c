// SPDX-License-Identifier: Apache-2.0
// What the user asks of the drop-in libraries from outside the program (docs/drop-in.md):
//
//   WEFT_LOG     trace, debug, info, warn, error or off
//   WEFT_PCAP    a file that gets every connection's octets as TCP packets; "%p" in it becomes the process id
//   WEFT_POLICY  KEY=VALUE,... of every connection's policy (verbs/policy_text.hpp)
//   WEFT_CRC32C  isa-l or portable: the code that computes CRCs
//   WEFT_CONFIG  a file that says all this (verbs/configuration.hpp); the variables win
//
// All of them are ignored under secure execution (setuid, file capabilities): the user that starts such a program must
// not choose which files it reads and writes.
#pragma once

#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "verbs/configuration.hpp"

namespace weft::compat {

// The first call reads the variables, sets log level and capture file, and tells on standard error, a line each, what
// cannot be understood or done: that is left out. Call it when a program opens a device or makes an event channel, not
// when the library is loaded.
const verbs::Policy& connection_policy();

// The parts, for tests. An empty variable is as good as none.
using Variable = std::function<std::optional<std::string>(const char* name)>;
[[nodiscard]] verbs::Configuration read_settings(const Variable& variable, bool secure_execution,
                                                 const verbs::Policy& base = {});
// Adds to the complaints when the capture file cannot be written.
void apply_settings(verbs::Configuration& settings);

}  // namespace weft::compat
