// SPDX-License-Identifier: Apache-2.0
// What the tests of this folder share: a running reactor, a mailbox between threads, a connected pair of sockets.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "transport/reactor.hpp"
#include "transport/readiness_thread.hpp"
#include "transport/socket.hpp"

namespace weft::transport::test {

using namespace std::chrono_literals;

inline constexpr auto kPatience = 10s;  // for what must happen; reached only by a failing test

// Nothing once the thread has gone.
inline std::optional<std::string> status_of(pid_t thread, const std::string& key) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(key)) return line.substr(key.size());
  }
  return std::nullopt;
}

// The process's threads. One that was joined may be listed for a moment; it is at its end, and so it is none of these.
inline std::vector<pid_t> living_threads() {
  constexpr unsigned long kExiting = 4;  // PF_EXITING of the kernel
  std::vector<pid_t> living;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream file(entry.path() / "stat");
    const std::string line{std::istreambuf_iterator<char>(file), {}};
    if (line.empty()) continue;
    std::istringstream behind_name(line.substr(line.rfind(')') + 1));
    std::string word;
    for (int before_flags = 0; before_flags < 6; ++before_flags) behind_name >> word;
    unsigned long flags = kExiting;
    behind_name >> flags;
    if ((flags & kExiting) == 0) living.push_back(std::stoi(entry.path().filename()));
  }
  return living;
}

// A microsecond or so for each step, at work: what another thread does meets the caller at another moment in each of
// many rounds.
inline void dawdle(int steps) {
  for (std::atomic<int> i = 0; i < 100 * steps; ++i) {
  }
}

// Whether its octets, its end or its error come within kPatience. Takes none of them.
inline bool becomes_readable(int descriptor) {
  pollfd waiting{.fd = descriptor, .events = POLLIN, .revents = 0};
  return ::poll(&waiting, 1, static_cast<int>(std::chrono::milliseconds(kPatience).count())) == 1;
}

inline std::string congestion_control_of(int descriptor) {
  std::array<char, 16> name{};
  socklen_t length = name.size();
  EXPECT_EQ(::getsockopt(descriptor, IPPROTO_TCP, TCP_CONGESTION, name.data(), &length), 0);
  return name.data();
}

// How often a thread went to sleep, asked while it sleeps: one more for every time it was woken. It counts as asleep when
// it sleeps for 10 ms, for no event tells of that: a lock that another holds for a moment is no rest.
inline long sleeps_of(pid_t thread) {
  const auto sleeps = [thread] { return std::stol(status_of(thread, "voluntary_ctxt_switches:").value_or("0")); };
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (std::chrono::steady_clock::now() < end) {
    const long before = sleeps();
    std::this_thread::sleep_for(10ms);
    const auto state = status_of(thread, "State:");
    if ((!state || state->contains('S')) && sleeps() == before) return before;
  }
  ADD_FAILURE() << "the thread does not come to rest";
  return -1;
}

// All threads but the caller's have done what they had to do.
inline void wait_for_rest() {
  for (const pid_t thread : living_threads()) {
    if (thread != ::gettid()) sleeps_of(thread);
  }
}

// A reactor and the thread inside its run(), joined at the end; and a readiness thread for listeners.
class RunningReactor {
 public:
  RunningReactor() : reactor_(Reactor::create().value()) {
    thread_ = std::thread([this] {
      thread_id_ = static_cast<pid_t>(syscall(SYS_gettid));
      reactor_.run();
    });
    while (thread_id_ == 0) std::this_thread::yield();
    sockets_.start();
  }
  ~RunningReactor() {
    reactor_.stop();
    thread_.join();
  }
  RunningReactor(const RunningReactor&) = delete;
  RunningReactor& operator=(const RunningReactor&) = delete;

  Reactor& operator*() { return reactor_; }
  Reactor* operator->() { return &reactor_; }
  ReadinessThread& sockets() { return sockets_; }

  [[nodiscard]] long sleeps() const { return sleeps_of(thread_id_); }

 private:
  Reactor reactor_;
  ReadinessThread sockets_ = ReadinessThread::create([](const Ready&) {}).value();
  std::thread thread_;
  std::atomic<pid_t> thread_id_ = 0;
};

// Values from callbacks, in order.
template <typename T>
class Mailbox {
 public:
  void put(T value) {
    const std::lock_guard lock(mutex_);
    values_.push_back(std::move(value));
    arrived_.notify_all();
  }

