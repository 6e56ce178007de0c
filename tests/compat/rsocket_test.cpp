// SPDX-License-Identifier: Apache-2.0
// rsockets as programs use them: what sockets do, and what rdma-core's own programs never ask for.
#include <fcntl.h>
#include <netinet/tcp.h>
#include <rdma/rsocket.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>
#include <numeric>
#include <thread>
#include <vector>

#include "compat/rsockets/table.hpp"
#include "tests/compat/rsocket_pair.hpp"
#include "tests/skips/sanitizers.hpp"

namespace weft::compat::rsockets {
namespace {

using namespace test;

class Families : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Rsocket, Families, testing::Values(AF_INET, AF_INET6));

TEST_P(Families, OctetsGoBothWaysAndNamesAreRight) {
  Pair pair(GetParam());
  EXPECT_EQ(put(pair.client.number(), "hello"), 5);
  EXPECT_EQ(get_text(pair.server.number(), 5, MSG_WAITALL), "hello");
  EXPECT_EQ(put(pair.server.number(), "you"), 3);
  EXPECT_EQ(get_text(pair.client.number(), 3, MSG_WAITALL), "you");
  EXPECT_EQ(put(pair.client.number(), ""), 0) << "nothing to send is no error";
  At peer;
  ASSERT_EQ(rsockets::getpeername(pair.client.number(), peer.address(), &peer.length), 0);
  EXPECT_EQ(peer.storage.ss_family, GetParam());
  EXPECT_EQ(peer.port(), name_of(pair.listening.number()).port());
  ASSERT_EQ(rsockets::getpeername(pair.server.number(), peer.address(), &peer.length), 0);
  EXPECT_EQ(peer.port(), name_of(pair.client.number()).port());
}

TEST(Rsocket, NumbersAreDescriptorsOfTheirOwn) {
  Pair pair;
  EXPECT_GE(::fcntl(pair.client.number(), F_GETFD), 0);
  EXPECT_NE(pair.client.number(), pair.server.number());
  const int number = pair.client.release();
  EXPECT_EQ(close(number), 0);
  expect_refused(put(number, "x"), EBADF);
  expect_refused(close(number), EBADF);
  EXPECT_EQ(::fcntl(number, F_GETFD), -1);
}

TEST(Rsocket, WhatIsNeitherAStreamNorForDatagramsIsRefused) {
  expect_refused(rsockets::socket(AF_INET, SOCK_DGRAM, IPPROTO_TCP), ENOTSUP);
  expect_refused(rsockets::socket(AF_UNIX, SOCK_STREAM, 0), ENOTSUP);
  expect_refused(rsockets::socket(AF_INET, SOCK_STREAM, IPPROTO_UDP), ENOTSUP);
  const Owner fresh(rsockets::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP));
  EXPECT_EQ(fcntl(fresh.number(), F_GETFL, 0) & O_NONBLOCK, O_NONBLOCK);
  expect_refused(put(fresh.number(), "x"), ENOTCONN);
  char octet{};
  expect_refused(get(fresh.number(), &octet, 1), ENOTCONN);
  expect_refused(rsockets::shutdown(fresh.number(), SHUT_WR), ENOTCONN);
  At peer;
  expect_refused(rsockets::getpeername(fresh.number(), peer.address(), &peer.length), ENOTCONN);
  expect_refused(accept(fresh.number(), nullptr, nullptr), EINVAL);
  const At at = loopback_of(AF_INET6, 1);
  expect_refused(rsockets::connect(fresh.number(), at.address(), at.length), EAFNOSUPPORT);
}

// --- Receiving

