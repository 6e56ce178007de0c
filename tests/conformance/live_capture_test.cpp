// SPDX-License-Identifier: Apache-2.0
// A live interface. Capturing needs a privilege: without it this says so, and is skipped.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <string_view>

#include "conformance/capture_reader.hpp"
#include "tests/conformance/tcp_history.hpp"

namespace weft::conformance::testing {
namespace {

// A connection over loopback that says a word and is closed.
void talk(std::string_view word) {
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* name = reinterpret_cast<sockaddr*>(&address);
  ASSERT_EQ(::bind(listener, name, size), 0);
  ASSERT_EQ(::listen(listener, 1), 0);
  ASSERT_EQ(::getsockname(listener, name, &size), 0);
  const int client = ::socket(AF_INET, SOCK_STREAM, 0);
  ASSERT_EQ(::connect(client, name, size), 0);
  ASSERT_EQ(::write(client, word.data(), word.size()), static_cast<ssize_t>(word.size()));
  ::close(client);
  ::close(listener);
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
