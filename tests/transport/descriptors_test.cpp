// SPDX-License-Identifier: Apache-2.0
// A program that is started by a process with live connections inherits nothing of them.
#include <gtest/gtest.h>

#include <cctype>
#include <cstdio>
#include <string>

#include "tests/transport/support.hpp"
#include "transport/connector.hpp"
#include "transport/interfaces.hpp"
#include "transport/listener.hpp"
#include "transport/pcap_tap.hpp"
#include "transport/readiness_thread.hpp"
#include "transport/resolver.hpp"
#include "transport/timer.hpp"

namespace weft::transport::test {
namespace {

// What a program sees in its descriptor table when this process starts it, as the targets of the links without their
// numbers: socket:[] and the like.
std::string descriptors_of_a_child() {
  std::string command = "exec readlink";
  for (int i = 0; i < 100; ++i) command += " /proc/self/fd/" + std::to_string(i);
  std::FILE* child = popen(command.c_str(), "re");
  std::string seen;
  for (int c = std::fgetc(child); c != EOF; c = std::fgetc(child)) {
    if (std::isdigit(c) == 0) seen += static_cast<char>(c);
  }
  pclose(child);
  return seen;
}

TEST(Descriptors, AreNotInherited) {
  const std::string before = descriptors_of_a_child();
  ASSERT_FALSE(before.empty());
  const int forgotten = ::socket(AF_INET, SOCK_STREAM, 0);
  EXPECT_NE(descriptors_of_a_child(), before) << "the measure works";
  ::close(forgotten);

  const std::string path = testing::TempDir() + "descriptors_test.pcap";
  const auto tap = PcapTap::create(path);
  ASSERT_TRUE(tap);
  RunningReactor reactor;
  const auto watch = ReadinessThread::create([](const Ready&) {});
  auto timer = Timer::create(*reactor, [] {}).value();
  timer.set(std::chrono::steady_clock::now() + 1h);
  Mailbox<std::expected<Socket, std::error_code>> sockets;
  Mailbox<int> resolved;
  const Resolver resolver(*reactor, "localhost", "http", [&](auto) { resolved.put(1); });
  const auto put = [&](std::expected<Socket, std::error_code> socket) { sockets.put(std::move(socket)); };
  const auto listener = Listener::create(*reactor, reactor.sockets(), {Address::loopback(Family::kIpv4), 0}, {}, put);
  ASSERT_TRUE(listener);
  const Connector connector(*reactor, listener->local(), {}, put);
  const auto one = sockets.take();
  const auto other = sockets.take();
  ASSERT_TRUE(one && *one && other && *other);
  ASSERT_TRUE(resolved.take());

  EXPECT_EQ(descriptors_of_a_child(), before);
  std::remove(path.c_str());
}

}  // namespace
}  // namespace weft::transport::test
