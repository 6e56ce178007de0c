// SPDX-License-Identifier: Apache-2.0
// What the user asks of the drop-in libraries from outside the program (docs/drop-in.md):
//
//   WEFT_LOG     trace, debug, info, warn, error or off
//   WEFT_PCAP    a file that gets every connection's octets as TCP packets
//   WEFT_POLICY  KEY=VALUE,... of every connection's policy
//   WEFT_CONFIG  a file with lines "log = ...", "pcap = ...", "KEY = VALUE"; the variables win
//
// All of them are ignored under secure execution (setuid, file capabilities): getauxval(AT_SECURE).
#pragma once

#include <string>
#include <string_view>

#include "verbs/policy.hpp"

namespace weft::compat {

// Read at the first call that opens a device or makes an event channel, not when the library is loaded. What cannot be
// understood is told on standard error, and left out.
const verbs::Policy& connection_policy();

// "mpa-rev=1,crc=off": keys and values of the policy. The error names the key or the value. `weft run --policy` checks
// with the same function.
struct PolicyError {
  std::string text{};
};
[[nodiscard]] std::expected<verbs::Policy, PolicyError> parse_policy(std::string_view text,
                                                                     const verbs::Policy& base = {});

}  // namespace weft::compat
