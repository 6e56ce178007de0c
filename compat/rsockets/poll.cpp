// SPDX-License-Identifier: Apache-2.0
// rpoll and rselect: rsockets and the kernel's descriptors in one list. An rsocket's own number is readable when
// something may have happened to it; what that means for its readiness is looked up here.
#include <signal.h>

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "compat/rsockets/call.hpp"
#include "compat/rsockets/calls.hpp"

namespace weft::compat::rsockets {

namespace {

using Clock = std::chrono::steady_clock;

short with_synonyms(short ready) {
  int all = ready;
  if ((ready & POLLIN) != 0) all |= POLLRDNORM;
  if ((ready & POLLOUT) != 0) all |= POLLWRNORM;
  return static_cast<short>(all);
}

class Waiting {
 public:
  Waiting(std::span<pollfd> wanted, std::vector<std::shared_ptr<Socket>> sockets)
      : wanted_(wanted), sockets_(std::move(sockets)), kernel_(wanted.begin(), wanted.end()) {}

  // Returns how many are ready now; -1 and errno.
  int look() {
    hide_rsockets();
    if (::poll(kernel_.data(), kernel_.size(), 0) < 0) return -1;
    int ready = 0;
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      wanted_[i].revents = sockets_[i] ? look_at(*sockets_[i], wanted_[i].events) : kernel_[i].revents;
      if (wanted_[i].revents != 0) ++ready;
    }
    return ready;
  }

  // Until something happens, which need not make anything ready. -1 and errno; 0: the time is over.
  int sleep(int milliseconds, const sigset_t* signals) {
    const Sleep until_return{*this};
    if (!prepare()) return 1;
    return poll_kernel(kernel_, milliseconds, signals);
  }

 private:
  // Under its lock.
  static short ready(Socket& socket, short events) {
    const int always = POLLERR | POLLHUP;
    return static_cast<short>(with_synonyms(socket.readiness()) & (events | always));
  }
  static short look_at(Socket& socket, short events) {
    std::unique_lock lock(socket.mutex);
    socket.progress();
    const short found = ready(socket, events);
    if (found == 0) socket.let_others_run(lock);
    return found;
  }

  void hide_rsockets() {
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      if (sockets_[i]) kernel_[i].fd = -1;
    }
  }

  struct Sleep {  // ends also when the thread is canceled
    Waiting& waiting;
    ~Sleep() {
      const int error = errno;
      waiting.finish();
      errno = error;
    }
  };

  // Returns false if something has happened to one of them already. Never more than one lock at a time: the list may
  // name a socket twice, and another thread's list may have another order.
  bool prepare() {
    for (; prepared_ < sockets_.size(); ++prepared_) {
      if (sockets_[prepared_] && !prepare(prepared_)) return false;
    }
    return true;
  }
  bool prepare(std::size_t at) {
    Socket& socket = *sockets_[at];
    const std::lock_guard lock(socket.mutex);
    // What happened since the look, another thread may have taken already.
    if (!socket.prepare_wait() || ready(socket, wanted_[at].events) != 0) return false;
    socket.begin_wait();
    // A listener's number stays readable while connections wait; this poll does not wait for those then.
    kernel_[at] = {.fd = socket.accepted_count() != 0 ? -1 : socket.number(), .events = POLLIN, .revents = 0};
    return true;
  }

  void finish() {
    for (const auto& socket : std::span(sockets_).first(std::exchange(prepared_, 0))) {
      if (!socket) continue;
      static_cast<void>(guarded_minus_one([&] {  // without memory, the next look finds what there is
        const std::lock_guard lock(socket->mutex);
        socket->end_wait();
        return 0;
      }));
    }
  }

  const std::span<pollfd> wanted_;
  const std::vector<std::shared_ptr<Socket>> sockets_;
  std::vector<pollfd> kernel_;
  std::size_t prepared_ = 0;  // sockets from the front, for a sleep
};

