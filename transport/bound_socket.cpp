// SPDX-License-Identifier: Apache-2.0
#include "transport/bound_socket.hpp"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "transport/detail/last_error.hpp"

namespace weft::transport {

namespace {

void set(int descriptor, int level, int name, bool value) noexcept {
  const int on = value ? 1 : 0;
  setsockopt(descriptor, level, name, &on, sizeof on);  // of a fresh socket: cannot fail
}

std::expected<Endpoint, std::error_code> local_of(int descriptor) {
  sockaddr_storage storage{};
  socklen_t length = sizeof storage;
  auto* address = reinterpret_cast<sockaddr*>(&storage);
  if (getsockname(descriptor, address, &length) != 0) return std::unexpected(last_error());
  return Endpoint::from_sockaddr(address, length);
}

}  // namespace

// SO_REUSEADDR on Linux does two things: it ignores what old connections have left of a port, which every server needs
// that is started again, and it shares the port with whoever sets it too. The kernel compares both sockets' options as
// they are at that moment. So it is set where the port is refused without it, and taken back once that succeeded.
std::expected<BoundSocket, std::error_code> BoundSocket::bind(const Endpoint& at, const AddressOptions& options) {
  sockaddr_storage storage{};
  const socklen_t length = at.to_sockaddr(storage);
  const auto* address = reinterpret_cast<const sockaddr*>(&storage);
  BoundSocket made;
  made.descriptor_ = ::socket(storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP);
  if (!made.is_open()) return std::unexpected(last_error());
  if (options.ipv6_only && storage.ss_family == AF_INET6) {
    set(made.descriptor_, IPPROTO_IPV6, IPV6_V6ONLY, *options.ipv6_only);
  }
  if (options.reuse) made.allow_reuse(true);
  int result = ::bind(made.descriptor_, address, length);
  if (result != 0 && errno == EADDRINUSE && !options.reuse && at.port != 0) {
    made.allow_reuse(true);
    result = ::bind(made.descriptor_, address, length);
    if (result == 0) made.allow_reuse(false);
  }
  if (result != 0) return std::unexpected(last_error());
  const auto local = local_of(made.descriptor_);
  if (!local) return std::unexpected(local.error());
  made.local_ = *local;
  return made;
}

BoundSocket::~BoundSocket() {
  if (is_open()) ::close(descriptor_);
}

void BoundSocket::allow_reuse(bool on) noexcept { set(descriptor_, SOL_SOCKET, SO_REUSEADDR, on); }

std::expected<BoundSocket, std::error_code> BoundSocket::again(const Address& at, const AddressOptions& options) {
  int reuse = 0;
  socklen_t length = sizeof reuse;
  getsockopt(descriptor_, SOL_SOCKET, SO_REUSEADDR, &reuse, &length);
  allow_reuse(true);
  auto next = bind({at, local_.port}, {.reuse = true, .ipv6_only = options.ipv6_only});
  if (next) next->allow_reuse(options.reuse);
  if (!next) allow_reuse(reuse != 0);
  return next;
}

// Its listener and its connections are to have SO_REUSEADDR: TIME_WAIT keeps the option of the socket that it was.
int BoundSocket::release() noexcept {
  allow_reuse(true);
  return std::exchange(descriptor_, -1);
}

}  // namespace weft::transport
