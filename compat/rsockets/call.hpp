// SPDX-License-Identifier: Apache-2.0
// What every call on an rsocket begins with.
#pragma once

#include <netinet/in.h>
#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <span>
#include <string_view>
#include <type_traits>

#include "compat/objects/report.hpp"
#include "compat/rsockets/table.hpp"
#include "transport/poll_timeout.hpp"

namespace weft::compat::rsockets {

// This thread is in such a call. Under librspreload.so the sockets that weft itself makes then come here: they are to
// be the kernel's.
class Inside {
 public:
  Inside() noexcept { ++depth(); }
  ~Inside() { --depth(); }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  [[nodiscard]] static bool now() noexcept { return depth() != 0; }

 private:
  static int& depth() noexcept {
    static thread_local int calls = 0;
    return calls;
  }
};

inline int minus_one(int error) noexcept {
  errno = error;
  return -1;
}

// The time that is left, as poll(2) takes it: -1 forever.
inline int milliseconds_until(const Deadline& until) { return until ? transport::poll_timeout(*until) : -1; }

// As ppoll(2), with such a time. It may be canceled.
inline int poll_kernel(std::span<pollfd> list, int milliseconds, const sigset_t* signals) {
  const timespec time{.tv_sec = milliseconds / 1000, .tv_nsec = milliseconds % 1000 * 1'000'000L};
  return wait_for([&] { return ::ppoll(list.data(), list.size(), milliseconds < 0 ? nullptr : &time, signals); });
}

// What a datagram rsocket has no call for.
inline int no_datagrams() noexcept { return minus_one(EOPNOTSUPP); }

// `body(socket, lock)` with the rsocket's lock held, for calls that do not wait and for those that may. `datagram()`,
// where it is the kernel's UDP socket.
template <typename Body>
using AnswerOf = std::invoke_result_t<Body&, Socket&, std::unique_lock<std::mutex>&>;

template <typename Body, typename Datagram>
AnswerOf<Body> call_with_socket(int number, Body& body, Datagram& datagram) {
  const Inside inside;
  const auto socket = find(number);
  if (!socket) return static_cast<AnswerOf<Body>>(find_datagram(number) ? datagram() : -1);
  std::unique_lock lock(socket->mutex);
  return body(*socket, lock);
}

template <typename Body, typename Datagram = decltype(no_datagrams)>
auto on_socket(int number, Body&& body, Datagram&& datagram = no_datagrams) noexcept {
  return guarded([&] { return call_with_socket(number, body, datagram); },
                 [](int error) { return static_cast<AnswerOf<Body>>(minus_one(error)); });
}
template <typename Body, typename Datagram = decltype(no_datagrams)>
auto waiting_on_socket(int number, Body&& body, Datagram&& datagram = no_datagrams) {
  return waiting([&] { return call_with_socket(number, body, datagram); },
                 [](int error) { return static_cast<AnswerOf<Body>>(minus_one(error)); });
}

// SO_RCVTIMEO and SO_SNDTIMEO, of a call that begins now.
inline Deadline deadline_of(const timeval& time) {
  if (time.tv_sec == 0 && time.tv_usec == 0) return {};
  constexpr time_t kLongest = 1 << 30;
  return std::chrono::steady_clock::now() + std::chrono::seconds(std::min(time.tv_sec, kLongest)) +
         std::chrono::microseconds(time.tv_usec);
}

// Converts an address of this family. Returns nothing, with errno, for others.
std::optional<verbs::Endpoint> endpoint(const sockaddr* address, socklen_t length, int family);
// Writes as much of the address as the program has room for, and its full length.
int give_address(const verbs::Endpoint& from, int family, sockaddr* address, socklen_t* length);

}  // namespace weft::compat::rsockets