std::vector<std::shared_ptr<Socket>> sockets_of(std::span<const pollfd> wanted) {
  const int error = errno;
  std::vector<std::shared_ptr<Socket>> sockets;
  sockets.reserve(wanted.size());
  for (const pollfd& one : wanted) sockets.push_back(one.fd >= 0 ? find(one.fd) : nullptr);
  errno = error;
  return sockets;
}

int wait(std::span<pollfd> wanted, std::vector<std::shared_ptr<Socket>> sockets, int timeout, const sigset_t* signals) {
  Waiting waiting(wanted, std::move(sockets));
  Deadline until;
  if (timeout >= 0) until = Clock::now() + std::chrono::milliseconds(timeout);
  for (;;) {
    const int ready = waiting.look();
    const int left = ready == 0 ? milliseconds_until(until) : 0;
    if (left == 0) return ready;
    if (waiting.sleep(left, signals) < 0) return -1;
  }
}

}  // namespace

int poll(pollfd* descriptors, nfds_t count, int timeout, const sigset_t* signals) {
  return waiting_minus_one([&] {
    const Inside inside;
    if (descriptors == nullptr && count != 0) return minus_one(EFAULT);
    const std::span wanted(descriptors, count);
    auto sockets = sockets_of(wanted);
    const bool none = std::ranges::all_of(sockets, [](const auto& socket) { return socket == nullptr; });
    if (!none) return wait(wanted, std::move(sockets), timeout, signals);
    return poll_kernel(wanted, timeout, signals);
  });
}

// --- rselect

namespace {

struct Sets {
  fd_set* read;
  fd_set* write;
  fd_set* except;
};

bool has(const fd_set* set, int number) { return set != nullptr && FD_ISSET(number, set); }

std::vector<pollfd> wishes(int count, const Sets& sets) {
  std::vector<pollfd> list;
  for (int number = 0; number < count; ++number) {
    const int events = (has(sets.read, number) ? POLLIN : 0) | (has(sets.write, number) ? POLLOUT : 0) |
                       (has(sets.except, number) ? POLLPRI : 0);
    if (events != 0) list.push_back({.fd = number, .events = static_cast<short>(events), .revents = 0});
  }
  return list;
}

// As select(2) does with what poll(2) tells.
int mark(fd_set* set, const pollfd& one, int asked, int means) {
  if ((one.events & asked) == 0) return 0;
  if ((one.revents & means) != 0) return 1;
  FD_CLR(one.fd, set);
  return 0;
}

}  // namespace

int select(int count, fd_set* read, fd_set* write, fd_set* except, timeval* timeout, const sigset_t* signals) {
  return waiting_minus_one([&] {
    if (count < 0 || count > FD_SETSIZE) return minus_one(EINVAL);
    if (timeout != nullptr && (timeout->tv_sec < 0 || timeout->tv_usec < 0)) return minus_one(EINVAL);
    constexpr std::int64_t kLongest = 1 << 30;
    int milliseconds = -1;
    if (timeout != nullptr) {
      const std::int64_t seconds = std::min<std::int64_t>(timeout->tv_sec, kLongest / 1000);
      const std::int64_t rest = timeout->tv_usec / 1000 + (timeout->tv_usec % 1000 != 0 ? 1 : 0);
      milliseconds = static_cast<int>(std::min(seconds * 1000 + std::min(rest, kLongest), kLongest));
    }
    const Sets sets{.read = read, .write = write, .except = except};
    auto list = wishes(count, sets);
    const int ready = rsockets::poll(list.data(), list.size(), milliseconds, signals);
    if (ready < 0) return ready;
    if (std::ranges::any_of(list, [](const pollfd& one) { return (one.revents & POLLNVAL) != 0; })) {
      return minus_one(EBADF);
    }
    int marked = 0;
    for (const pollfd& one : list) {
      marked += mark(read, one, POLLIN, POLLIN | POLLHUP | POLLERR);
      marked += mark(write, one, POLLOUT, POLLOUT | POLLERR);
      marked += mark(except, one, POLLPRI, POLLPRI);
    }
    return marked;
  });
}

}  // namespace weft::compat::rsockets
