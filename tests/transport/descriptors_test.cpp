// SPDX-License-Identifier: Apache-2.0
// A program that is started by a process with live connections inherits nothing of them.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cctype>
#include <cstdio>
#include <string>

#include "tests/temporary_directory.hpp"
#include "tests/transport/support.hpp"
#include "transport/connector.hpp"
#include "transport/interfaces.hpp"
#include "transport/listener.hpp"
#include "transport/own_descriptors.hpp"
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
  for (const int first : {0, kFirstOwnDescriptor}) {
    for (int i = first; i < first + 100; ++i) command += " /proc/self/fd/" + std::to_string(i);
  }
  std::FILE* child = popen(command.c_str(), "re");
  std::string seen;
  for (int c = std::fgetc(child); c != EOF; c = std::fgetc(child)) {
    if (std::isdigit(c) == 0) seen += static_cast<char>(c);
  }
  pclose(child);
  return seen;
}

// A program that closes all it does not know, or counts on low numbers, does not meet ours.
TEST(Descriptors, LieHigh) {
  const int lowest = ::dup(STDIN_FILENO);
  ::close(lowest);
  RunningReactor reactor;
  const auto watch = ReadinessThread::create([](const Ready&) {}).value();
  const Timer timer = Timer::create(*reactor, [] {}).value();
  Mailbox<std::expected<Socket, std::error_code>> sockets;
  const auto put = [&](std::expected<Socket, std::error_code> socket) { sockets.put(std::move(socket)); };
  const auto listener = Listener::create(*reactor, reactor.sockets(), {Address::loopback(Family::kIpv4), 0}, {}, put);
  ASSERT_TRUE(listener);
  const Connector connector(*reactor, listener->local(), {}, put);
  const auto one = sockets.take(), other = sockets.take();
  ASSERT_TRUE(one && *one && other && *other);
  EXPECT_GE((*one)->descriptor(), kFirstOwnDescriptor);
  EXPECT_GE((*other)->descriptor(), kFirstOwnDescriptor);
  EXPECT_GE(watch.descriptor(), kFirstOwnDescriptor);
  const int next = ::dup(STDIN_FILENO);
  EXPECT_EQ(next, lowest) << "ours take no low number";
  ::close(next);
}

TEST(Descriptors, StayWhereNoHigherOneIsToBeHad) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit small{.rlim_cur = 256, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &small), 0);
  const auto watch = ReadinessThread::create([](const Ready&) {});
  const auto reactor = Reactor::create();
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_TRUE(watch);
  EXPECT_TRUE(reactor);
  EXPECT_LT(watch->descriptor(), 256);
}

// To open one would fail, and a list without interfaces would be wrong.
TEST(Descriptors, AreNamedWhereTheListOfInterfacesLacksThem) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  for (rlim_t room = 0;; ++room) {
    const int lowest = ::dup(STDIN_FILENO);
    ::close(lowest);
    const rlimit small{.rlim_cur = static_cast<rlim_t>(lowest) + room, .rlim_max = before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &small), 0);
    const auto interfaces = enumerate_interfaces();
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
    if (!interfaces) {
      ASSERT_EQ(interfaces.error(), std::errc::too_many_files_open);
      continue;
    }
    EXPECT_FALSE(interfaces->empty());
    EXPECT_GT(room, 0U);
    break;
  }
}

TEST(Descriptors, AThreadWhoseDescriptorsAreClosedEndsAndSaysSo) {
  Mailbox<int> told;
  int descriptor = -1;
  auto thread = ReadinessThread::create([](const Ready&) {}).value();
  descriptor = thread.descriptor();
  const int mine = ::dup(STDIN_FILENO);
  thread.start([&] { ::dup2(mine, descriptor); }, [&] { told.put(1); });  // another file has its number
  EXPECT_TRUE(told.take());
  thread.resume();  // writes to no descriptor: its number is another file's now
  thread.stop();
  ::close(mine);
}

TEST(Descriptors, AreNotInherited) {
  const std::string before = descriptors_of_a_child();
  ASSERT_FALSE(before.empty());
  const int forgotten = ::socket(AF_INET, SOCK_STREAM, 0);
  EXPECT_NE(descriptors_of_a_child(), before) << "the measure works";
  ::close(forgotten);

  const weft::test::TemporaryDirectory directory;
  const std::string path = directory.file("tap.pcap");
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