TEST(Rsocket, PeekAndPartsAndNothingThere) {
  Pair pair;
  const int to = pair.server.number();
  expect_refused(get(to, nullptr, 0, MSG_OOB), EOPNOTSUPP);
  std::array<char, 8> into{};
  expect_refused(get(to, into.data(), into.size(), MSG_DONTWAIT), EAGAIN);
  EXPECT_EQ(put(pair.client.number(), "abc"), 3);
  EXPECT_EQ(put(pair.client.number(), "defgh"), 5);
  EXPECT_EQ(wait_for(to, POLLIN), POLLIN);
  EXPECT_EQ(get_text(to, 2, MSG_PEEK), "ab");
  EXPECT_EQ(get_text(to, 2, MSG_PEEK), "ab");
  EXPECT_EQ(get_text(to, 1), "a");
  EXPECT_EQ(get_text(to, 7, MSG_WAITALL), "bcdefgh");  // across messages
  ASSERT_EQ(fcntl(to, F_SETFL, O_NONBLOCK), 0);
  expect_refused(get(to, into.data(), into.size()), EAGAIN);
}

TEST(Rsocket, WaitAllWaitsForAll) {
  Pair pair;
  std::string all;
  std::thread reader([&] { all = get_text(pair.server.number(), 6, MSG_WAITALL); });
  EXPECT_EQ(put(pair.client.number(), "abc"), 3);
  EXPECT_EQ(put(pair.client.number(), "def"), 3);
  reader.join();
  EXPECT_EQ(all, "abcdef");
}

TEST(Rsocket, ScatterAndGather) {
  Pair pair;
  std::array<char, 3> a{'o', 'n', 'e'};
  std::array<char, 4> b{'l', 'i', 'n', 'e'};
  std::array out{iovec{a.data(), 3}, iovec{nullptr, 0}, iovec{b.data(), 4}};
  msghdr message{};
  message.msg_iov = out.data();
  message.msg_iovlen = out.size();
  EXPECT_EQ(send_message(pair.client.number(), &message, 0), 7);
  std::array<char, 5> front{};
  std::array<char, 2> back{};
  std::array in{iovec{front.data(), 5}, iovec{back.data(), 2}};
  message.msg_iov = in.data();
  message.msg_iovlen = in.size();
  EXPECT_EQ(receive_message(pair.server.number(), &message, MSG_WAITALL), 7);
  EXPECT_EQ(std::string_view(front.data(), 5), "oneli");
  EXPECT_EQ(std::string_view(back.data(), 2), "ne");
}

// --- Sending

