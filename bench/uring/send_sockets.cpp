// SPDX-License-Identifier: Apache-2.0
// A stream sent with sendmsg: copied by the kernel, or with MSG_ZEROCOPY and its notifications.
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <time.h>  // which linux/errqueue.h needs and does not include

#include <linux/errqueue.h>

#include <algorithm>
#include <array>
#include <vector>

#include "bench/uring/end.hpp"
#include "bench/uring/source.hpp"
#include "bench/uring/support.hpp"

namespace weft::uring {
namespace {

// What the socket tells then; POLLERR always.
short wait_for(int socket, short events) {
  pollfd one{.fd = socket, .events = events, .revents = 0};
  counted(poll(&one, 1, -1));
  return one.revents;
}

class Sender : public End {
 public:
  Sender(int socket, std::size_t octets, int flags) : socket_(socket), source_(octets), flags_(flags) {}

  void work_until(std::uint64_t total) override {
    for (; sent_ < total; sent_ += source_.octets()) send_whole(source_.next());
  }

 protected:
  [[nodiscard]] int socket() const { return socket_; }
  virtual void wait_for_room() { wait_for(socket_, POLLOUT); }
  virtual void sent_one() {}  // after each sendmsg that took octets
  virtual void no_buffers() { need(false, "sendmsg"); }

 private:
  void send_whole(char* octets) {
    for (std::size_t done = 0; done < source_.octets();) {
      iovec piece{.iov_base = octets + done, .iov_len = source_.octets() - done};
      msghdr message{};
      message.msg_iov = &piece;
      message.msg_iovlen = 1;
      const auto put = counted(sendmsg(socket_, &message, MSG_NOSIGNAL | MSG_DONTWAIT | flags_));
      if (put < 0 && errno == ENOBUFS) {
        no_buffers();
      } else if (put < 0) {
        need(errno == EAGAIN, "sendmsg");
        wait_for_room();
      } else {
        done += static_cast<std::size_t>(put);
        sent_one();
      }
    }
  }

  int socket_;
  Source source_;
  int flags_;
  std::uint64_t sent_ = 0;
};

class ZeroCopySender final : public Sender {
 public:
  ZeroCopySender(int socket, std::size_t octets) : Sender(socket, octets, MSG_ZEROCOPY) {
    const int on = 1;
    need(setsockopt(socket, SOL_SOCKET, SO_ZEROCOPY, &on, sizeof on) == 0, "SO_ZEROCOPY");
  }

  void work_until(std::uint64_t total) override {
    Sender::work_until(total);
    while (pending_ != 0) read_notifications(true);
  }
  [[nodiscard]] double copied() const override { return told_ == 0 ? 0 : copied_ / told_; }

 private:
  static constexpr std::uint64_t kMostPending = Source::kMessages;

  void sent_one() override {
    ++pending_;
    while (pending_ >= kMostPending) read_notifications(true);
  }
  // A notification that waits ends each poll, so it is read.
  void wait_for_room() override {
    if ((wait_for(socket(), POLLOUT) & POLLERR) != 0) read_notifications(false);
  }
  void no_buffers() override { read_notifications(true); }  // net.core.optmem_max, or RLIMIT_MEMLOCK

  // One notification may tell of several sends that ended together.
  void read_notifications(bool wait) {
    alignas(cmsghdr) std::array<char, 128> control;
    msghdr message{};
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    if (counted(recvmsg(socket(), &message, MSG_ERRQUEUE | MSG_DONTWAIT)) < 0) {
      need(errno == EAGAIN, "recvmsg of the error queue");
      if (wait) wait_for(socket(), 0);  // POLLERR is always told
      return;
    }
    for (cmsghdr* one = CMSG_FIRSTHDR(&message); one != nullptr; one = CMSG_NXTHDR(&message, one)) note(one);
  }

  void note(cmsghdr* control) {
    if (control->cmsg_level != SOL_IP || control->cmsg_type != IP_RECVERR) return;
    sock_extended_err error{};
    std::memcpy(&error, CMSG_DATA(control), sizeof error);
    if (error.ee_origin != SO_EE_ORIGIN_ZEROCOPY) return;
    const std::uint32_t sends = error.ee_data - error.ee_info + 1;
    pending_ -= std::min<std::uint64_t>(sends, pending_);
    told_ += sends;
    if ((error.ee_code & SO_EE_CODE_ZEROCOPY_COPIED) != 0) copied_ += sends;
  }

  std::uint64_t pending_ = 0;
  double told_ = 0;
  double copied_ = 0;
};

// What the copy alone costs: as much memory, into as much as a socket's send buffer holds of it.
class Copier final : public End {
 public:
  explicit Copier(std::size_t octets) : source_(octets), sink_(kReadOctets) {}
  void work_until(std::uint64_t total) override {
    for (; copied_ < total; copied_ += source_.octets()) {
      const char* from = source_.next();
      for (std::size_t done = 0; done < source_.octets(); done += sink_.size()) {
        std::memcpy(sink_.data(), from + done, std::min(sink_.size(), source_.octets() - done));
        asm volatile("" : : "r"(sink_.data()) : "memory");  // as if somebody read it
      }
    }
  }

 private:
  Source source_;
  std::vector<char> sink_;  // begins near the start of a page, as the kernel's memory does
  std::uint64_t copied_ = 0;
};

}  // namespace

MakeEnd send_copies(std::size_t octets) {
  return [octets](std::span<const int> sockets) { return std::make_unique<Sender>(sockets[0], octets, 0); };
}
MakeEnd send_zero_copy(std::size_t octets) {
  return [octets](std::span<const int> sockets) { return std::make_unique<ZeroCopySender>(sockets[0], octets); };
}
MakeEnd copy_only(std::size_t octets) {
  return [octets](std::span<const int>) { return std::make_unique<Copier>(octets); };
}

}  // namespace weft::uring
