// SPDX-License-Identifier: Apache-2.0
// What peers can make the log say, and where it cannot say it. In children: the log is a process's.
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "child.hpp"
#include "full_pipe.hpp"
#include "loopback.hpp"
#include "tests/raw_tcp.hpp"
#include "verbs/log/log.hpp"
#include "verbs/log/log_output.hpp"
#include "verbs/stream/narrator.hpp"

namespace weft::verbs::test {
namespace {

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t found = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

// Connects, sends what is no startup frame, and waits until the listener is done with it.
void begin_badly(const Endpoint& listener) {
  EXPECT_TRUE(weft::test::RawSocket(listener, "MPA ID Req Fra??0123").ends());
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
    set_log_level(LogLevel::kDebug);
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
  EXPECT_GE(count(said, "weft warning: startup with 127.0.0.1:"), 1U) << said;
  EXPECT_LE(count(said, "startup with"), 6U) << "one in ten seconds\n" << said;
  EXPECT_GE(count(said, " more startups that a peer began have failed\n"), 1U) << said;
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

std::string said_meanwhile(LogLevel level, const std::function<void()>& body) {
  testing::internal::CaptureStderr();
  set_log_level(level);
  body();
  EXPECT_TRUE(flush_log(kPatience));
  set_log_level(LogLevel::kWarn);
  return testing::internal::GetCapturedStderr();
}

using namespace std::string_view_literals;
constexpr auto kRequest = "MPA ID Req Frame\0\x01\0\0"sv, kReply = "MPA ID Rep Frame\0\x01\0\0"sv;  // RFC 5044 7.1.1
// A Send of four octets without a CRC: ULPDU_Length, DDP's and RDMAP's control, queue 0, MSN 1, MO 0.
constexpr auto kSend = "\0\x16\x41\x43\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0\0weft\0\0\0\0"sv;

std::string narrated(LogLevel level) {
  return said_meanwhile(level, [level] {
    detail::Narrator narrator(7, mpa::Role::kInitiator, level == LogLevel::kDebug);
    const auto octets = [](std::string_view text) { return std::as_bytes(std::span(text)); };
    narrator.sent(std::array{octets(kRequest)});
    narrator.received(octets(kReply));
    narrator.sent(std::array{octets(kSend)});
    narrator.closed("by both");
  });
}

TEST(Log, TellsOfBothStartupFrames) {
  const std::string said = narrated(LogLevel::kInfo);
  EXPECT_EQ(count(said, "connection 7: MPA Request sent: revision 1, no CRC\n"), 1U) << said;
  EXPECT_EQ(count(said, "connection 7: MPA Reply received: accepted, revision 1, no CRC\n"), 1U) << said;
  EXPECT_EQ(count(said, "closed by both; sent 48 octets; received 20 octets\n"), 1U) << said;
  EXPECT_EQ(count(said, "FPDU"), 0U) << said;
}

TEST(Log, TellsOfEachFpduAtLevelDebug) {
  const std::string said = narrated(LogLevel::kDebug);
  EXPECT_EQ(count(said, "FPDU sent, 28 octets at 0: Send, queue 0, MSN 1, MO 0, last, 4 octets of payload\n"), 1U)
      << said;
  EXPECT_EQ(count(said, "closed by both; sent 48 octets, 1 FPDUs; received 20 octets, 0 FPDUs\n"), 1U) << said;
}

TEST(Log, NamesAPlaceOnlyWhereThereIsOne) {
  const std::string said = said_meanwhile(LogLevel::kWarn, [] {
    const auto failed = [](const engine::ErrorReport& report) {
      detail::log_startup_failure(loopback("127.0.0.1", 1), report, detail::FailedStartup::kOurs);
    };
    failed({.clause = "MPA-0", .sentence = "too late"});
    failed({.clause = "MPA-0", .sentence = "after it", .stream_offset = 8});
    failed({.clause = "MPA-0", .sentence = "within it", .startup_octet = 16});
  });
  EXPECT_EQ(count(said, "too late [MPA-0] layer 0 (RDMAP), type 0, code 0x00\n"), 1U) << said;
  EXPECT_EQ(count(said, "code 0x00, at octet 8 after its startup frame\n"), 1U) << said;
  EXPECT_EQ(count(said, "code 0x00, at octet 16 of its startup frame\n"), 1U) << said;
}

TEST(Log, TakesNothingBelowItsLevel) {
  EXPECT_FALSE(detail::log_takes(detail::LogKind::kUnbounded, LogLevel::kDebug));
  EXPECT_TRUE(detail::log_takes(detail::LogKind::kUnbounded, LogLevel::kWarn));
}

TEST(Log, TellsOfAnAbort) {
  const std::string said = said_meanwhile(LogLevel::kInfo, [] {
    Pair pair;
    must(pair.client.qp->modify(QpState::kError), "ERROR");
  });
  EXPECT_EQ(count(said, ": aborted\n"), 1U) << said;
}

// Each read and write of a socket that is gone says so anew; the log does not.
TEST(Log, ALostConnectionIsToldOnce) {
  const std::string said = said_meanwhile(LogLevel::kInfo, [] {
    detail::Narrator narrator(7, mpa::Role::kInitiator, false);
    for (int i = 0; i < 20; ++i) narrator.lost("Broken pipe");
  });
  EXPECT_EQ(count(said, "connection 7: TCP connection lost: Broken pipe\n"), 1U) << said;
}

}  // namespace
}  // namespace weft::verbs::test
