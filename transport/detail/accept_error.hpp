// SPDX-License-Identifier: Apache-2.0
// The errors of accept(2).
#pragma once

#include <cerrno>

namespace weft::transport {

// Returns whether an errno belongs to one connection that was lost before it was accepted (accept(2) lists these
// errors), or is a signal's: the listener is good, and the next connection may be.
[[nodiscard]] inline bool is_of_one_connection(int error) noexcept {
  switch (error) {
    case EINTR:
    case ECONNABORTED:
    case EPERM:  // a firewall's refusal
    case EPROTO:
    case ENOPROTOOPT:
    case EOPNOTSUPP:
    case ENONET:
    case ENETDOWN:
    case ENETUNREACH:
    case EHOSTDOWN:
    case EHOSTUNREACH: return true;
    default: return false;
  }
}

}  // namespace weft::transport
