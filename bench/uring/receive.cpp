// SPDX-License-Identifier: Apache-2.0
// A stream received: large reads into one hot staging buffer, as weft does it, beside io_uring.
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench/uring/end.hpp"
#include "bench/uring/source.hpp"
#include "bench/uring/support.hpp"

namespace weft::uring {
namespace {

constexpr unsigned kStreamBuffers = 16;
constexpr std::size_t kStreamBufferOctets = 64 * 1024;

class EpollReceiver final : public End {
 public:
  explicit EpollReceiver(int socket) : socket_(socket), set_(epoll_create1(EPOLL_CLOEXEC)), staging_(kReadOctets) {
    epoll_event event{.events = EPOLLIN, .data = {.fd = socket}};
    need(epoll_ctl(set_, EPOLL_CTL_ADD, socket, &event) == 0, "epoll_ctl");
  }
  ~EpollReceiver() override { close(set_); }

  void work_until(std::uint64_t total) override {
    while (received_ < total) {
      epoll_event ready{};
      if (counted(epoll_wait(set_, &ready, 1, -1)) == 1) drive();
    }
  }

 private:
  void drive() {
    for (int reads = 0; reads < kMaxReads; ++reads) {
      const auto got = counted(recv(socket_, staging_.data(), staging_.size(), MSG_DONTWAIT));
      if (got < 0 && errno == EAGAIN) return;
      need(got > 0, "recv");
      received_ += static_cast<std::uint64_t>(got);
      if (static_cast<std::size_t>(got) < staging_.size()) return;
    }
  }

  int socket_;
  int set_;
  Memory staging_;
  std::uint64_t received_ = 0;
};

class UringReceiver final : public End {
 public:
  UringReceiver(const RingOptions& options, std::span<const int> sockets)
      : options_(options), ring_(options), socket_(sockets[0]) {
    if (options.fixed_files) ring_.register_files(sockets);
    if (options.multishot) ring_.provide_buffers(kStreamBuffers, kStreamBufferOctets);
    ask();
  }

  void work_until(std::uint64_t total) override {
    while (received_ < total) {
      ring_.submit_and_wait();
      ring_.completions([this](const io_uring_cqe& completion) { handle(completion); });
    }
  }

 private:
  void ask() {
    io_uring_sqe& entry = ring_.next();
    entry.opcode = IORING_OP_RECV;
    entry.fd = options_.fixed_files ? 0 : socket_;
    entry.flags = options_.fixed_files ? IOSQE_FIXED_FILE : 0U;
    if (options_.multishot) {
      entry.ioprio = IORING_RECV_MULTISHOT;
      entry.flags |= IOSQE_BUFFER_SELECT;
      return;
    }
    entry.addr = reinterpret_cast<std::uint64_t>(staging_.data());
    entry.len = static_cast<unsigned>(staging_.size());
  }

  void handle(const io_uring_cqe& completion) {
    if ((completion.flags & IORING_CQE_F_BUFFER) != 0) ring_.give_back(completion.flags >> IORING_CQE_BUFFER_SHIFT);
    // All buffers may be waiting here to be read: then the multishot ends and is asked for again.
    if (completion.res != -ENOBUFS) received_ += static_cast<std::uint64_t>(need_result(completion.res, "recv"));
    if ((completion.flags & IORING_CQE_F_MORE) == 0) ask();
  }

  RingOptions options_;
  Ring ring_;
  int socket_;
  Memory staging_{kReadOctets};
  std::uint64_t received_ = 0;
};

}  // namespace

MakeEnd receive_with_epoll() {
  return [](std::span<const int> sockets) { return std::make_unique<EpollReceiver>(sockets[0]); };
}
MakeEnd receive_with(RingOptions options) {
  return [options](std::span<const int> sockets) { return std::make_unique<UringReceiver>(options, sockets); };
}

}  // namespace weft::uring
