// SPDX-License-Identifier: Apache-2.0
#include "compat/rsockets/epoll.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compat/rsockets/call.hpp"
#include "compat/rsockets/calls.hpp"
#include "transport/own_descriptors.hpp"

namespace weft::compat::rsockets {

namespace {

// The bits of poll(2) and epoll(7) are the same where both have them.
static_assert(EPOLLIN == POLLIN && EPOLLOUT == POLLOUT && EPOLLERR == POLLERR && EPOLLHUP == POLLHUP &&
              EPOLLRDHUP == POLLRDHUP);
constexpr std::uint32_t kAlways = EPOLLERR | EPOLLHUP;
constexpr int kLooks = 2;  // at one rsocket that does not become calm

struct Interest {
  std::shared_ptr<Socket> socket{};
  epoll_event wanted{};
  bool hot = false;
  bool muted = false;                  // a cold listener's number, which is readable while connections wait
  std::optional<Socket::Edge> told{};  // when it was last reported
};

// Locks are taken in this order: the set's, the rsocket's, that of `woken_`.
class EpollSet : public Observer {
 public:
  EpollSet() : descriptor_(transport::move_up(::epoll_create1(EPOLL_CLOEXEC))) {
    epoll_event readable{.events = EPOLLIN, .data = {.fd = -1}};
    works_ = descriptor_ >= 0 && ::epoll_ctl(descriptor_, EPOLL_CTL_ADD, flag_.descriptor(), &readable) == 0;
  }
  ~EpollSet() override {
    for (auto& [number, interest] : interests_) cool_down(number, interest);
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  EpollSet(const EpollSet&) = delete;
  EpollSet& operator=(const EpollSet&) = delete;

  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
  [[nodiscard]] bool works() const noexcept { return works_; }  // false: no descriptor was left for it

  // An errno.
  int add(int number, const epoll_event& wanted) {
    auto socket = find(number);
    if (!socket) return EBADF;
    const std::lock_guard lock(mutex_);
    const auto [at, fresh] = interests_.try_emplace(number);
    if (!fresh) return EEXIST;
    epoll_event readable{.events = EPOLLIN, .data = {.fd = number}};
    if (::epoll_ctl(descriptor_, EPOLL_CTL_ADD, number, &readable) != 0) {
      const int error = errno;
      interests_.erase(at);
      return error;
    }
    at->second = {.socket = std::move(socket), .wanted = wanted};
    {
      const std::lock_guard others(woken_mutex_);
      woken_.reserve(2 * interests_.size());
    }
    woken(number);
    return 0;
  }

  int change(int number, const epoll_event& wanted) {
    const std::lock_guard lock(mutex_);
    const auto found = interests_.find(number);
    if (found == interests_.end()) return ENOENT;
    Interest& interest = found->second;
    interest.wanted = wanted;
    interest.told.reset();
    const std::lock_guard at_socket(interest.socket->mutex);
    if (interest.socket->forget(*this, number)) woken(number);
    return 0;
  }

  int remove(int number) {
    const std::lock_guard lock(mutex_);
    const auto found = interests_.find(number);
    if (found == interests_.end()) return ENOENT;
    cool_down(number, found->second);
    ::epoll_ctl(descriptor_, EPOLL_CTL_DEL, number, nullptr);
    std::erase(hot_, number);
    interests_.erase(found);
    const std::lock_guard others(woken_mutex_);
    std::erase(woken_, number);
    return 0;
  }

  // Returns how many events there are now.
  int look(std::span<epoll_event> events) {
    const std::lock_guard lock(mutex_);
    warm();
    std::size_t count = 0;
    for (auto left = hot_.size(); left != 0 && count < events.size(); --left) {
      const int number = hot_.front();
      hot_.pop_front();
      Interest& interest = interests_.at(number);
      if (const auto ready = look_at(number, interest); ready != 0)
        events[count++] = {.events = ready, .data = interest.wanted.data};
      if (interest.hot) hot_.push_back(number);
    }
    return static_cast<int>(count);
  }

  // Makes the set readable: a thread that sleeps, or comes, looks at the rsocket. A number is in the list at most twice, once
  // from before the last look at it and once from after that, so there is room for it.
  void woken(int number) noexcept override {
    const std::lock_guard lock(woken_mutex_);
    woken_.push_back(number);
    flag_.raise(true);
  }

 private:
  void warm() {
    {
      const std::lock_guard lock(woken_mutex_);
      for (const int number : woken_) heat(number);
      woken_.clear();
      flag_.raise(false);
    }
    if (hot_.size() == interests_.size()) return;  // all are looked at anyway
    std::array<epoll_event, 64> ready{};
    for (int count = static_cast<int>(ready.size()); count == static_cast<int>(ready.size());) {
      count = ::epoll_wait(descriptor_, ready.data(), static_cast<int>(ready.size()), 0);
      bool any = false;
      for (const auto& one : std::span(ready).first(static_cast<std::size_t>(std::max(count, 0))))
        any = heat(one.data.fd) || any;
      if (!any) return;  // all that are readable are hot
    }
  }
  bool heat(int number) {
    const auto found = interests_.find(number);
    if (found == interests_.end() || std::exchange(found->second.hot, true)) return false;
    hot_.push_back(number);
    return true;
  }

  // What is to be reported of it; 0 and cold when there is nothing. Something happens to it again and again while its
  // peer sends without end: after a few looks it is cold all the same, and the set is readable, so that the others get
  // their turn and the next look finds it.
  std::uint32_t look_at(int number, Interest& interest) {
    Socket& socket = *interest.socket;
    const std::lock_guard lock(socket.mutex);
    socket.forget(*this, number);
    const bool edges = (interest.wanted.events & EPOLLET) != 0;
    const bool shot = (interest.wanted.events & ~EPOLLET) == EPOLLONESHOT && interest.told;
    bool calm = false;
    for (int looks = 0; looks != kLooks && !calm; ++looks) {
      socket.progress(true);
      const auto edge = socket.edge();
      const auto now = static_cast<std::uint32_t>(static_cast<std::uint16_t>(socket.readiness()));
      const auto ready = shot ? 0 : now & (interest.wanted.events | kAlways);
      if (ready != 0 && (!edges || interest.told != edge)) {
        interest.told = edge;
        if ((interest.wanted.events & EPOLLONESHOT) != 0) interest.wanted.events &= EPOLLET | EPOLLONESHOT;
        return ready;
      }
      calm = socket.prepare_wait();
    }
    mute(number, interest, socket.accepted_count() != 0);
    socket.observe(*this, number);
    interest.hot = false;
    if (!calm) socket.wake_waiters();
    return 0;
  }

  // A connection that comes to a muted listener wakes the set by observe().
  void mute(int number, Interest& interest, bool on) const noexcept {
    if (std::exchange(interest.muted, on) == on) return;
    epoll_event readable{.events = on ? 0U : std::uint32_t{EPOLLIN}, .data = {.fd = number}};
    ::epoll_ctl(descriptor_, EPOLL_CTL_MOD, number, &readable);
  }

  void cool_down(int number, Interest& interest) const noexcept {
    const std::lock_guard lock(interest.socket->mutex);
    interest.socket->forget(*this, number);
  }

  const int descriptor_;
  bool works_ = false;
  std::mutex mutex_{};  // of what follows, but `woken_`
  std::unordered_map<int, Interest> interests_{};
  std::deque<int> hot_{};
  std::mutex woken_mutex_{};
  std::vector<int> woken_{};
  Flag flag_{};  // raised while `woken_` has any
};

struct EpollSets {
  std::mutex mutex{};
  std::unordered_map<int, std::shared_ptr<EpollSet>> all{};
};

// Replaced in a child of fork(); never destroyed.
std::atomic<EpollSets*>& sets_of_process() {
  static std::atomic<EpollSets*> one{new EpollSets};
  return one;
}

// Returns null if no descriptor is left for it.
std::shared_ptr<EpollSet> set_of(int number) {
  EpollSets& sets = *sets_of_process();
  const std::lock_guard lock(sets.mutex);
  auto& set = sets.all[number];
  if (!set) set = std::make_shared<EpollSet>();
  if (set->works()) return set;
  sets.all.erase(number);
  errno = EMFILE;
  return nullptr;
}

std::vector<std::shared_ptr<EpollSet>> all_sets() {
  EpollSets& sets = *sets_of_process();
  const std::lock_guard lock(sets.mutex);
  std::vector<std::shared_ptr<EpollSet>> all;
  for (const auto& [number, set] : sets.all) all.push_back(set);
  return all;
}

// Both kinds, without waiting. -1 and errno.
int look(int kernels, EpollSet& set, std::span<epoll_event> events) {
  const int ours = set.look(events);
  const auto room = events.subspan(static_cast<std::size_t>(ours));
  if (room.empty()) return ours;
  const int theirs = ::epoll_wait(kernels, room.data(), static_cast<int>(room.size()), 0);
  return theirs < 0 ? (ours != 0 ? ours : -1) : ours + theirs;
}

}  // namespace

int epoll_ctl(int number, int operation, int socket, epoll_event* event) noexcept {
  if (!is_rsocket(socket)) return ::epoll_ctl(number, operation, socket, event);
  return guarded_minus_one([&] {
    const Inside inside;
    const auto set = set_of(number);
    if (!set) return -1;
    // ENOENT says that the number is one of the kernel's sets.
    if (::epoll_ctl(number, EPOLL_CTL_DEL, set->descriptor(), nullptr) != 0 && errno != ENOENT) {
      const int why = errno;
      close_epoll_set(number);
      return minus_one(why);
    }
    int error = EINVAL;
    if (operation == EPOLL_CTL_DEL) {
      error = set->remove(socket);
    } else if (event == nullptr) {
      error = EFAULT;
    } else if (operation == EPOLL_CTL_ADD) {
      error = set->add(socket, *event);
    } else if (operation == EPOLL_CTL_MOD) {
      error = set->change(socket, *event);
    }
    return error == 0 ? 0 : minus_one(error);
  });
}

int epoll_wait(int number, epoll_event* events, int most, int timeout, const sigset_t* signals) {
  return waiting_minus_one([&] {
    const Inside inside;
    if (most <= 0) return minus_one(EINVAL);
    if (events == nullptr) return minus_one(EFAULT);
    const auto set = set_of(number);
    if (!set) return -1;
    Deadline until;
    if (timeout >= 0) until = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout);
    for (;;) {
      const int found = look(number, *set, {events, static_cast<std::size_t>(most)});
      const int left = found == 0 ? milliseconds_until(until) : 0;
      if (left == 0) return found;
      std::array both{pollfd{.fd = number, .events = POLLIN, .revents = 0},
                      pollfd{.fd = set->descriptor(), .events = POLLIN, .revents = 0}};
      if (poll_kernel(both, left, signals) < 0) return -1;
    }
  });
}

void leave_epoll_sets(int number) noexcept {
  static_cast<void>(guarded_minus_one([&] {
    for (const auto& set : all_sets()) set->remove(number);
    return 0;
  }));
}

void close_epoll_set(int number) noexcept {
  std::shared_ptr<EpollSet> last;  // ends after the lock
  EpollSets& sets = *sets_of_process();
  const std::lock_guard lock(sets.mutex);
  if (const auto node = sets.all.extract(number)) last = node.mapped();
}

int copy_epoll_set(int number, int copy) noexcept {
  if (copy < 0 || copy == number) return copy;
  close_epoll_set(copy);  // that dup2() replaced
  EpollSets& sets = *sets_of_process();
  static_cast<void>(guarded_minus_one([&] {
    const std::lock_guard lock(sets.mutex);
    if (const auto found = sets.all.find(number); found != sets.all.end()) {
      const auto set = found->second;
      sets.all[copy] = set;
    }
    return 0;
  }));
  return copy;
}

void leave_epoll_sets_to_parent() noexcept { sets_of_process() = new EpollSets; }

}  // namespace weft::compat::rsockets
