// SPDX-License-Identifier: Apache-2.0
// Datagram rsockets: messages keep their bounds, and all else is what the kernel's UDP sockets do.
#include <fcntl.h>
#include <poll.h>
#include <rdma/rsocket.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <vector>

#include "compat/rsockets/epoll.hpp"
#include "tests/compat/rsocket_pair.hpp"

namespace weft::compat::rsockets {
namespace {

using namespace test;

constexpr std::size_t kLongestOverIpv4 = 65507;

// On the loopback address.
Owner datagrams(int family = AF_INET, int flags = 0) {
  Owner made(rsockets::socket(family, SOCK_DGRAM | flags, 0));
  const At at = loopback_of(family);
  EXPECT_EQ(rsockets::bind(made.number(), at.address(), at.length), 0);
  return made;
}

ssize_t put_to(int number, std::string_view octets, const At& to) {
  const iovec piece{.iov_base = const_cast<char*>(octets.data()), .iov_len = octets.size()};
  return send_to(number, &piece, 1, 0, to.address(), to.length);
}

struct Ends {
  explicit Ends(int family = AF_INET) : here(datagrams(family)), there(datagrams(family)) {
    const At at = name_of(there.number());
    EXPECT_EQ(rsockets::connect(here.number(), at.address(), at.length), 0);
  }
  Owner here;   // connected to the other
  Owner there;  // and this one is not
};

class Datagrams : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(RsocketDatagrams, Datagrams, testing::Values(AF_INET, AF_INET6));

TEST_P(Datagrams, MessagesAndTheirSendersArrive) {
  const Ends ends(GetParam());
  EXPECT_EQ(put(ends.here.number(), "first"), 5);
  EXPECT_EQ(put(ends.here.number(), ""), 0);
  EXPECT_EQ(put(ends.here.number(), "third"), 5);
  std::array<char, 100> octets{};
  const iovec piece{.iov_base = octets.data(), .iov_len = octets.size()};
  At from;
  ASSERT_EQ(receive_from(ends.there.number(), piece, 0, from.address(), &from.length), 5);
  EXPECT_EQ(std::string_view(octets.data(), 5), "first");
  EXPECT_EQ(from.storage.ss_family, GetParam());
  EXPECT_EQ(from.port(), name_of(ends.here.number()).port());
  EXPECT_EQ(get(ends.there.number(), octets.data(), octets.size()), 0);
  EXPECT_EQ(get_text(ends.there.number()), "third");
  EXPECT_EQ(put_to(ends.there.number(), "back", from), 4);
  EXPECT_EQ(get_text(ends.here.number()), "back");
}

TEST_P(Datagrams, NamesOfBothEnds) {
  const Ends ends(GetParam());
  At peer;
  ASSERT_EQ(rsockets::getpeername(ends.here.number(), peer.address(), &peer.length), 0);
  EXPECT_EQ(peer.port(), name_of(ends.there.number()).port());
  EXPECT_NE(peer.port(), 0);
  expect_refused(rsockets::getpeername(ends.there.number(), peer.address(), &peer.length), ENOTCONN);
}

TEST(RsocketDatagrams, ReceiversOfPiecesAndOfMessages) {
  const Ends ends;
  std::array<char, 3> head{};
  std::array<char, 3> tail{};
  std::array<iovec, 2> pieces{iovec{.iov_base = head.data(), .iov_len = 3},
                              iovec{.iov_base = tail.data(), .iov_len = 3}};
  At from;
  msghdr message{};
  message.msg_name = from.address();
  message.msg_namelen = from.length;
  message.msg_iov = pieces.data();
  message.msg_iovlen = pieces.size();
  ASSERT_EQ(put(ends.here.number(), "abcdefgh"), 8);
  ASSERT_EQ(receive_message(ends.there.number(), &message, 0), 6);
  EXPECT_EQ(std::string_view(head.data(), 3), "abc");
  EXPECT_EQ(std::string_view(tail.data(), 3), "def");
  EXPECT_EQ(message.msg_flags & MSG_TRUNC, MSG_TRUNC);
  EXPECT_EQ(from.port(), name_of(ends.here.number()).port());
  message.msg_flags = 0;
  ASSERT_EQ(send_message(ends.there.number(), &message, 0), 6);  // to the sender, whose address it has
  EXPECT_EQ(get_text(ends.here.number()), "abcdef");
  expect_refused(receive_message(ends.there.number(), nullptr, 0), EFAULT);
  expect_refused(send_message(ends.there.number(), nullptr, 0), EFAULT);
}

TEST(RsocketDatagrams, WhatDoesNotFitIsCutAndAPeekTakesNothing) {
  const Ends ends;
  ASSERT_EQ(put(ends.here.number(), "message"), 7);
  ASSERT_EQ(put(ends.here.number(), "next"), 4);
  EXPECT_EQ(get_text(ends.there.number(), 3, MSG_PEEK), "mes");
  EXPECT_EQ(get_text(ends.there.number(), 4), "mess");
  EXPECT_EQ(get_text(ends.there.number()), "next");
}

TEST(RsocketDatagrams, TheLongestMessage) {
  const Ends ends;
  const std::string longest(kLongestOverIpv4, 'x');
  expect_refused(put(ends.here.number(), longest + 'x'), EMSGSIZE);
  ASSERT_EQ(put(ends.here.number(), longest), static_cast<ssize_t>(longest.size()));
  EXPECT_EQ(get_text(ends.there.number(), 70000), longest);
}

TEST(RsocketDatagrams, WithoutADestinationOrWithAWrongOne) {
  const Owner fresh(rsockets::socket(AF_INET, SOCK_DGRAM, IPPROTO_UDP));
  expect_refused(put(fresh.number(), "x"), EDESTADDRREQ);
  expect_refused(put_to(fresh.number(), "x", loopback_of(AF_INET6, 1)), EAFNOSUPPORT);
  char octet{};
  const iovec piece{.iov_base = &octet, .iov_len = 1};
  sockaddr_storage from{};
  expect_refused(receive_from(fresh.number(), piece, 0, reinterpret_cast<sockaddr*>(&from), nullptr), EFAULT);
}

TEST(RsocketDatagrams, AbsentPeersAreReportedAsByUdp) {
  Ends ends;
  ends.there = Owner();
  ASSERT_EQ(put(ends.here.number(), "x"), 1);
  EXPECT_NE(wait_for(ends.here.number(), POLLIN) & POLLERR, 0);
  EXPECT_EQ(option(ends.here.number(), SOL_SOCKET, SO_ERROR), ECONNREFUSED);
}

TEST(RsocketDatagrams, WithoutWaiting) {
  const Owner made = datagrams(AF_INET, SOCK_NONBLOCK);
  char octet{};
  expect_refused(get(made.number(), &octet, 1), EAGAIN);
  EXPECT_EQ(fcntl(made.number(), F_GETFL, 0) & O_NONBLOCK, O_NONBLOCK);
  ASSERT_EQ(fcntl(made.number(), F_SETFL, 0), 0);
  EXPECT_EQ(fcntl(made.number(), F_GETFL, 0) & O_NONBLOCK, 0);
  expect_refused(get(made.number(), &octet, 1, MSG_DONTWAIT), EAGAIN);
  const timeval time{.tv_sec = 0, .tv_usec = 1000};
  ASSERT_EQ(rsockets::setsockopt(made.number(), SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time), 0);
  expect_refused(get(made.number(), &octet, 1), EAGAIN);
  expect_refused(fcntl(made.number(), F_DUPFD, 0), EINVAL);
}

// --- Waiting

TEST(RsocketDatagrams, RpollWithStreams) {
  const Ends ends;
  const Pair streams;
  std::array list{pollfd{.fd = ends.there.number(), .events = POLLIN, .revents = 0},
                  pollfd{.fd = streams.server.number(), .events = POLLIN, .revents = 0}};
  EXPECT_EQ(rsockets::poll(list.data(), list.size(), 0), 0);
  ASSERT_EQ(put(ends.here.number(), "x"), 1);
  ASSERT_EQ(rsockets::poll(list.data(), list.size(), kPatience), 1);
  EXPECT_EQ(list[0].revents, POLLIN);
  ASSERT_EQ(put(streams.client.number(), "y"), 1);
  EXPECT_EQ(wait_for(streams.server.number(), POLLIN), POLLIN);
  EXPECT_EQ(rsockets::poll(list.data(), list.size(), kPatience), 2);
  EXPECT_EQ(wait_for(ends.here.number(), POLLOUT), POLLOUT);
}

TEST(RsocketDatagrams, Rselect) {
  const Ends ends;
  fd_set read;
  FD_ZERO(&read);
  FD_SET(ends.there.number(), &read);
  timeval none{};
  EXPECT_EQ(rsockets::select(ends.there.number() + 1, &read, nullptr, nullptr, &none), 0);
  FD_SET(ends.there.number(), &read);
  ASSERT_EQ(put(ends.here.number(), "x"), 1);
  EXPECT_EQ(rsockets::select(ends.there.number() + 1, &read, nullptr, nullptr, nullptr), 1);
  EXPECT_TRUE(FD_ISSET(ends.there.number(), &read));
}

TEST(RsocketDatagrams, Repoll) {
  const Ends ends;
  const int set = ::epoll_create1(EPOLL_CLOEXEC);
  epoll_event wanted{.events = EPOLLIN, .data = {.u32 = 7}};
  ASSERT_EQ(rsockets::epoll_ctl(set, EPOLL_CTL_ADD, ends.there.number(), &wanted), 0);
  epoll_event found{};
  EXPECT_EQ(rsockets::epoll_wait(set, &found, 1, 0, nullptr), 0);
  ASSERT_EQ(put(ends.here.number(), "x"), 1);
  ASSERT_EQ(rsockets::epoll_wait(set, &found, 1, kPatience, nullptr), 1);
  EXPECT_EQ(found.data.u32, 7U);
  close_epoll_set(set);
  ::close(set);
}

// --- Options

TEST(RsocketDatagrams, OptionsAreTheKernels) {
  const Owner made = datagrams();
  EXPECT_EQ(option(made.number(), SOL_SOCKET, SO_TYPE), SOCK_DGRAM);
  EXPECT_EQ(option(made.number(), SOL_SOCKET, SO_PROTOCOL), IPPROTO_UDP);
  constexpr int kSize = 8192;
  ASSERT_EQ(rsockets::setsockopt(made.number(), SOL_SOCKET, SO_RCVBUF, &kSize, sizeof kSize), 0);
  int size = 0;
  socklen_t length = sizeof size;
  ASSERT_EQ(::getsockopt(made.number(), SOL_SOCKET, SO_RCVBUF, &size, &length), 0);
  EXPECT_EQ(size, 2 * kSize);
  EXPECT_EQ(option(made.number(), SOL_SOCKET, SO_RCVBUF), size);
  expect_refused(rsockets::setsockopt(made.number(), SOL_SOCKET, 12345, &size, sizeof size), ENOPROTOOPT);
}

TEST(RsocketDatagrams, SizesOfQueuesAreKept) {
  const Owner made = datagrams();
  const Owner other = datagrams();
  constexpr int kQueue = 1000;
  ASSERT_EQ(rsockets::setsockopt(made.number(), SOL_RDMA, RDMA_SQSIZE, &kQueue, sizeof kQueue), 0);
  ASSERT_EQ(rsockets::setsockopt(made.number(), SOL_RDMA, RDMA_RQSIZE, &kQueue, sizeof kQueue), 0);
  EXPECT_EQ(option(made.number(), SOL_RDMA, RDMA_SQSIZE), kQueue);
  EXPECT_EQ(option(made.number(), SOL_RDMA, RDMA_RQSIZE), kQueue);
  EXPECT_NE(option(other.number(), SOL_RDMA, RDMA_SQSIZE), kQueue);
  expect_refused(rsockets::setsockopt(made.number(), SOL_RDMA, RDMA_SQSIZE, &kQueue, 1), EINVAL);
  expect_refused(rsockets::setsockopt(made.number(), SOL_RDMA, 12345, &kQueue, sizeof kQueue), ENOPROTOOPT);
}

// --- Ends

TEST(RsocketDatagrams, WhatTheyHaveNot) {
  const Owner made = datagrams();
  std::array<char, 64> memory{};
  expect_refused(rsockets::listen(made.number(), 1), EOPNOTSUPP);
  expect_refused(rsockets::accept(made.number(), nullptr, nullptr), EOPNOTSUPP);
  expect_refused(rsockets::iomap(made.number(), memory.data(), memory.size(), 0, 0, 0), EOPNOTSUPP);
  expect_refused(rsockets::iounmap(made.number(), memory.data(), memory.size()), EOPNOTSUPP);
  expect_refused(rsockets::iowrite(made.number(), memory.data(), memory.size(), 0, 0), EOPNOTSUPP);
}

TEST(RsocketDatagrams, ShutDownAndClosed) {
  Ends ends;
  ASSERT_EQ(rsockets::shutdown(ends.here.number(), SHUT_RDWR), 0);
  char octet{};
  EXPECT_EQ(get(ends.here.number(), &octet, 1), 0);
  expect_refused(put(ends.here.number(), "x"), EPIPE);
  const int number = ends.here.release();
  EXPECT_EQ(close(number), 0);
  EXPECT_EQ(::fcntl(number, F_GETFD), -1);
  expect_refused(put(number, "x"), EBADF);
  expect_refused(rsockets::getsockname(number, nullptr, nullptr), EBADF);
  expect_refused(close(number), EBADF);
}

// The program closed the number by itself, and the kernel gives it away again: each way the newer one has it.
TEST(RsocketDatagrams, ANumberThatChangesItsKind) {
  Owner first = datagrams();
  const int number = first.release();
  ::close(number);
  Owner stream(rsockets::socket(AF_INET, SOCK_STREAM, 0));
  ASSERT_EQ(stream.number(), number);
  EXPECT_TRUE(is_rsocket(number));
  EXPECT_EQ(option(number, SOL_SOCKET, SO_TYPE), SOCK_STREAM);
  EXPECT_EQ(close(stream.release()), 0);
  expect_refused(close(number), EBADF);
  Owner next_stream(rsockets::socket(AF_INET, SOCK_STREAM, 0));
  ASSERT_EQ(next_stream.number(), number);
  ::close(next_stream.release());
  const Owner second = datagrams();
  ASSERT_EQ(second.number(), number);
  EXPECT_FALSE(is_rsocket(number));
  EXPECT_EQ(option(number, SOL_SOCKET, SO_TYPE), SOCK_DGRAM);
}

TEST(RsocketDatagrams, AChildOfForkSharesThem) {
  const Ends ends;
  const pid_t child = ::fork();
  if (child == 0) ::_exit(put(ends.here.number(), "child") == 5 && close(ends.here.number()) == 0 ? 0 : 1);
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(get_text(ends.there.number()), "child");
  EXPECT_EQ(put(ends.here.number(), "parent"), 6);
  EXPECT_EQ(get_text(ends.there.number()), "parent");
}

}  // namespace
}  // namespace weft::compat::rsockets
