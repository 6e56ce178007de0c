// SPDX-License-Identifier: Apache-2.0
#include "transport/bound_socket.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "transport/detail/last_error.hpp"
#include "transport/detail/socket_name.hpp"
#include "transport/own_descriptors.hpp"

namespace weft::transport {

namespace {

void set(int descriptor, int level, int name, bool value) noexcept {
  const int on = value ? 1 : 0;
  setsockopt(descriptor, level, name, &on, sizeof on);  // of a fresh socket: cannot fail
}

bool bind_to(int descriptor, const Endpoint& at) noexcept {
  sockaddr_storage storage{};
  const socklen_t length = at.to_sockaddr(storage);
  return ::bind(descriptor, reinterpret_cast<const sockaddr*>(&storage), length) == 0;
}

}  // namespace

std::expected<BoundSocket, std::error_code> BoundSocket::open(Family family, const AddressOptions& options) {
  const bool v6 = family == Family::kIpv6;
  BoundSocket made;
  made.descriptor_ =
      move_up(::socket(v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP));
  if (!made.is_open()) return std::unexpected(last_error());
  if (options.ipv6_only && v6) set(made.descriptor_, IPPROTO_IPV6, IPV6_V6ONLY, *options.ipv6_only);
  if (options.reuse) made.allow_reuse(true);
  return made;
}

std::error_code BoundSocket::ask_local() noexcept {
  const auto local = socket_name(getsockname, descriptor_);
  if (!local) return local.error();
  local_ = *local;
  return {};
}

// SO_REUSEADDR on Linux does two things: it ignores what old connections have left of a port, which every server needs
// that is started again, and it shares the port with any socket that has it set too. The kernel compares both sockets'
// options as they are at that moment. So it is set where the port is refused without it, and taken back once that
// succeeded.
std::expected<BoundSocket, std::error_code> BoundSocket::bind(const Endpoint& at, const AddressOptions& options) {
  auto made = open(at.address.family, options);
  if (!made) return made;
  bool done = bind_to(made->descriptor_, at);
  if (!done && errno == EADDRINUSE && !options.reuse && at.port != 0) {
    made->allow_reuse(true);
    done = bind_to(made->descriptor_, at);
    if (done) made->allow_reuse(false);
  }
  if (!done) return std::unexpected(last_error());
  if (const auto error = made->ask_local()) return std::unexpected(error);
  return made;
}

std::expected<BoundSocket, std::error_code> BoundSocket::at_address(const Address& at, const AddressOptions& options) {
  auto made = open(at.family, options);
  if (!made) return made;
  if (const auto error = made->take_address(at)) return std::unexpected(error);
  return made;
}

std::expected<BoundSocket, std::error_code> BoundSocket::own(int descriptor) {
  BoundSocket made;
  made.descriptor_ = move_up(descriptor);
  if (::fcntl(made.descriptor_, F_SETFL, O_NONBLOCK) != 0) return std::unexpected(last_error());
  if (const auto error = made.ask_local()) return std::unexpected(error);
  return made;
}

std::error_code BoundSocket::take_address(const Address& at) noexcept {
  set(descriptor_, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, true);
  local_ = {at, 0};
  return bind_to(descriptor_, local_) ? std::error_code{} : last_error();
}

std::error_code BoundSocket::pick_port() noexcept {
  if (local_.port != 0) return {};
  set(descriptor_, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, false);
  return bind_to(descriptor_, local_) ? ask_local() : last_error();
}

BoundSocket::~BoundSocket() {
  if (is_open()) ::close(descriptor_);
}

void BoundSocket::allow_reuse(bool on) noexcept { set(descriptor_, SOL_SOCKET, SO_REUSEADDR, on); }

std::expected<BoundSocket, std::error_code> BoundSocket::again(const Address& at, const AddressOptions& options) {
  if (local_.port == 0) return at_address(at, options);
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
