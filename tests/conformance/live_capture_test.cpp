// SPDX-License-Identifier: Apache-2.0
// A live interface. Capturing needs a privilege: without it this says so, and is skipped.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string_view>

#include "conformance/capture_reader.hpp"
#include "tests/conformance/tcp_history.hpp"
#include "tests/raw_tcp.hpp"

namespace weft::conformance::testing {
namespace {

// A connection over loopback that says a word and is closed.
void talk(std::string_view word) {
  const test::RawListener listener;
  test::RawSocket(listener.local(), word).close();
}

bool heard(const TcpHistory& history, std::string_view word) {
  return std::ranges::any_of(history.all(), [&](const auto& one) { return one.second.from.front().stream == word; });
}

TEST(LiveCapture, HearsWhatIsSaidOnLoopback) {
  StopSwitch stop;
  auto reader = CaptureReader::open_interface("lo", &stop);
  if (!reader) GTEST_SKIP() << reader.error().sentence;
  EXPECT_FALSE(reader->progress());
  constexpr std::string_view kWord = "weft listens to itself";
  talk(kWord);
  TcpHistory history;
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!heard(history, kWord) && std::chrono::steady_clock::now() < give_up) {
    const auto next = reader->next();
    if (const auto* packet = std::get_if<Packet>(&next)) history.take(*packet);
    ASSERT_FALSE(std::holds_alternative<CaptureError>(next)) << std::get<CaptureError>(next).sentence;
  }
  EXPECT_TRUE(heard(history, kWord));
  stop.stop();
  EXPECT_TRUE(std::holds_alternative<CaptureEnd>(reader->next()));
}

}  // namespace
}  // namespace weft::conformance::testing
