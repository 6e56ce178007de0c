// SPDX-License-Identifier: Apache-2.0
// What the user asks of the drop-in libraries from outside the program (docs/drop-in.md): the variables that
// verbs/environment.hpp lists, and a policy for every connection.
#pragma once

#include "verbs/environment.hpp"

namespace weft::compat {

// The first call reads the variables, sets log level and capture file, and tells on standard error, a line each, what
// cannot be understood or done: that is left out. Call it when a program opens a device or makes an event channel, not
// when the library is loaded.
const verbs::Policy& connection_policy();

// What devices show themselves as. Reads the variables, as above.
verbs::DeviceKind device_kind();
// Whether signaled RDMA Writes complete once they are placed. Reads the variables, as above.
bool confirms_writes();
// The TCP ports of queue pairs that the program connects itself. Reads the variables, as above.
verbs::PortRange port_range();

// The part that reads, for tests.
[[nodiscard]] verbs::Configuration read_settings(const verbs::Variable& variable, const verbs::Policy& base = {});

}  // namespace weft::compat
