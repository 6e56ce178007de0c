// SPDX-License-Identifier: Apache-2.0
#include "tests/compat/rsocket_pair.hpp"

#include <fcntl.h>

#include <cstring>
#include <stdexcept>
#include <thread>

namespace weft::compat::rsockets::test {

namespace {

int must(int answer, const char* what) {
  if (answer < 0) throw std::runtime_error(std::string(what) + ": " + std::strerror(errno));
  return answer;
}

}  // namespace

std::uint16_t At::port() const {
  sockaddr_in6 with_port{};
  std::memcpy(&with_port, &storage, sizeof with_port);
  return ntohs(with_port.sin6_port);  // at the same place in both families
}

At loopback_of(int family, std::uint16_t port) {
  At at;
  sockaddr_in v4{.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(port);
  v6.sin6_addr = in6addr_loopback;
  at.length = family == AF_INET ? sizeof v4 : sizeof v6;
  std::memcpy(&at.storage, family == AF_INET ? static_cast<const void*>(&v4) : &v6, at.length);
  return at;
}

At name_of(int number) {
  At at;
  must(rsockets::getsockname(number, at.address(), &at.length), "rgetsockname");
  return at;
}

Owner listener(int family) {
  Owner made(must(rsockets::socket(family, SOCK_STREAM, 0), "rsocket"));
  const At at = loopback_of(family);
  must(rsockets::bind(made.number(), at.address(), at.length), "rbind");
  must(listen(made.number(), 5), "rlisten");
  return made;
}

std::string get_text(int number, std::size_t most, int flags) {
  std::string text(most, '\0');
  text.resize(static_cast<std::size_t>(must(static_cast<int>(get(number, text.data(), most, flags)), "rrecv")));
  return text;
}

short wait_for(int number, int events, int milliseconds) {
  pollfd one{.fd = number, .events = static_cast<short>(events), .revents = 0};
  must(rsockets::poll(&one, 1, milliseconds), "rpoll");
  return one.revents;
}

int option(int number, int level, int name) {
  int value = -1;
  socklen_t length = sizeof value;
  must(getsockopt(number, level, name, &value, &length), "rgetsockopt");
  return value;
}

Pair::Pair(int family, void (*prepare)(int)) : listening(listener(family)) {
  client = Owner(must(rsockets::socket(family, SOCK_STREAM, 0), "rsocket"));
  if (prepare != nullptr) {
    prepare(listening.number());
    prepare(client.number());
  }
  must(fcntl(client.number(), F_SETFL, O_NONBLOCK), "rfcntl");
  const At at = name_of(listening.number());
  if (rsockets::connect(client.number(), at.address(), at.length) == 0 || errno != EINPROGRESS) {
    throw std::runtime_error("a connection without anybody who accepts it");
  }
  server = Owner(must(accept(listening.number(), nullptr, nullptr), "raccept"));
  if (wait_for(client.number(), POLLOUT) != POLLOUT) throw std::runtime_error("not writable");
  must(fcntl(client.number(), F_SETFL, 0), "rfcntl");
}

std::string pattern(std::size_t size, unsigned seed) {
  std::string text(size, '\0');
  for (auto& octet : text) octet = static_cast<char>((seed = seed * 1664525U + 1013904223U) >> 24U);
  return text;
}

void exchange(int from, int to, std::size_t piece, std::size_t count) {
  const std::string all = pattern(piece * count);
  std::thread writer([&] {
    for (std::size_t i = 0; i < count; ++i) {
      if (put(from, std::string_view(all).substr(i * piece, piece)) == static_cast<ssize_t>(piece)) continue;
      ADD_FAILURE() << "piece " << i << ": " << std::strerror(errno);
      rsockets::shutdown(to, SHUT_RD);  // so that the reader does not wait for it
      return;
    }
  });
  std::string got(all.size(), '\0');
  EXPECT_EQ(get(to, got.data(), got.size(), MSG_WAITALL), static_cast<ssize_t>(got.size()));
  writer.join();
  EXPECT_EQ(got, all);
}

}  // namespace weft::compat::rsockets::test