TEST(Rsocket, AWriterStopsWhereTheReaderDoes) {
  Pair pair;
  const std::string all = pattern(1U << 20);
  std::size_t sent = 0;
  while (sent < all.size()) {
    const ssize_t count = put(pair.client.number(), std::string_view(all).substr(sent), MSG_DONTWAIT);
    if (count < 0) {
      // What has left gives its room back; the peer's buffers and credits do not come back.
      if (wait_for(pair.client.number(), POLLOUT, 200) == 0) break;
      continue;
    }
    sent += static_cast<std::size_t>(count);
  }
  EXPECT_LE(sent, 1U << 19);
  EXPECT_GE(sent, 1U << 16);
  std::string got;
  while (got.size() < sent) got += get_text(pair.server.number(), 10'000);
  EXPECT_EQ(got, all.substr(0, sent));
  EXPECT_EQ(wait_for(pair.client.number(), POLLOUT), POLLOUT);
}

void small_queues(int number) {
  const int value = 16;
  ASSERT_EQ(rsockets::setsockopt(number, SOL_RDMA, RDMA_SQSIZE, &value, sizeof value), 0);
  ASSERT_EQ(rsockets::setsockopt(number, SOL_RDMA, RDMA_RQSIZE, &value, sizeof value), 0);
}

TEST(Rsocket, OneThreadReadsWhileAnotherWrites) {
  Pair pair;
  std::thread back([&] { exchange(pair.server.number(), pair.client.number(), 100'000, 40); });
  exchange(pair.client.number(), pair.server.number(), 30'001, 100);
  back.join();
}

TEST(Rsocket, MoreMessagesThanCredits) {
  Pair pair(AF_INET, small_queues);
  exchange(pair.client.number(), pair.server.number(), 7, 3000);
  exchange(pair.server.number(), pair.client.number(), 100, 500);
}

// --- The end

TEST(Rsocket, HalfClose) {
  Pair pair;
  EXPECT_EQ(put(pair.client.number(), "last"), 4);
  EXPECT_EQ(rsockets::shutdown(pair.client.number(), SHUT_WR), 0);
  expect_refused(put(pair.client.number(), "x"), EPIPE);
  EXPECT_EQ(get_text(pair.server.number(), 10, MSG_WAITALL), "last");
  EXPECT_EQ(get_text(pair.server.number()), "");
  exchange(pair.server.number(), pair.client.number(), 10'000, 100);  // the other direction goes on
  EXPECT_EQ(rsockets::shutdown(pair.server.number(), SHUT_WR), 0);
  EXPECT_EQ(get_text(pair.client.number()), "");
  EXPECT_EQ(wait_for(pair.client.number(), POLLIN | POLLOUT) & POLLERR, 0);
}

TEST(Rsocket, TheReadingSideCanBeShut) {
  Pair pair;
  EXPECT_EQ(rsockets::shutdown(pair.server.number(), SHUT_RD), 0);
  EXPECT_EQ(get_text(pair.server.number()), "");
  EXPECT_EQ(put(pair.server.number(), "still"), 5);
  EXPECT_EQ(get_text(pair.client.number(), 5, MSG_WAITALL), "still");
  expect_refused(rsockets::shutdown(pair.server.number(), 7), EINVAL);
}

TEST(Rsocket, WhatWasSentBeforeTheCloseArrives) {
  Pair pair;
  const std::string all = pattern(60'000);
  EXPECT_EQ(put(pair.client.number(), all), 60'000);
  close(pair.client.release());
  EXPECT_EQ(get_text(pair.server.number(), 60'000, MSG_WAITALL), all);
  EXPECT_EQ(get_text(pair.server.number()), "");
  EXPECT_EQ(get_text(pair.server.number()), "");
  const short ready = wait_for(pair.server.number(), POLLIN | POLLOUT);
  EXPECT_EQ(ready & (POLLIN | POLLHUP), POLLIN | POLLHUP);
  EXPECT_EQ(ready & POLLERR, 0);
  expect_refused(put(pair.server.number(), "x"), EPIPE);
}

TEST(Rsocket, ClosingWakesWhoWaits) {
  Pair pair;
  std::thread reader([&] {
    char octet{};
    expect_refused(get(pair.server.number(), &octet, 1), EBADF);
  });
  std::thread acceptor([&] { expect_refused(accept(pair.listening.number(), nullptr, nullptr), EBADF); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // they most likely wait by now; if not, it is as good
  const int server = pair.server.number();
  const int listening = pair.listening.number();
  close(server);
  close(listening);
  reader.join();
  acceptor.join();
  pair.server.release();
  pair.listening.release();
}

TEST(Rsocket, ShutdownEndsAListener) {
  const Owner listening = listener();
  const At at = name_of(listening.number());
  Owner waiting(rsockets::socket(AF_INET, SOCK_STREAM, 0));
  std::array<std::thread, 2> accept_one;
  for (auto& thread : accept_one)
    thread = std::thread([&] {
      while (accept(listening.number(), nullptr, nullptr) >= 0) continue;
      EXPECT_EQ(errno, EINVAL);
    });
  EXPECT_EQ(rsockets::connect(waiting.number(), at.address(), at.length), 0);
  EXPECT_EQ(rsockets::shutdown(listening.number(), SHUT_WR), 0);  // has no effect
  EXPECT_EQ(rsockets::shutdown(listening.number(), SHUT_RDWR), 0);
  for (auto& thread : accept_one) thread.join();
  const Owner late(rsockets::socket(AF_INET, SOCK_STREAM, 0));
  expect_refused(rsockets::connect(late.number(), at.address(), at.length), ECONNREFUSED);
  expect_refused(rsockets::shutdown(listening.number(), SHUT_RD), ENOTCONN);
}

// --- Connecting

At nobody() {
  const Owner gone = listener();
  return name_of(gone.number());
}

TEST(Rsocket, NobodyListens) {
  const At at = nobody();
  const Owner client(rsockets::socket(AF_INET, SOCK_STREAM, 0));
  expect_refused(rsockets::connect(client.number(), at.address(), at.length), ECONNREFUSED);
  const Owner there = listener();  // and the same rsocket can try again
  const At other = name_of(there.number());
  ASSERT_EQ(fcntl(client.number(), F_SETFL, O_NONBLOCK), 0);
  expect_refused(rsockets::connect(client.number(), other.address(), other.length), EINPROGRESS);
  const Owner server(accept(there.number(), nullptr, nullptr));
  EXPECT_GE(server.number(), 0);
  EXPECT_EQ(wait_for(client.number(), POLLOUT), POLLOUT);
  expect_refused(rsockets::connect(client.number(), other.address(), other.length), EISCONN);
}

TEST(Rsocket, NobodyListensAndNobodyWaits) {
  const At at = nobody();
  const Owner client(rsockets::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));
  ASSERT_EQ(rsockets::connect(client.number(), at.address(), at.length), -1);
  if (errno == ECONNREFUSED) return;  // a reset may be faster than the call
  EXPECT_EQ(errno, EINPROGRESS);
  EXPECT_NE(wait_for(client.number(), POLLOUT) & (POLLERR | POLLOUT), 0);
  EXPECT_EQ(option(client.number(), SOL_SOCKET, SO_ERROR), ECONNREFUSED);
  EXPECT_EQ(option(client.number(), SOL_SOCKET, SO_ERROR), 0);
}

TEST(Rsocket, AddressesInUse) {
  const Owner first = listener();
  const At at = name_of(first.number());
  const Owner second(rsockets::socket(AF_INET, SOCK_STREAM, 0));
  const int bound = rsockets::bind(second.number(), at.address(), at.length);
  expect_refused(bound != 0 ? bound : listen(second.number(), 1), EADDRINUSE);
}

TEST(Rsocket, AListenerForIpv6Alone) {
  const Owner listening(rsockets::socket(AF_INET6, SOCK_STREAM, 0));
  const int on = 1;
  ASSERT_EQ(rsockets::setsockopt(listening.number(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on), 0);
  ASSERT_EQ(listen(listening.number(), 1), 0);  // at any address
  const std::uint16_t port = name_of(listening.number()).port();
  ASSERT_EQ(fcntl(listening.number(), F_SETFL, O_NONBLOCK), 0);
  const Owner client(rsockets::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));
  const At at = loopback_of(AF_INET, port);
  expect_refused(rsockets::connect(client.number(), at.address(), at.length), EINPROGRESS);
  wait_for(client.number(), POLLOUT);
  EXPECT_EQ(option(client.number(), SOL_SOCKET, SO_ERROR), ECONNREFUSED);
  EXPECT_EQ(wait_for(listening.number(), POLLIN, 0), 0);
  expect_refused(accept(listening.number(), nullptr, nullptr), EAGAIN);
}

TEST(Rsocket, ManyAtATime) {
  const Owner listening = listener();
  const At at = name_of(listening.number());
  std::vector<Owner> clients;
  std::vector<Owner> servers;
  for (int i = 0; i < 40; ++i) {
    clients.emplace_back(rsockets::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));
    expect_refused(rsockets::connect(clients.back().number(), at.address(), at.length), EINPROGRESS);
  }
  for (int i = 0; i < 40; ++i) servers.emplace_back(accept(listening.number(), nullptr, nullptr));
  for (const auto& client : clients) {
    ASSERT_EQ(wait_for(client.number(), POLLOUT), POLLOUT);
    ASSERT_EQ(put(client.number(), "x"), 1);
  }
  for (const auto& server : servers) EXPECT_EQ(get_text(server.number()), "x");
}

// --- Waiting

TEST(Rsocket, PollTakesItsTime) {
  Pair pair;
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(wait_for(pair.server.number(), POLLIN, 30), 0);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(30));
  EXPECT_EQ(wait_for(pair.server.number(), POLLIN, 0), 0);
  expect_refused(rsockets::poll(nullptr, 1, 0), EFAULT);
}

TEST(Rsocket, PollMixesDescriptors) {
  Pair pair;
  std::array<int, 2> pipe_ends{};
  ASSERT_EQ(::pipe(pipe_ends.data()), 0);
  std::array list{pollfd{.fd = pair.server.number(), .events = POLLIN | POLLRDNORM, .revents = 0},
                  pollfd{.fd = pipe_ends[0], .events = POLLIN, .revents = 0},
                  pollfd{.fd = -1, .events = 0, .revents = 0}};
  EXPECT_EQ(rsockets::poll(list.data(), list.size(), 0), 0);
  std::thread writer([&] { EXPECT_EQ(::write(pipe_ends[1], "x", 1), 1); });
  EXPECT_EQ(rsockets::poll(list.data(), list.size(), kPatience), 1);
  writer.join();
  EXPECT_EQ(list[1].revents, POLLIN);
  EXPECT_EQ(list[0].revents, 0);
  std::thread sender([&] { EXPECT_EQ(put(pair.client.number(), "x"), 1); });
  while (list[0].revents == 0) ASSERT_GE(rsockets::poll(list.data(), list.size(), kPatience), 1);
  sender.join();
  EXPECT_EQ(list[0].revents, POLLIN | POLLRDNORM);
  ::close(pipe_ends[0]);
  ::close(pipe_ends[1]);
}

TEST(Rsocket, SelectMarksWhatIsReady) {
  Pair pair;
  fd_set read;
  fd_set write;
  FD_ZERO(&read);
  FD_ZERO(&write);
  FD_SET(pair.server.number(), &read);
  FD_SET(pair.client.number(), &read);
  FD_SET(pair.client.number(), &write);
  ASSERT_EQ(put(pair.client.number(), "x"), 1);
  ASSERT_EQ(wait_for(pair.server.number(), POLLIN), POLLIN);
  timeval at_once{};
  EXPECT_EQ(rsockets::select(FD_SETSIZE, &read, &write, nullptr, &at_once), 2);
  EXPECT_TRUE(FD_ISSET(pair.server.number(), &read));
  EXPECT_FALSE(FD_ISSET(pair.client.number(), &read));
  EXPECT_TRUE(FD_ISSET(pair.client.number(), &write));
  expect_refused(rsockets::select(-1, nullptr, nullptr, nullptr, nullptr), EINVAL);
  FD_ZERO(&read);
  FD_SET(pair.client.number(), &read);
  for (timeval soon : {timeval{0, 1000}, timeval{0, 0}}) {  // nothing is there to read
    FD_SET(pair.client.number(), &read);
    EXPECT_EQ(rsockets::select(FD_SETSIZE, &read, nullptr, nullptr, &soon), 0);
    EXPECT_FALSE(FD_ISSET(pair.client.number(), &read));
  }
}

// --- Options

TEST(Rsocket, OptionsAreToldBack) {
  const Owner own(rsockets::socket(AF_INET6, SOCK_STREAM, 0));
  const int number = own.number();
  const auto set = [&](int level, int name, int value) {
    return rsockets::setsockopt(number, level, name, &value, sizeof value);
  };
  for (const int name : {SO_REUSEADDR, SO_KEEPALIVE, SO_OOBINLINE}) {
    EXPECT_EQ(option(number, SOL_SOCKET, name), 0);
    EXPECT_EQ(set(SOL_SOCKET, name, 1), 0);
    EXPECT_EQ(option(number, SOL_SOCKET, name), 1);
  }
  EXPECT_EQ(set(SOL_SOCKET, SO_SNDBUF, 50'000), 0);
  EXPECT_EQ(option(number, SOL_SOCKET, SO_SNDBUF), 100'000);
  EXPECT_EQ(set(SOL_SOCKET, SO_RCVBUF, -1), 0);
  EXPECT_GT(option(number, SOL_SOCKET, SO_RCVBUF), 0);
  EXPECT_EQ(set(IPPROTO_TCP, TCP_NODELAY, 1), 0);
  EXPECT_EQ(option(number, IPPROTO_TCP, TCP_NODELAY), 1);
  EXPECT_GT(option(number, IPPROTO_TCP, TCP_MAXSEG), 0);
  EXPECT_EQ(set(IPPROTO_IPV6, IPV6_V6ONLY, 1), 0);
  EXPECT_EQ(option(number, IPPROTO_IPV6, IPV6_V6ONLY), 1);
  EXPECT_EQ(set(SOL_RDMA, RDMA_IOMAPSIZE, 3), 0);
  EXPECT_EQ(option(number, SOL_RDMA, RDMA_IOMAPSIZE), 3);
  EXPECT_EQ(set(SOL_RDMA, RDMA_SQSIZE, 1), 0);
  EXPECT_EQ(option(number, SOL_RDMA, RDMA_SQSIZE), 16);
  EXPECT_EQ(option(number, SOL_SOCKET, SO_TYPE), SOCK_STREAM);
  expect_refused(set(SOL_SOCKET, SO_BROADCAST, 1), ENOPROTOOPT);
  expect_refused(rsockets::setsockopt(number, SOL_SOCKET, SO_KEEPALIVE, nullptr, 0), EINVAL);
  const linger wanted{.l_onoff = 1, .l_linger = 3};
  EXPECT_EQ(rsockets::setsockopt(number, SOL_SOCKET, SO_LINGER, &wanted, sizeof wanted), 0);
}

TEST(Rsocket, TcpTellsOfItself) {
  Pair pair;
  const auto ask = [](int number) {
    tcp_info info{};
    socklen_t length = sizeof info;
    EXPECT_EQ(rsockets::getsockopt(number, IPPROTO_TCP, TCP_INFO, &info, &length), 0);
    EXPECT_EQ(length, sizeof info);
    return info;
  };
  EXPECT_EQ(ask(pair.client.number()).tcpi_state, TCP_ESTABLISHED);
  EXPECT_NE(ask(pair.client.number()).tcpi_snd_mss, 0U);
  EXPECT_EQ(ask(pair.listening.number()).tcpi_state, TCP_LISTEN);
  EXPECT_EQ(ask(Owner(rsockets::socket(AF_INET, SOCK_STREAM, 0)).number()).tcpi_state, TCP_CLOSE);
  std::uint8_t state = 0;
  socklen_t length = sizeof state;
  EXPECT_EQ(rsockets::getsockopt(pair.server.number(), IPPROTO_TCP, TCP_INFO, &state, &length), 0);
  EXPECT_EQ(state, TCP_ESTABLISHED);
}

// Connections beyond the backlog wait where they are counted, however often the listener is looked at.
TEST(Rsocket, ABacklogIsABound) {
  const Owner listening = listener();
  ASSERT_EQ(fcntl(listening.number(), F_SETFL, O_NONBLOCK), 0);
  const auto socket = find(listening.number());
  {
    const std::lock_guard lock(socket->mutex);
    socket->listening->most = 2;
  }
  const At at = name_of(listening.number());
  std::vector<Owner> clients;
  for (int i = 0; i < 12; ++i) {
    clients.emplace_back(rsockets::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));
    expect_refused(rsockets::connect(clients.back().number(), at.address(), at.length), EINPROGRESS);
  }
  std::vector<Owner> servers;
  while (servers.size() < clients.size()) {
    ASSERT_EQ(wait_for(listening.number(), POLLIN), POLLIN);
    EXPECT_EQ(wait_for(listening.number(), POLLOUT, 1), 0);
    {
      const std::lock_guard lock(socket->mutex);
      EXPECT_LE(socket->accepted_count(), 2U);
    }
    const int made = rsockets::accept(listening.number(), nullptr, nullptr);
    if (made >= 0) servers.emplace_back(made);
  }
  for (const auto& client : clients) EXPECT_EQ(wait_for(client.number(), POLLOUT), POLLOUT);
}

// --- The program is busy elsewhere, as with a kernel's socket

Owner connected_to(const Owner& listening) {
  Owner client(rsockets::socket(AF_INET, SOCK_STREAM, 0));
  const At at = name_of(listening.number());
  EXPECT_EQ(rsockets::connect(client.number(), at.address(), at.length), 0);  // waits: nobody calls meanwhile
  return client;
}

TEST(Rsocket, AThreadConnectsToItself) {
  const Owner listening = listener();
  const Owner client = connected_to(listening);
  EXPECT_EQ(wait_for(listening.number(), POLLIN), POLLIN);
  const Owner server(accept(listening.number(), nullptr, nullptr));
  ASSERT_EQ(fcntl(listening.number(), F_SETFL, O_NONBLOCK), 0);
  expect_refused(accept(listening.number(), nullptr, nullptr), EAGAIN);
  exchange(client.number(), server.number(), 1000, 10);
}

TEST(Rsocket, WhatCameBeforeTheAcceptIsThere) {
  const Owner listening = listener();
  Owner client = connected_to(listening);
  EXPECT_EQ(put(client.number(), "early"), 5);
  close(client.release());  // and has gone
  At peer;
  const Owner server(rsockets::accept(listening.number(), peer.address(), &peer.length));
  EXPECT_EQ(peer.storage.ss_family, AF_INET);
  EXPECT_EQ(get_text(server.number(), 5, MSG_WAITALL), "early");
  EXPECT_EQ(get_text(server.number()), "");
}

TEST(Rsocket, ConnectionsThatWaitInAListenerEndWithIt) {
  Owner listening = listener();
  const Owner client = connected_to(listening);
  const std::uint16_t port = name_of(listening.number()).port();
  close(listening.release());
  EXPECT_NE(wait_for(client.number(), POLLIN) & POLLIN, 0);
  const Owner again(rsockets::socket(AF_INET, SOCK_STREAM, 0));  // the port is free at once
  const At at = loopback_of(AF_INET, port);
  ASSERT_EQ(rsockets::bind(again.number(), at.address(), at.length), 0);
  EXPECT_EQ(listen(again.number(), 1), 0);
}

// Neither end's program calls anything while the other one closes.
TEST(Rsocket, ACloseDoesNotWaitForABusyPeer) {
  Pair pair;
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(put(pair.client.number(), "bye"), 3);
  close(pair.client.release());
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(kPatience));
  EXPECT_EQ(get_text(pair.server.number(), 3, MSG_WAITALL), "bye");
  EXPECT_EQ(get_text(pair.server.number()), "");
}

TEST(Rsocket, AConnectionThatWasBegunIsMadeWhileTheProgramIsBusy) {
  const Owner listening = listener();
  const Owner client(rsockets::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));
  const At at = name_of(listening.number());
  expect_refused(rsockets::connect(client.number(), at.address(), at.length), EINPROGRESS);
  const Owner server(accept(listening.number(), nullptr, nullptr));
  EXPECT_EQ(put(server.number(), "first"), 5);  // to a client whose program has not looked since
  EXPECT_EQ(rsockets::shutdown(server.number(), SHUT_WR), 0);
  ASSERT_EQ(fcntl(client.number(), F_SETFL, 0), 0);
  EXPECT_EQ(get_text(client.number(), 5, MSG_WAITALL), "first");
  EXPECT_EQ(get_text(client.number()), "");
}

// --- Time-outs of calls

TEST(Rsocket, CallsThatWaitForTooLong) {
  Pair pair;
  const timeval soon{.tv_sec = 0, .tv_usec = 10'000};
  const int server = pair.server.number();
  ASSERT_EQ(rsockets::setsockopt(server, SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof soon), 0);
  timeval set{};
  socklen_t length = sizeof set;
  ASSERT_EQ(rsockets::getsockopt(server, SOL_SOCKET, SO_RCVTIMEO, &set, &length), 0);
  EXPECT_EQ(set.tv_usec, soon.tv_usec);
  char octet{};
  expect_refused(get(server, &octet, 1), EAGAIN);
  ASSERT_EQ(rsockets::setsockopt(server, SOL_SOCKET, SO_SNDTIMEO, &soon, sizeof soon), 0);
  const std::string all = pattern(1U << 20);
  const ssize_t sent = put(server, all);  // nobody reads
  EXPECT_GT(sent, 0);
  EXPECT_LT(sent, static_cast<ssize_t>(all.size()));
  ASSERT_EQ(rsockets::setsockopt(pair.listening.number(), SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof soon), 0);
  expect_refused(accept(pair.listening.number(), nullptr, nullptr), EAGAIN);
  const timeval bad{.tv_sec = 0, .tv_usec = 1'000'000};
  expect_refused(rsockets::setsockopt(server, SOL_SOCKET, SO_RCVTIMEO, &bad, sizeof bad), EDOM);
}

void no_linger(int number) {
  const linger wanted{.l_onoff = 1, .l_linger = 0};
  ASSERT_EQ(rsockets::setsockopt(number, SOL_SOCKET, SO_LINGER, &wanted, sizeof wanted), 0);
}

TEST(Rsocket, ALingerOfZeroResets) {
  Pair pair(AF_INET, no_linger);
  close(pair.client.release());
  char octet{};
  expect_refused(get(pair.server.number(), &octet, 1), ECONNRESET);
  EXPECT_EQ(get(pair.server.number(), &octet, 1), 0);
  expect_refused(put(pair.server.number(), "x"), EPIPE);
}

// --- Direct data placement

void one_mapping(int number) {
  const int value = 1;
  ASSERT_EQ(rsockets::setsockopt(number, SOL_RDMA, RDMA_IOMAPSIZE, &value, sizeof value), 0);
}

TEST(Rsocket, MappedMemoryIsWrittenBeforeWhatFollows) {
  Pair pair(AF_INET, one_mapping);
  std::string memory(100'000, '.');
  std::string other(10, '.');
  const int server = pair.server.number();
  EXPECT_EQ(rsockets::iomap(server, memory.data(), memory.size(), PROT_WRITE, 0, 5000), 5000);
  expect_refused(rsockets::iomap(server, other.data(), other.size(), PROT_WRITE, 0, -1), ENOMEM);
  expect_refused(rsockets::iomap(server, other.data(), other.size(), PROT_EXEC, 0, -1), EINVAL);
  EXPECT_NE(rsockets::iomap(server, other.data(), other.size(), PROT_NONE, 0, -1), -1);
  EXPECT_EQ(put(server, "mapped"), 6);
  EXPECT_EQ(get_text(pair.client.number(), 6, MSG_WAITALL), "mapped");
  const std::string all = pattern(90'000);
  EXPECT_EQ(iowrite(pair.client.number(), all.data(), all.size(), 6000, 0), 90'000);
  EXPECT_EQ(put(pair.client.number(), "written"), 7);
  EXPECT_EQ(get_text(server, 7, MSG_WAITALL), "written");
  EXPECT_EQ(memory.substr(1000, all.size()), all);
  EXPECT_EQ(memory.substr(0, 1000), std::string(1000, '.'));
  expect_refused(iowrite(pair.client.number(), all.data(), 1, 4999, 0), EINVAL);
  EXPECT_EQ(iowrite(pair.client.number(), all.data(), all.size(), 104'999, 0), 1);  // up to its end
  EXPECT_EQ(iounmap(server, memory.data(), memory.size()), 0);
  expect_refused(iounmap(server, memory.data(), memory.size()), EINVAL);
  EXPECT_EQ(iounmap(server, other.data(), other.size()), 0);
  expect_refused(iounmap(server, other.data(), other.size()), EINVAL);
}

TEST(Rsocket, WithoutIomapsNothingCanBeMapped) {
  Pair pair;
  char octet{};
  expect_refused(rsockets::iomap(pair.server.number(), &octet, 1, PROT_WRITE, 0, -1), ENOMEM);
  expect_refused(iowrite(pair.server.number(), &octet, 1, 0, 0), EINVAL);
}

}  // namespace
}  // namespace weft::compat::rsockets