  std::optional<T> take(std::chrono::milliseconds patience = kPatience) {
    std::unique_lock lock(mutex_);
    // system_clock: ThreadSanitizer of gcc 12 does not know the system call of a wait for steady_clock.
    if (!arrived_.wait_until(lock, std::chrono::system_clock::now() + patience, [this] { return !values_.empty(); })) {
      return std::nullopt;
    }
    T value = std::move(values_.front());
    values_.pop_front();
    return value;
  }

  std::size_t size() {
    const std::lock_guard lock(mutex_);
    return values_.size();
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<T> values_;
};

// While it lives, the numbers of new descriptors are below `limit`.
class DescriptorLimit {
 public:
  explicit DescriptorLimit(int limit) {
    EXPECT_EQ(getrlimit(RLIMIT_NOFILE, &before_), 0);
    const rlimit wanted{.rlim_cur = static_cast<rlim_t>(limit), .rlim_max = before_.rlim_max};
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &wanted), 0);
  }
  ~DescriptorLimit() { EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &before_), 0); }
  DescriptorLimit(const DescriptorLimit&) = delete;
  DescriptorLimit& operator=(const DescriptorLimit&) = delete;

 private:
  rlimit before_{};
};

// While it lives the process gets no more descriptors.
class NoDescriptorsLeft {
 public:
  NoDescriptorsLeft() : limit_(next()) {}

 private:
  static int next() {
    const int number = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    ::close(number);
    return number;
  }
  DescriptorLimit limit_;
};

inline bool has_ipv6_loopback() {
  const int probe = ::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_storage storage{};
  const socklen_t length = Endpoint{Address::loopback(Family::kIpv6), 0}.to_sockaddr(storage);
  const bool works = probe >= 0 && ::bind(probe, reinterpret_cast<sockaddr*>(&storage), length) == 0;
  if (probe >= 0) ::close(probe);
  return works;
}

// A plain blocking socket that is bound to a loopback port, and where.
struct Bound {
  int descriptor;
  Endpoint at;
};

// A free port, or that of another one, which then has to have been bound by this function.
inline Bound bind_loopback(std::uint16_t port = 0) {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
  EXPECT_EQ(::setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on), 0);
  sockaddr_storage storage{};
  socklen_t length = Endpoint{Address::loopback(Family::kIpv4), port}.to_sockaddr(storage);
  auto* address = reinterpret_cast<sockaddr*>(&storage);
  EXPECT_EQ(::bind(descriptor, address, length), 0);
  length = sizeof storage;
  EXPECT_EQ(::getsockname(descriptor, address, &length), 0);
  return {descriptor, Endpoint::from_sockaddr(address, length).value()};
}

inline int connect_plainly(const Endpoint& to, int type = SOCK_STREAM) {
  sockaddr_storage storage{};
  const socklen_t length = to.to_sockaddr(storage);
  const int descriptor = ::socket(storage.ss_family, type | SOCK_CLOEXEC, 0);
  ::connect(descriptor, reinterpret_cast<sockaddr*>(&storage), length);
  return descriptor;
}

// Two ends of loopback connections to one port, made without the classes under test.
class Port {
 public:
  Port() { EXPECT_EQ(::listen(listening_.descriptor, 1), 0); }
  ~Port() { ::close(listening_.descriptor); }
  Port(const Port&) = delete;
  Port& operator=(const Port&) = delete;

  // The end that connected is the first.
  [[nodiscard]] std::pair<Socket, Socket> connect() const {
    const int client = connect_plainly(listening_.at);
    const int server = ::accept4(listening_.descriptor, nullptr, nullptr, SOCK_CLOEXEC);
    return {Socket::adopt(client).value(), Socket::adopt(server).value()};
  }

 private:
  const Bound listening_ = bind_loopback();
};

inline std::pair<Socket, Socket> connected_pair() { return Port().connect(); }

inline std::vector<std::byte> pattern(std::size_t size, unsigned seed = 0) {
  std::vector<std::byte> octets(size);
  for (std::size_t i = 0; i < size; ++i) octets[i] = static_cast<std::byte>((i * 2654435761U + seed) >> 13);
  return octets;
}

inline IoResult write_one(Socket& socket, Bytes octets) { return socket.write(std::span(&octets, 1)); }

// Reads what comes within kPatience.
inline IoResult read_patiently(Socket& socket, MutableBytes into) {
  becomes_readable(socket.descriptor());
  return socket.read(into);
}

}  // namespace weft::transport::test
