// SPDX-License-Identifier: Apache-2.0
// epoll over rsockets: by level, by edge and once, beside descriptors of the kernel, and across threads.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <future>
#include <map>

#include "compat/rsockets/epoll.hpp"
#include "tests/compat/rsocket_pair.hpp"

namespace weft::compat::rsockets::test {
namespace {

struct EpollSet {
  int number = ::epoll_create1(EPOLL_CLOEXEC);
  EpollSet() = default;
  EpollSet(const EpollSet&) = delete;
  EpollSet& operator=(const EpollSet&) = delete;
  ~EpollSet() {
    close_epoll_set(number);
    ::close(number);
  }
  int control(int operation, int socket, std::uint32_t events) const {
    epoll_event wanted{.events = events, .data = {.fd = socket}};
    return rsockets::epoll_ctl(number, operation, socket, &wanted);
  }
  void add(int socket, std::uint32_t events) const { ASSERT_EQ(control(EPOLL_CTL_ADD, socket, events), 0); }
  // What is ready, by number.
  [[nodiscard]] std::map<int, std::uint32_t> wait(int milliseconds, int most = 8) const {
    std::array<epoll_event, 8> events{};
    const int count = rsockets::epoll_wait(number, events.data(), most, milliseconds, nullptr);
    EXPECT_GE(count, 0);
    std::map<int, std::uint32_t> ready;
    for (int i = 0; i < count; ++i)
      ready[events[static_cast<std::size_t>(i)].data.fd] = events[static_cast<std::size_t>(i)].events;
    return ready;
  }
};

using Ready = std::map<int, std::uint32_t>;

TEST(RsocketEpoll, ByLevel) {
  Pair pair;
  const EpollSet set;
  const int server = pair.server.number();
  set.add(server, EPOLLIN);
  EXPECT_EQ(set.wait(0), Ready{});
  EXPECT_EQ(set.wait(10), Ready{});
  ASSERT_EQ(put(pair.client.number(), "ab"), 2);
  EXPECT_EQ(set.wait(kPatience), (Ready{{server, EPOLLIN}}));
  EXPECT_EQ(get_text(server, 1), "a");
  EXPECT_EQ(set.wait(kPatience), (Ready{{server, EPOLLIN}}));  // one is left
  EXPECT_EQ(get_text(server, 1), "b");
  EXPECT_EQ(set.wait(0), Ready{});
  ASSERT_EQ(set.control(EPOLL_CTL_MOD, server, EPOLLIN | EPOLLOUT), 0);
  EXPECT_EQ(set.wait(kPatience), (Ready{{server, EPOLLOUT}}));
  ASSERT_EQ(set.control(EPOLL_CTL_MOD, server, EPOLLIN | EPOLLRDHUP), 0);
  EXPECT_EQ(set.wait(0), Ready{});
  ASSERT_EQ(rsockets::shutdown(pair.client.number(), SHUT_WR), 0);
  EXPECT_EQ(set.wait(kPatience), (Ready{{server, EPOLLIN | EPOLLRDHUP}}));
  ASSERT_EQ(set.control(EPOLL_CTL_DEL, server, 0), 0);
  EXPECT_EQ(set.wait(0), Ready{});
  expect_refused(set.control(EPOLL_CTL_DEL, server, 0), ENOENT);
  expect_refused(set.control(EPOLL_CTL_MOD, server, EPOLLIN), ENOENT);
  set.add(server, 0);
  expect_refused(set.control(EPOLL_CTL_ADD, server, 0), EEXIST);
}

// An edge for each that comes, and for each that a call met no more of.
TEST(RsocketEpoll, ByEdge) {
  Pair pair;
  const EpollSet set;
  const int server = pair.server.number();
  set.add(server, EPOLLIN | EPOLLOUT | EPOLLET);
  EXPECT_EQ(set.wait(kPatience), (Ready{{server, EPOLLOUT}}));
  EXPECT_EQ(set.wait(0), Ready{});
  ASSERT_EQ(put(pair.client.number(), "ab"), 2);
  EXPECT_EQ(set.wait(kPatience).at(server) & EPOLLIN, EPOLLIN);
  EXPECT_EQ(set.wait(10), Ready{});
  ASSERT_EQ(put(pair.client.number(), "c"), 1);
  EXPECT_EQ(set.wait(kPatience).at(server) & EPOLLIN, EPOLLIN);
  // Another call takes the wake-up of what comes after a read that met the end.
  EXPECT_EQ(get_text(server, 3, MSG_WAITALL), "abc");
  char octet{};
  expect_refused(get(server, &octet, 1, MSG_DONTWAIT), EAGAIN);
  ASSERT_EQ(put(pair.client.number(), "d"), 1);
  EXPECT_EQ(wait_for(server, POLLIN), POLLIN);
  EXPECT_EQ(set.wait(kPatience).at(server) & EPOLLIN, EPOLLIN);
}

// An event-driven client registers once, and asks when it may write: the response comes before it waits again.
TEST(RsocketEpoll, AResponseBeforeTheNextWaitIsAnEdge) {
  Pair pair;
  const EpollSet set;
  const int client = pair.client.number(), server = pair.server.number();
  set.add(client, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET);
  EXPECT_EQ(set.wait(kPatience), (Ready{{client, EPOLLOUT}}));
  ASSERT_EQ(put(client, "ask"), 3);
  EXPECT_EQ(get_text(server, 3, MSG_WAITALL), "ask");
  ASSERT_EQ(put(server, "answer"), 6);
  EXPECT_EQ(wait_for(client, POLLIN), POLLIN);
  EXPECT_EQ(set.wait(kPatience), (Ready{{client, EPOLLIN | EPOLLOUT}}));
  EXPECT_EQ(get_text(client, 3), "ans");
  ASSERT_EQ(put(server, "more"), 4);  // while some is unread
  EXPECT_EQ(set.wait(kPatience), (Ready{{client, EPOLLIN | EPOLLOUT}}));
  ASSERT_EQ(rsockets::shutdown(server, SHUT_WR), 0);
  EXPECT_EQ(set.wait(kPatience), (Ready{{client, EPOLLIN | EPOLLOUT | EPOLLRDHUP}}));
  EXPECT_EQ(set.wait(0), Ready{});
}

// The set has looked before, and its wake-up is left in it: calls on the rsocket itself wait all the same.
TEST(RsocketEpoll, CallsBesideASetWaitForTheirTime) {
  Pair pair;
  const EpollSet set;
  const int server = pair.server.number();
  set.add(server, EPOLLIN);
  EXPECT_EQ(set.wait(0), Ready{});
  ASSERT_EQ(put(pair.client.number(), "x"), 1);
  EXPECT_EQ(get_text(server, 1, MSG_WAITALL), "x");
  const timeval time{.tv_sec = 0, .tv_usec = 10'000};
  ASSERT_EQ(rsockets::setsockopt(server, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time), 0);
  std::array<char, 1> octet{};
  expect_refused(static_cast<int>(get(server, octet.data(), octet.size())), EAGAIN);
  EXPECT_EQ(wait_for(server, POLLIN, 1), 0);
  EXPECT_EQ(set.wait(0), Ready{});
}

TEST(RsocketEpoll, Once) {
  Pair pair;
  const EpollSet set;
  const int server = pair.server.number();
  set.add(server, EPOLLIN | EPOLLONESHOT);
  ASSERT_EQ(put(pair.client.number(), "a"), 1);
  EXPECT_EQ(set.wait(kPatience), (Ready{{server, EPOLLIN}}));
  ASSERT_EQ(put(pair.client.number(), "b"), 1);
  EXPECT_EQ(set.wait(10), Ready{});
  ASSERT_EQ(set.control(EPOLL_CTL_MOD, server, EPOLLIN | EPOLLONESHOT), 0);
  EXPECT_EQ(set.wait(kPatience), (Ready{{server, EPOLLIN}}));
}

TEST(RsocketEpoll, ListenersAndDescriptorsOfTheKernel) {
  const Owner listening = listener();
  const EpollSet set;
  set.add(listening.number(), EPOLLIN);
  const int flag = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  epoll_event wanted{.events = EPOLLIN, .data = {.fd = flag}};
  ASSERT_EQ(::epoll_ctl(set.number, EPOLL_CTL_ADD, flag, &wanted), 0);
  EXPECT_EQ(set.wait(0), Ready{});
  ASSERT_EQ(::eventfd_write(flag, 1), 0);
  EXPECT_EQ(set.wait(kPatience), (Ready{{flag, EPOLLIN}}));
  const Owner client(rsockets::socket(AF_INET, SOCK_STREAM, 0));
  const At at = name_of(listening.number());
  ASSERT_EQ(rsockets::connect(client.number(), at.address(), at.length), 0);
  Ready all;
  while (all.size() < 2) all.merge(set.wait(kPatience));
  EXPECT_EQ(all, (Ready{{flag, EPOLLIN}, {listening.number(), EPOLLIN}}));
  EXPECT_EQ(set.wait(0, 1).size(), 1U);  // no more than there is room for
  ::close(flag);
}

// A thread that sleeps in it hears of what another one adds, changes or closes.
TEST(RsocketEpoll, AThreadThatSleepsIsWoken) {
  Pair pair;
  const EpollSet set;
  const int server = pair.server.number();
  auto first = std::async(std::launch::async, [&] { return set.wait(kPatience); });
  set.add(server, EPOLLOUT);
  EXPECT_EQ(first.get(), (Ready{{server, EPOLLOUT}}));
  ASSERT_EQ(set.control(EPOLL_CTL_MOD, server, EPOLLIN), 0);
  EXPECT_EQ(set.wait(0), Ready{});
  auto second = std::async(std::launch::async, [&] { return set.wait(kPatience); });
  ASSERT_EQ(set.control(EPOLL_CTL_MOD, server, EPOLLOUT), 0);
  EXPECT_EQ(second.get(), (Ready{{server, EPOLLOUT}}));
  ASSERT_EQ(set.control(EPOLL_CTL_MOD, server, EPOLLIN), 0);
  auto third = std::async(std::launch::async, [&] { return set.wait(kPatience); });
  ASSERT_EQ(put(pair.client.number(), "x"), 1);
  EXPECT_EQ(third.get(), (Ready{{server, EPOLLIN}}));
  close(pair.server.release());
  EXPECT_EQ(set.wait(0), Ready{});  // a number that was closed is in no set
}

// Another thread's call may take what the sleeping one waits for.
TEST(RsocketEpoll, WhatAnotherThreadTookCounts) {
  Pair pair;
  const EpollSet set;
  const int server = pair.server.number();
  set.add(server, EPOLLIN);
  for (int round = 0; round < 50; ++round) {
    auto waiting = std::async(std::launch::async, [&] { return set.wait(kPatience); });
    ASSERT_EQ(put(pair.client.number(), "x"), 1);
    EXPECT_EQ(wait_for(server, POLLIN), POLLIN);
    EXPECT_EQ(waiting.get(), (Ready{{server, EPOLLIN}}));
    EXPECT_EQ(get_text(server, 1), "x");
  }
}

TEST(RsocketEpoll, Refusals) {
  Pair pair;
  const EpollSet set;
  epoll_event one{};
  expect_refused(rsockets::epoll_wait(set.number, &one, 0, 0, nullptr), EINVAL);
  expect_refused(rsockets::epoll_wait(set.number, nullptr, 1, 0, nullptr), EFAULT);
  expect_refused(rsockets::epoll_ctl(set.number, EPOLL_CTL_ADD, pair.server.number(), nullptr), EFAULT);
  expect_refused(rsockets::epoll_ctl(set.number, 99, pair.server.number(), &one), EINVAL);
  expect_refused(rsockets::epoll_ctl(set.number, EPOLL_CTL_ADD, set.number, &one), EINVAL);
}

}  // namespace
}  // namespace weft::compat::rsockets::test
