// SPDX-License-Identifier: Apache-2.0
// Descriptors of rsockets as programs use them: in children of fork(), and copies.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "compat/rsockets/table.hpp"
#include "tests/compat/rsocket_pair.hpp"
#include "tests/skips/sanitizers.hpp"

namespace weft::compat::rsockets {
namespace {

using namespace test;

// --- fork

// 0 when all was as it should be.
int child_of(const Pair& pair) {
  if (put(pair.client.number(), "x") != -1 || errno != EBADF) return 1;
  if (close(pair.client.number()) != 0 || close(pair.client.number()) != -1) return 2;
  Pair own;
  if (put(own.client.number(), "child") != 5 || get_text(own.server.number(), 5, MSG_WAITALL) != "child") return 3;
  return 0;
}

// A child goes on with a listener of its parent, as servers do that become daemons, or have workers.
int serve_once(int listening) {
  const Owner server(accept(listening, nullptr, nullptr));
  if (server.number() < 0 || get_text(server.number(), 4, MSG_WAITALL) != "ping") return 1;
  return put(server.number(), "pong") == 4 ? 0 : 2;
}

TEST(Rsocket, AChildServesTheListenerOfItsParent) {
  if (weft::test::kThreadSanitizer) {
    GTEST_SKIP() << "ThreadSanitizer allows no threads in a child: nothing is tried";
  }
  Owner listening = listener();
  const pid_t child = ::fork();
  if (child == 0) ::_exit(serve_once(listening.number()));
  {
    const Owner client = connected_to(listening);
    EXPECT_EQ(put(client.number(), "ping"), 4);
    EXPECT_EQ(get_text(client.number(), 4, MSG_WAITALL), "pong");
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  const Owner client(rsockets::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));  // and the parent, when it asks
  const At at = name_of(listening.number());
  expect_refused(rsockets::connect(client.number(), at.address(), at.length), EINPROGRESS);
  const Owner server(accept(listening.number(), nullptr, nullptr));
  ASSERT_EQ(wait_for(client.number(), POLLOUT), POLLOUT);  // the server has accepted; the answer is under way
  ASSERT_EQ(fcntl(client.number(), F_SETFL, 0), 0);
  exchange(client.number(), server.number(), 100, 10);
}

TEST(Rsocket, AListenerOutlivesTheParentThatClosesIt) {
  if (weft::test::kThreadSanitizer) {
    GTEST_SKIP() << "ThreadSanitizer allows no threads in a child: nothing is tried";
  }
  Owner listening = listener();
  const At at = name_of(listening.number());
  const pid_t child = ::fork();
  if (child == 0) ::_exit(serve_once(listening.number()));
  close(listening.release());
  const Owner client(rsockets::socket(AF_INET, SOCK_STREAM, 0));
  ASSERT_EQ(rsockets::connect(client.number(), at.address(), at.length), 0);
  EXPECT_EQ(put(client.number(), "ping"), 4);
  EXPECT_EQ(get_text(client.number(), 4, MSG_WAITALL), "pong");
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

// Its parent's connections are to the kernel what a socket is that is not connected: nothing that waits for ever, or is
// readable for ever.
int look_at_inherited(int number) {
  std::byte octet{};
  const iovec piece{&octet, 1};
  if (receive(number, &piece, 1, 0) >= 0 || errno != EBADF) return 1;
  if (::recv(number, &octet, 1, 0) >= 0 || errno != ENOTCONN) return 2;
  pollfd one{.fd = number, .events = POLLIN, .revents = 0};
  if (rsockets::poll(&one, 1, 0) != 1 || one.revents != POLLHUP) return 3;
  if (::poll(&one, 1, 0) != 1 || one.revents != POLLHUP) return 4;
  return close(number) == 0 ? 0 : 5;
}

TEST(Rsocket, AChildHasNoConnectionsOfItsParent) {
  Pair pair;
  const pid_t child = ::fork();
  if (child == 0) ::_exit(look_at_inherited(pair.server.number()));
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  exchange(pair.client.number(), pair.server.number(), 100, 10);  // the parent still has it
}

// --- Copies of a number

TEST(Rsocket, CopiesAreTheSameSocket) {
  Pair pair;
  const int copy = duplicate(pair.server.number(), 0);
  ASSERT_GE(copy, 0);
  EXPECT_EQ(duplicate_to(copy, copy), copy);
  EXPECT_EQ(put(pair.client.number(), "one"), 3);
  EXPECT_EQ(get_text(copy, 3, MSG_WAITALL), "one");
  close(pair.server.release());
  EXPECT_EQ(put(copy, "still open"), 10);
  EXPECT_EQ(get_text(pair.client.number(), 10, MSG_WAITALL), "still open");
  const int second = duplicate(copy, 100);
  EXPECT_GE(second, 100);
  EXPECT_EQ(close(copy), 0);
  EXPECT_EQ(wait_for(second, POLLOUT), POLLOUT);
  EXPECT_EQ(close(second), 0);
  EXPECT_EQ(get_text(pair.client.number()), "");
  EXPECT_EQ(::fcntl(copy, F_GETFD), -1);
  EXPECT_EQ(::fcntl(second, F_GETFD), -1);
  expect_refused(duplicate(second, 0), EBADF);
}

// dup(2) and close(2) of one number in two threads. fork() looks at every rsocket of the process.
TEST(Rsocket, ACopyOfANumberThatIsClosedMeanwhile) {
  for (int round = 0; round < 3000; ++round) {
    const int number = rsockets::socket(AF_INET, SOCK_STREAM, 0);
    std::atomic<bool> go = false;
    std::jthread closes([&] {
      while (!go) continue;
      close(number);
    });
    go = true;
    const int copy = duplicate(number, 0);
    closes.join();
    if (copy >= 0) EXPECT_EQ(close(copy), 0);
  }
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  EXPECT_EQ(::waitpid(child, nullptr, 0), child);
}

TEST(Rsocket, ACopyTakesThePlaceOfAnother) {
  Pair pair;
  Pair other;
  const int place = other.server.number();
  EXPECT_EQ(duplicate_to(pair.server.number(), place), place);
  EXPECT_EQ(get_text(other.client.number()), "");  // its end was closed
  EXPECT_EQ(put(place, "x"), 1);
  EXPECT_EQ(get_text(pair.client.number(), 1), "x");
  const int file = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  EXPECT_EQ(duplicate_to(file, place), place);  // a file takes an rsocket's
  other.server.release();
  expect_refused(put(place, "x"), EBADF);
  ::close(place);
  ::close(file);
  expect_refused(duplicate_to(file, place), EBADF);
  EXPECT_EQ(put(pair.server.number(), "y"), 1);
}

TEST(Rsocket, AChildHasRsocketsOfItsOwn) {
  if (weft::test::kThreadSanitizer) {
    GTEST_SKIP() << "ThreadSanitizer allows no threads in a child: nothing is tried";
  }
  Pair pair;
  const pid_t child = ::fork();
  if (child == 0) ::_exit(child_of(pair));
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(put(pair.client.number(), "still here"), 10);
  EXPECT_EQ(get_text(pair.server.number(), 10, MSG_WAITALL), "still here");
}

}  // namespace
}  // namespace weft::compat::rsockets
