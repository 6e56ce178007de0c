// SPDX-License-Identifier: Apache-2.0
// rsockets connected within this process, by the functions behind rdma/rsocket.h.
#pragma once

#include <gtest/gtest.h>
#include <netinet/in.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <utility>

#include "compat/rsockets/calls.hpp"

namespace weft::compat::rsockets::test {

inline constexpr int kPatience = 20'000;  // ms; sanitizers and a shared machine are slow

// Closes what it holds.
class Owner {
 public:
  explicit Owner(int number = -1) : number_(number) {}
  Owner(Owner&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Owner& operator=(Owner&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Owner() {
    if (number_ >= 0) close(number_);
  }
  [[nodiscard]] int number() const { return number_; }
  int release() { return std::exchange(number_, -1); }

 private:
  int number_;
};

struct At {
  sockaddr_storage storage{};
  socklen_t length = sizeof(sockaddr_storage);
  [[nodiscard]] const sockaddr* address() const { return reinterpret_cast<const sockaddr*>(&storage); }
  [[nodiscard]] sockaddr* address() { return reinterpret_cast<sockaddr*>(&storage); }
  [[nodiscard]] std::uint16_t port() const;
};
At loopback_of(int family, std::uint16_t port = 0);
At name_of(int number);

// A listener on the loopback address, at a free port.
Owner listener(int family = AF_INET);

inline ssize_t put(int number, std::string_view octets, int flags = 0) {
  const iovec piece{.iov_base = const_cast<char*>(octets.data()), .iov_len = octets.size()};
  return send(number, &piece, 1, flags);
}
inline ssize_t get(int number, void* into, std::size_t size, int flags = 0) {
  const iovec piece{.iov_base = into, .iov_len = size};
  return receive(number, &piece, 1, flags);
}
// What comes next, up to so much.
std::string get_text(int number, std::size_t most = 100, int flags = 0);

// Its revents, after `events` or an error came.
short wait_for(int number, int events, int milliseconds = kPatience);
int option(int number, int level, int name);

template <typename Answer>
void expect_refused(Answer answer, int error) {
  EXPECT_EQ(static_cast<ssize_t>(answer), -1);
  EXPECT_EQ(errno, error) << "not " << error << " but " << errno;
}

// `prepare`: called with the listener and with the client, before they are used.
struct Pair {
  explicit Pair(int family = AF_INET, void (*prepare)(int) = nullptr);
  Owner listening;
  Owner client;
  Owner server;
};

// Octets that look random.
std::string pattern(std::size_t size, unsigned seed = 1);
// Sends `count` pieces in a thread, and expects them at the other end.
void exchange(int from, int to, std::size_t piece, std::size_t count);

}  // namespace weft::compat::rsockets::test
