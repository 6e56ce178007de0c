// SPDX-License-Identifier: Apache-2.0
// Requests answered with the system calls of sockets.
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <vector>

#include "bench/uring/end.hpp"
#include "bench/uring/support.hpp"

namespace weft::uring {
namespace {

void answer(int socket) {
  static constexpr std::array<char, kRequestOctets> kAnswer{};
  iovec piece{.iov_base = const_cast<char*>(kAnswer.data()), .iov_len = kAnswer.size()};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  const auto put = counted(sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT));
  need(put == static_cast<ssize_t>(kRequestOctets), "sendmsg");
}

// As weft's progress thread: transport/readiness_thread.cpp, Stream::drive. A short read says that the socket is empty.
class EpollEnd final : public End {
 public:
  explicit EpollEnd(std::span<const int> sockets) : set_(epoll_create1(EPOLL_CLOEXEC)), staging_(kReadOctets) {
    need(set_ >= 0, "epoll_create1");
    for (const int socket : sockets) {
      epoll_event event{.events = EPOLLIN, .data = {.fd = socket}};
      need(epoll_ctl(set_, EPOLL_CTL_ADD, socket, &event) == 0, "epoll_ctl");
    }
  }
  ~EpollEnd() override { close(set_); }

  void work_until(std::uint64_t total) override {
    std::array<epoll_event, 64> ready;  // ReadinessSet::kMaxReady
    while (answered_ < total) {
      const int count = counted(epoll_wait(set_, ready.data(), static_cast<int>(ready.size()), -1));
      for (int i = 0; i < count; ++i) serve(ready[static_cast<std::size_t>(i)].data.fd);
    }
  }

 private:
  void serve(int socket) {
    const auto got = counted(recv(socket, staging_.data(), staging_.size(), MSG_DONTWAIT));
    need(got == static_cast<ssize_t>(kRequestOctets), "recv");
    answer(socket);
    ++answered_;
  }

  int set_;
  std::vector<char> staging_;
  std::uint64_t answered_ = 0;
};

class OneSocketEnd final : public End {
 public:
  OneSocketEnd(int socket, int flags) : socket_(socket), flags_(flags), staging_(kReadOctets) {}

  void work_until(std::uint64_t total) override {
    for (; answered_ < total; ++answered_) {
      ssize_t got = 0;
      do {
        got = counted(recv(socket_, staging_.data(), staging_.size(), flags_));
      } while (got < 0 && (errno == EAGAIN || errno == EINTR));
      need(got == static_cast<ssize_t>(kRequestOctets), "recv");
      answer(socket_);
    }
  }

 private:
  int socket_;
  int flags_;
  std::vector<char> staging_;
  std::uint64_t answered_ = 0;
};

}  // namespace

MakeEnd answer_with_epoll() {
  return [](std::span<const int> sockets) { return std::make_unique<EpollEnd>(sockets); };
}
MakeEnd answer_with_blocking_recv() {
  return [](std::span<const int> sockets) { return std::make_unique<OneSocketEnd>(sockets[0], 0); };
}
MakeEnd answer_with_spinning_recv() {
  return [](std::span<const int> sockets) { return std::make_unique<OneSocketEnd>(sockets[0], MSG_DONTWAIT); };
}

}  // namespace weft::uring
