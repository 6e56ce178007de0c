// SPDX-License-Identifier: Apache-2.0
#include "transport/readiness_set.hpp"

#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "transport/detail/last_error.hpp"
#include "transport/own_descriptors.hpp"

namespace weft::transport {
namespace {

// The kernel reports EPOLLHUP and EPOLLERR whatever is asked for. While neither reading nor writing is, EPOLLONESHOT
// keeps a dead connection from waking the progress thread forever.
std::uint32_t events_of(Interest interest) noexcept {
  if (!interest.read && !interest.write)
    return EPOLLONESHOT | (interest.end ? static_cast<std::uint32_t>(EPOLLRDHUP) : 0U);
  return (interest.read ? static_cast<std::uint32_t>(EPOLLIN) : 0U) |
         (interest.write ? static_cast<std::uint32_t>(EPOLLOUT) : 0U);
}

std::error_code control(int set, int operation, int socket, std::uint64_t token, std::uint32_t events) noexcept {
  epoll_event event{};
  event.events = events;
  event.data.u64 = token;
  return epoll_ctl(set, operation, socket, &event) == 0 ? std::error_code{} : last_error();
}

std::error_code control(int set, int operation, int socket, std::uint64_t token, Interest interest) noexcept {
  return control(set, operation, socket, token, events_of(interest));
}

constexpr std::uint32_t kEdges = EPOLLIN | EPOLLET;

Ready to_ready(const epoll_event& event) noexcept {
  return {.token = event.data.u64,
          .readable = (event.events & EPOLLIN) != 0,
          .writable = (event.events & EPOLLOUT) != 0,
          .hangup = (event.events & (EPOLLHUP | EPOLLERR | EPOLLRDHUP)) != 0};
}

}  // namespace

std::expected<ReadinessSet, std::error_code> ReadinessSet::create() {
  const int descriptor = move_up(epoll_create1(EPOLL_CLOEXEC));
  if (descriptor < 0) return std::unexpected(last_error());
  return ReadinessSet(descriptor);
}

ReadinessSet::~ReadinessSet() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

ReadinessSet& ReadinessSet::operator=(ReadinessSet&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

std::error_code ReadinessSet::add(const Socket& socket, std::uint64_t token, Interest interest) noexcept {
  return control(descriptor_, EPOLL_CTL_ADD, socket.descriptor(), token, interest);
}

std::error_code ReadinessSet::watch(int descriptor, std::uint64_t token) noexcept {
  return control(descriptor_, EPOLL_CTL_ADD, descriptor, token, kReadInterest);
}

std::error_code ReadinessSet::add_edges(const Socket& socket, std::uint64_t token) noexcept {
  return control(descriptor_, EPOLL_CTL_ADD, socket.descriptor(), token, kEdges);
}

std::error_code ReadinessSet::repeat_edge(const Socket& socket, std::uint64_t token) noexcept {
  return control(descriptor_, EPOLL_CTL_MOD, socket.descriptor(), token, kEdges);
}

std::error_code ReadinessSet::modify(const Socket& socket, std::uint64_t token, Interest interest) noexcept {
  return control(descriptor_, EPOLL_CTL_MOD, socket.descriptor(), token, interest);
}

std::error_code ReadinessSet::remove(const Socket& socket) noexcept {
  return control(descriptor_, EPOLL_CTL_DEL, socket.descriptor(), 0, kNoInterest);
}

std::size_t ReadinessSet::wait(std::span<Ready> ready, std::chrono::milliseconds timeout) {
  if (ready.empty()) return 0;
  std::array<epoll_event, kMaxReady> events;
  const auto room = static_cast<int>(std::min(ready.size(), kMaxReady));
  // EINTR counts as nothing ready: every caller is in a loop.
  const int count = epoll_wait(descriptor_, events.data(), room, static_cast<int>(timeout.count()));
  if (count == 0) errno = 0;
  if (count <= 0) return 0;
  const auto found = std::span(events).first(static_cast<std::size_t>(count));
  std::ranges::transform(found, ready.begin(), to_ready);
  return found.size();
}

bool ReadinessSet::any_ready() const {
  pollfd set{.fd = descriptor_, .events = POLLIN, .revents = 0};
  return ::poll(&set, 1, 0) == 1 && (set.revents & POLLIN) != 0;
}

bool ReadinessSet::was_there() noexcept { return errno != EBADF && errno != EINVAL; }

}  // namespace weft::transport
