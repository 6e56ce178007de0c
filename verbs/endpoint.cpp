// SPDX-License-Identifier: Apache-2.0
#include "verbs/endpoint.hpp"

#include <netdb.h>
#include <sys/socket.h>

#include <memory>

namespace weft::verbs {

Result<Endpoint> lookup(const std::string& host, std::uint16_t port) {
  if (const auto numeric = Address::parse(host)) return Endpoint{*numeric, port};
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), nullptr, &hints, &found) != 0) {
    return fail(Errc::kUnreachable, "host", "not an address, and no such name is known");
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> list(found, &freeaddrinfo);
  auto endpoint = Endpoint::from_sockaddr(list->ai_addr, list->ai_addrlen);
  if (!endpoint) return fail(Errc::kNotSupported, "host", "its address is neither IPv4 nor IPv6");
  endpoint->port = port;
  return *endpoint;
}

}  // namespace weft::verbs
