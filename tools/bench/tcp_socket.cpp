// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/tcp_socket.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <string>

#include "tools/bench/patience.hpp"
#include "tools/bench/policy.hpp"
#include "transport/system_words.hpp"

namespace weft::tools::bench {
namespace {

constexpr std::uint32_t kMaxList = 1024;  // IOV_MAX

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

const sockaddr* generic(const sockaddr_in& address) { return reinterpret_cast<const sockaddr*>(&address); }

Outcome<UniqueFd> prepared(UniqueFd fd) {
  const int on = 1;
  const timeval patience{.tv_sec = kPatience.count(), .tv_usec = 0};
  if (::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0 ||
      ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) != 0 ||
      ::setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience) != 0) {
    return socket_failure("setsockopt");
  }
  return fd;
}

// TCP_MAXSEG counts the 12 octets of the time stamps that the kernel puts into each segment.
bool apply(int fd, const TcpSettings& settings) {
  constexpr int kTimestamps = 12;
  const int mss = static_cast<int>(settings.emss) + kTimestamps;
  if (settings.emss != 0 && ::setsockopt(fd, IPPROTO_TCP, TCP_MAXSEG, &mss, sizeof mss) != 0) return false;
  const std::string& algorithm = settings.congestion_control;
  const auto length = static_cast<socklen_t>(algorithm.size());
  return algorithm.empty() || ::setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, algorithm.data(), length) == 0;
}

bool out_of_patience(std::optional<std::chrono::steady_clock::time_point>& started) {
  const auto now = std::chrono::steady_clock::now();
  if (!started) started = now;
  return now - *started > kPatience;
}

// Repeats `call(flags)` until it moved something. A sleeping call has the socket's own timeout.
template <typename Call>
Outcome<std::size_t> patiently(Waiting waiting, const char* what, Call call) {
  const int flags = waiting == Waiting::kPoll ? MSG_DONTWAIT : 0;
  std::optional<std::chrono::steady_clock::time_point> started;
  for (std::uint32_t spins = 1;; ++spins) {
    const ssize_t moved = call(flags);
    if (moved >= 0) return static_cast<std::size_t>(moved);
    if (errno != EINTR && !(errno == EAGAIN && waiting == Waiting::kPoll)) return socket_failure(what);
    if (spins % kSpinsBeforeYield == 0) ::sched_yield();
    // The clock is looked at rarely: it must not slow the spinning down.
    if (spins % 65536 == 0 && out_of_patience(started)) return failure("raw TCP: no answer from the other process.");
  }
}

}  // namespace

std::unexpected<Failure> socket_failure(const char* call) {
  return failure(std::string("raw TCP: ") + call + ": " + system_words(errno) + ".");
}

TcpSettings tcp_settings(const Options& options) {
  const auto policy = policy_of(options);
  return {.emss = options.segments.emss,
          .congestion_control = policy ? policy->startup.congestion_control : std::string()};
}

Outcome<TcpListener> tcp_listen_on_loopback(const TcpSettings& settings) {
  UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = loopback(0);
  socklen_t length = sizeof address;
  if (!fd.valid() || !apply(fd.get(), settings) || ::bind(fd.get(), generic(address), length) != 0 ||
      ::listen(fd.get(), SOMAXCONN) != 0 ||
      ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    return socket_failure("listen");
  }
  return TcpListener{std::move(fd), ntohs(address.sin_port)};
}

Outcome<UniqueFd> tcp_accept(const TcpListener& listener) {
  UniqueFd fd(::accept4(listener.fd.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!fd.valid()) return socket_failure("accept");
  return prepared(std::move(fd));
}

Outcome<UniqueFd> tcp_connect_to_loopback(std::uint16_t port, const TcpSettings& settings) {
  UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in address = loopback(port);
  if (!fd.valid() || !apply(fd.get(), settings) || ::connect(fd.get(), generic(address), sizeof address) != 0)
    return socket_failure("connect");
  return prepared(std::move(fd));
}

Outcome<void> tcp_send(RawStream& stream, Bytes octets, Waiting waiting) {
  while (!octets.empty()) {
    const iovec piece{const_cast<std::byte*>(octets.data()), octets.size()};
    const auto sent = patiently(waiting, "send", [&](int flags) { return stream.send({&piece, 1}, flags); });
    if (!sent) return std::unexpected(sent.error());
    octets = octets.subspan(*sent);
  }
  return {};
}

Outcome<void> tcp_send_list(RawStream& stream, Bytes message, std::uint32_t count, Waiting waiting) {
  iovec pieces[kMaxList];
  while (count > 0) {
    const std::uint32_t now = std::min(count, kMaxList);
    std::fill_n(pieces, now, iovec{const_cast<std::byte*>(message.data()), message.size()});
    const auto sent = patiently(waiting, "sendmsg", [&](int flags) { return stream.send({pieces, now}, flags); });
    if (!sent) return std::unexpected(sent.error());
    count -= static_cast<std::uint32_t>(*sent / message.size());
    const std::size_t cut = *sent % message.size();
    if (cut == 0) continue;
    if (auto rest = tcp_send(stream, message.subspan(cut), waiting); !rest) return rest;
    --count;
  }
  return {};
}

Outcome<std::size_t> tcp_receive_some(RawStream& stream, MutableBytes octets, Waiting waiting) {
  const auto got = patiently(waiting, "recv", [&](int flags) { return stream.receive(octets, flags); });
  if (got && *got == 0) return failure("raw TCP: the other process closed the connection.");
  return got;
}

Outcome<void> tcp_receive(RawStream& stream, MutableBytes octets, Waiting waiting) {
  while (!octets.empty()) {
    const auto got = tcp_receive_some(stream, octets, waiting);
    if (!got) return std::unexpected(got.error());
    octets = octets.subspan(*got);
  }
  return {};
}

Outcome<void> tcp_receive_end(RawStream& stream) {
  std::array<std::byte, 256> dropped;
  for (;;) {
    const auto got = patiently(Waiting::kSleep, "recv", [&](int flags) { return stream.receive(dropped, flags); });
    if (!got) return std::unexpected(got.error());
    if (*got == 0) return {};
  }
}

}  // namespace weft::tools::bench
