// SPDX-License-Identifier: Apache-2.0
// What peers can make the log say, and where it cannot say it. In children: the log is a process's.
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <functional>

#include "child.hpp"
#include "full_pipe.hpp"
#include "loopback.hpp"
#include "verbs/detail/log.hpp"
#include "verbs/detail/narrator.hpp"

namespace weft::verbs::test {
namespace {

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t found = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

// Connects, sends what is no start-up frame, and waits until the listener is done with it.
void begin_badly(const Endpoint& listener) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_storage storage{};
  const auto size = listener.to_sockaddr(storage);
  if (::connect(socket, reinterpret_cast<sockaddr*>(&storage), size) != 0) throw std::runtime_error("connect");
  const std::string frame = "MPA ID Req Fra??0123";
  ::send(socket, frame.data(), frame.size(), MSG_NOSIGNAL);
  char octet = 0;
  while (::recv(socket, &octet, 1, 0) > 0) {
  }
  ::close(socket);
}

struct Listening {
  EventChannel events = must(EventChannel::create(), "channel");
  ConnectionId id = must(ConnectionId::create(events), "id");
  Listening() {
    must(id.bind_address(loopback("127.0.0.1")), "bind");
    must(id.listen(16), "listen");
  }
};

// 321 were enough to stop a process.
TEST(Log, BadStartupsBesideAFullStandardErrorStopNothing) {
  if (weft::test::kThreadSanitizer) GTEST_SKIP() << "ThreadSanitizer allows no threads in a child: nothing is tried";
  const FullPipe unread;
  const int status = status_of_child(unread.writer(), [] {
    set_log_level(LogLevel::kTrace);
    const Listening listener;
    for (int i = 0; i < 400; ++i) begin_badly(listener.id.local_address());
    Pair pair;  // and honest ones are served
    pair.disconnect();
  });
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status) << ": it stood still";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(Log, AProcessEndsBesideAFullStandardError) {
  if (weft::test::kThreadSanitizer) GTEST_SKIP() << "ThreadSanitizer allows no threads in a child: nothing is tried";
  const FullPipe unread;
  const int status = status_of_child(unread.writer(), [] { detail::log_warning("a line", "that nobody reads"); }, true);
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
}

TEST(Log, TellsOneBadStartupOfManyAndHowManyMore) {
  if (weft::test::kThreadSanitizer) GTEST_SKIP() << "ThreadSanitizer allows no threads in a child: nothing is tried";
  const std::string said = said_by_child([] {
    const Listening listener;
    for (int i = 0; i < 50; ++i) begin_badly(listener.id.local_address());
  });
  EXPECT_GE(count(said, "weft warning: start-up with 127.0.0.1:"), 1U) << said;
  EXPECT_LE(count(said, "start-up with"), 6U) << "one in ten seconds\n" << said;
  EXPECT_GE(count(said, " more start-ups that a peer began have failed\n"), 1U) << said;
  EXPECT_EQ(count(said, "error"), 0U) << said;
}

TEST(Log, LosesNothingAtExit) {
  if (weft::test::kThreadSanitizer) GTEST_SKIP() << "ThreadSanitizer allows no threads in a child: nothing is tried";
  const std::string said = said_by_child([] {
    set_log_level(LogLevel::kDebug);
    for (std::uint64_t i = 0; i < 5000; ++i) detail::log_connection(LogLevel::kDebug, i, "lives");
  });
  for (int i = 0; i < 5000; ++i) {
    ASSERT_NE(said.find("connection " + std::to_string(i) + ": lives\n"), std::string::npos) << i;
  }
}

// A thread of the application has its line out before it goes on, and may end without exit().
TEST(Log, AFacadesLineIsThereBeforeItsProgramGoesOn) {
  if (weft::test::kThreadSanitizer) GTEST_SKIP() << "ThreadSanitizer allows no threads in a child: nothing is tried";
  const std::string said = said_by_child([] { log_line(LogLevel::kWarn, "why it fails"); }, false);
  EXPECT_EQ(count(said, "weft warning: why it fails\n"), 1U) << said;
}

TEST(Log, AChildOfAProcessThatLogsHasALogOfItsOwn) {
  if (weft::test::kThreadSanitizer) GTEST_SKIP() << "ThreadSanitizer allows no threads in a child: nothing is tried";
  const std::string said = said_by_child([] {
    detail::log_warning("the parent", "speaks");
    flush_log(kPatience);
    const pid_t child = ::fork();
    if (child == 0) {
      detail::log_warning("the child", "speaks");
      std::exit(0);
    }
    ::waitpid(child, nullptr, 0);
    detail::log_warning("the parent", "speaks again");
  });
  EXPECT_EQ(count(said, "the parent: speaks\n"), 1U) << said;
  EXPECT_EQ(count(said, "the child: speaks\n"), 1U) << said;
  EXPECT_EQ(count(said, "the parent: speaks again\n"), 1U) << said;
}

// Each read and write of a socket that is gone says so anew; the log does not.
TEST(Log, ALostConnectionIsToldOnce) {
  testing::internal::CaptureStderr();
  set_log_level(LogLevel::kInfo);
  detail::Narrator narrator(7, mpa::Role::kInitiator, false);
  for (int i = 0; i < 20; ++i) narrator.lost("Broken pipe");
  EXPECT_TRUE(flush_log(kPatience));
  set_log_level(LogLevel::kWarn);
  EXPECT_EQ(count(testing::internal::GetCapturedStderr(), "connection 7: TCP connection lost: Broken pipe\n"), 1U);
}

}  // namespace
}  // namespace weft::verbs::test
