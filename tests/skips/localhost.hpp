// SPDX-License-Identifier: Apache-2.0
// Some bare systems have no /etc/hosts, and then the name localhost is not known.
#pragma once

#include <netdb.h>

namespace weft::test {

inline bool localhost_has_an_address() {
  addrinfo* found = nullptr;
  if (getaddrinfo("localhost", nullptr, nullptr, &found) != 0) return false;
  freeaddrinfo(found);
  return true;
}

inline constexpr const char* kNoLocalhost =
    "this system gives the name localhost no address (no /etc/hosts, no Debian package libnss-myhostname): that names "
    "are "
    "looked up is not tested";

}  // namespace weft::test
