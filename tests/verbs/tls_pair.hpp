// SPDX-License-Identifier: Apache-2.0
// Ends of connections that go through TLS.
#pragma once

#include <sys/socket.h>

#include <stdexcept>
#include <string>

#include "loopback.hpp"
#include "tests/transport/tls_keys.hpp"

namespace weft::verbs::test {

using transport::test::TlsKeys;

// NAME.pem of these, and its CA.
inline Policy tls_policy(const TlsKeys& keys, const std::string& name, Tls tls = Tls::kRequire) {
  return {.tls = {.mode = tls, .certificate = keys.path(name + ".pem"), .ca = keys.path("ca.pem")}};
}
inline PairOptions tls_pair(const TlsKeys& keys) {
  return {.client_policy = tls_policy(keys, "client"), .server_policy = tls_policy(keys, "server")};
}

// Its socket among the descriptors of this process.
inline int socket_of(const Endpoint& local, const Endpoint& remote) {
  for (int descriptor = 3; descriptor < 1024; ++descriptor) {
    sockaddr_storage name{};
    socklen_t length = sizeof name;
    const auto is = [&](const Endpoint& wanted) {
      const auto found = Endpoint::from_sockaddr(reinterpret_cast<const sockaddr*>(&name), length);
      return found && *found == wanted;
    };
    auto* const address = reinterpret_cast<sockaddr*>(&name);
    if (::getsockname(descriptor, address, &length) != 0 || !is(local)) continue;
    length = sizeof name;
    if (::getpeername(descriptor, address, &length) == 0 && is(remote)) return descriptor;
  }
  throw std::runtime_error("no such socket");
}

}  // namespace weft::verbs::test
