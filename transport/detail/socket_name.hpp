// SPDX-License-Identifier: Apache-2.0
// Private to transport/: where a socket is bound, and where its peer is.
#pragma once

#include <sys/socket.h>

#include <expected>
#include <system_error>

#include "transport/detail/last_error.hpp"
#include "transport/endpoint.hpp"

namespace weft::transport {

// `which`: getsockname or getpeername.
inline std::expected<Endpoint, std::error_code> socket_name(int (*which)(int, sockaddr*, socklen_t*), int descriptor) {
  sockaddr_storage storage{};
  socklen_t length = sizeof storage;
  auto* address = reinterpret_cast<sockaddr*>(&storage);
  if (which(descriptor, address, &length) != 0) return std::unexpected(last_error());
  return Endpoint::from_sockaddr(address, length);
}

}  // namespace weft::transport
