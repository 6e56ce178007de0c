// SPDX-License-Identifier: Apache-2.0
#include "raw_socket.hpp"

#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

namespace weft::recordings {

namespace {

constexpr timeval kSocketPatience{.tv_sec = 60, .tv_usec = 0};

int checked(int result, const char* call) {
  if (result < 0) throw std::system_error(errno, std::generic_category(), call);
  return result;
}

}  // namespace

RawSocket::RawSocket(int descriptor) : descriptor_(descriptor) {
  checked(::setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &kSocketPatience, sizeof kSocketPatience), "setsockopt");
}
RawSocket::RawSocket(RawSocket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
RawSocket& RawSocket::operator=(RawSocket&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}
RawSocket::~RawSocket() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

RawSocket RawSocket::dial(const verbs::Endpoint& server) {
  sockaddr_storage storage{};
  const auto size = server.to_sockaddr(storage);
  RawSocket made(checked(::socket(storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket"));
  checked(::connect(made.descriptor_, reinterpret_cast<sockaddr*>(&storage), size), "connect");
  return made;
}

RawSocket RawSocket::listen() {
  sockaddr_storage storage{};
  const auto size = verbs::Endpoint{verbs::Address::parse("127.0.0.1").value(), 0}.to_sockaddr(storage);
  RawSocket made(checked(::socket(storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket"));
  checked(::bind(made.descriptor_, reinterpret_cast<sockaddr*>(&storage), size), "bind");
  checked(::listen(made.descriptor_, 1), "listen");
  return made;
}

verbs::Endpoint RawSocket::local() const {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  checked(::getsockname(descriptor_, reinterpret_cast<sockaddr*>(&storage), &size), "getsockname");
  return verbs::Endpoint::from_sockaddr(reinterpret_cast<const sockaddr*>(&storage), size).value();
}

RawSocket RawSocket::accept() const {
  return RawSocket(checked(::accept4(descriptor_, nullptr, nullptr, SOCK_CLOEXEC), "accept"));
}

void RawSocket::send(Bytes octets) const {
  while (!octets.empty()) {
    const auto sent = ::send(descriptor_, octets.data(), octets.size(), MSG_NOSIGNAL);
    octets = octets.subspan(static_cast<std::size_t>(checked(static_cast<int>(sent), "send")));
  }
}

void RawSocket::finish() const { checked(::shutdown(descriptor_, SHUT_WR), "shutdown"); }

std::vector<std::byte> RawSocket::read(std::size_t octets) const {
  std::vector<std::byte> all(octets);
  if (octets == 0) return all;  // recv() would wait for the next one
  const auto got = checked(static_cast<int>(::recv(descriptor_, all.data(), octets, MSG_WAITALL)), "recv");
  if (static_cast<std::size_t>(got) != octets) throw std::runtime_error("the peer closed too early");
  return all;
}

std::vector<std::byte> RawSocket::read_to_end() const {
  std::vector<std::byte> all;
  std::array<std::byte, 4096> some;
  for (;;) {
    const int got = checked(static_cast<int>(::recv(descriptor_, some.data(), some.size(), 0)), "recv");
    if (got == 0) return all;
    all.insert(all.end(), some.begin(), some.begin() + got);
  }
}

}  // namespace weft::recordings
