// SPDX-License-Identifier: Apache-2.0
// What the user asks of the drop-in libraries from outside the program (docs/drop-in.md): the variables that
// verbs/environment.hpp lists, and a policy for every connection.
#pragma once

#include <cerrno>
#include <cstdint>

#include "verbs/environment.hpp"
#include "verbs/error.hpp"

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
// What `open` makes of the first port of `range` that is not in use, or of port 0, any, if no range is set. EADDRINUSE
// with `all_in_use` if there is none.
template <typename Open>
[[nodiscard]] auto at_free_port(const verbs::PortRange& range, const char* all_in_use, Open open)
    -> decltype(open(std::uint16_t{})) {
  if (range.first == 0) return open(std::uint16_t{0});
  for (std::uint32_t port = range.first; port <= range.last; ++port) {
    auto opened = open(static_cast<std::uint16_t>(port));
    if (opened || opened.error().code != verbs::Errc::kAddressInUse) return opened;
  }
  return verbs::fail(verbs::Errc::kNoResources, "ports", all_in_use, EADDRINUSE);
}

// The part that reads, for tests.
[[nodiscard]] verbs::Configuration read_settings(const verbs::Variable& variable, const verbs::Policy& base = {});

}  // namespace weft::compat
