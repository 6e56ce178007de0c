// SPDX-License-Identifier: Apache-2.0
#include "bench/uring/contest.hpp"

#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <thread>
#include <vector>

#include "bench/uring/source.hpp"

namespace weft::uring {
namespace {

constexpr std::size_t kFeedOctets = 1024 * 1024;

// Where the scheduler puts two threads that wake each other decides more than anything measured here.
void pin_to(bool first) {
  static const cpu_set_t allowed = [] {
    cpu_set_t set;
    need(sched_getaffinity(0, sizeof set, &set) == 0, "sched_getaffinity");
    return set;
  }();
  std::vector<std::size_t> processors;
  for (std::size_t i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &allowed)) processors.push_back(i);
  }
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(first ? processors.front() : processors.back(), &one);
  need(sched_setaffinity(0, sizeof one, &one) == 0, "sched_setaffinity");
}

void ask_one(int socket) {
  static constexpr std::array<char, kRequestOctets> kRequest{};
  const auto put = send(socket, kRequest.data(), kRequest.size(), MSG_NOSIGNAL);
  need(put == static_cast<ssize_t>(kRequestOctets), "send of the peer");
}

void hear_one(int socket, int flags) {
  std::array<char, kRequestOctets> octets;
  ssize_t got = 0;
  do {
    got = recv(socket, octets.data(), octets.size(), flags);
  } while (got < 0 && (errno == EAGAIN || errno == EINTR));
  need(got == static_cast<ssize_t>(kRequestOctets), "recv of the peer");
}

Peer ask(int flags) {
  return [flags](std::span<const int> sockets, std::uint64_t total) {
    for (std::uint64_t done = 0; done < total; done += sockets.size()) {
      for (const int socket : sockets) ask_one(socket);
      for (const int socket : sockets) hear_one(socket, flags);
    }
  };
}

Meter difference(const Meter& before, const Meter& after) {
  return {after.seconds - before.seconds, after.cpu - before.cpu, after.cpu_both - before.cpu_both,
          after.calls - before.calls, after.sleeps - before.sleeps};
}

}  // namespace

Peer ask_blocking() { return ask(0); }
Peer ask_spinning() { return ask(MSG_DONTWAIT); }

Peer feed() {
  return [](std::span<const int> sockets, std::uint64_t total) {
    Memory octets(kFeedOctets);
    for (std::uint64_t done = 0; done < total;) {
      const auto put =
          send(sockets[0], octets.data(), std::min<std::uint64_t>(octets.size(), total - done), MSG_NOSIGNAL);
      need(put > 0, "send of the peer");
      done += static_cast<std::uint64_t>(put);
    }
  };
}

Peer drain() {
  return [](std::span<const int> sockets, std::uint64_t total) {
    Memory octets(kReadOctets);
    for (std::uint64_t done = 0; done < total;) {
      const auto got = recv(sockets[0], octets.data(), octets.size(), 0);
      need(got > 0, "recv of the peer");
      done += static_cast<std::uint64_t>(got);
    }
  };
}

Peer stay_away() {
  return [](std::span<const int>, std::uint64_t) {};
}

Run run(const Task& task, const MakeEnd& make) {
  std::vector<int> measured, peers;
  for (std::size_t i = 0; i < task.connections; ++i) {
    const Sockets made = task.network->connect();
    measured.push_back(made.measured);
    peers.push_back(made.peer);
  }
  Run result;
  std::unique_ptr<End> end;  // until the peer is done: what a ring was told to send may be on its way
  std::thread thread([&] {
    pin_to(true);
    end = make(measured);
    end->work_until(task.warm);
    const Meter before = Meter::now();
    end->work_until(task.warm + task.measured);
    result.used = difference(before, Meter::now());
    result.copied = end->copied();
  });
  pin_to(false);
  task.peer(peers, task.warm + task.measured);
  thread.join();
  end.reset();
  for (const int socket : measured) close(socket);
  for (const int socket : peers) close(socket);
  return result;
}

}  // namespace weft::uring
