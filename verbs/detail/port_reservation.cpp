// SPDX-License-Identifier: Apache-2.0
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "verbs/detail/connection_state.hpp"

namespace weft::verbs::detail {

Result<PortReservation> PortReservation::make(const Endpoint& at) {
  sockaddr_storage storage{};
  socklen_t size = at.to_sockaddr(storage);
  auto* address = reinterpret_cast<sockaddr*>(&storage);
  const int descriptor = ::socket(storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP);
  if (descriptor < 0) return fail(Errc::kSystem, "local", "cannot create a socket", errno);
  PortReservation made(descriptor, at);
  const int on = 1;
  // So that the listener may bind while the reservation still stands.
  setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(descriptor, address, size) != 0) {
    const bool in_use = errno == EADDRINUSE;
    return fail(in_use ? Errc::kAddressInUse : Errc::kInvalidArgument, "local", "cannot bind to this address", errno);
  }
  size = sizeof storage;
  if (::getsockname(descriptor, address, &size) != 0) return fail(Errc::kSystem, "local", "has no name", errno);
  if (const auto bound = Endpoint::from_sockaddr(address, size)) made.local_ = *bound;
  return made;
}

PortReservation::~PortReservation() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace weft::verbs::detail
