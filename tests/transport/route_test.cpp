// SPDX-License-Identifier: Apache-2.0
#include "transport/route.hpp"

#include <gtest/gtest.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <thread>
#include <vector>

namespace weft::transport {
namespace {

const Address kLoopback = Address::loopback(Family::kIpv4);

BoundSocket traveller(Family family = Family::kIpv4) { return BoundSocket::open(family).value(); }

std::ptrdiff_t open_descriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
}

TEST(Route, LoopbackIsReachedFromLoopback) {
  EXPECT_EQ(local_address_towards(kLoopback), kLoopback);
  EXPECT_EQ(local_address_towards(kLoopback, traveller()), kLoopback);
  EXPECT_EQ(local_address_towards(Address::loopback(Family::kIpv6), traveller(Family::kIpv6)),
            Address::loopback(Family::kIpv6));
}

TEST(Route, AQuestionThatFailsDoesNotSpoilTheNext) {
  const auto broadcast = Address::parse("255.255.255.255").value();
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(local_address_towards(broadcast, traveller())) << "broadcast needs leave";
    EXPECT_EQ(local_address_towards(kLoopback, traveller()), kLoopback);
  }
}

TEST(Route, KeepsOneProbe) {
  EXPECT_TRUE(local_address_towards(kLoopback, traveller()));
  const auto before = open_descriptors();
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(local_address_towards(kLoopback, traveller()));
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      for (int k = 0; k < 200; ++k) EXPECT_EQ(local_address_towards(kLoopback, traveller()), kLoopback);
    });
  }
  threads.clear();
  EXPECT_EQ(open_descriptors(), before);
}

// Runs `there` in a thread that is in a network namespace of its own, its loopback interface down. False when this
// process may not make one.
template <typename There>
bool in_new_namespace(There there) {
  bool made = false;
  std::jthread([&] {
    made = ::unshare(CLONE_NEWNET) == 0;  // of this thread alone
    if (made) there();
  }).join();
  return made;
}

constexpr auto kNoNamespace = "SKIPPED: needs the right to make a network namespace (root)";

TEST(Route, EachNetworkNamespaceHasItsOwn) {
  ASSERT_TRUE(local_address_towards(kLoopback, traveller())) << "with a probe kept";
  const bool done = in_new_namespace([] {
    EXPECT_FALSE(local_address_towards(kLoopback, traveller()));
    EXPECT_FALSE(local_address_towards(kLoopback));
  });
  if (!done) GTEST_SKIP() << kNoNamespace;
  EXPECT_EQ(local_address_towards(kLoopback, traveller()), kLoopback);
}

// The loopback interface of the calling thread's namespace: up, and with this address, too.
void set_up_loopback(const Address& second) {
  const auto query = traveller();
  ifreq request{};
  std::strcpy(request.ifr_name, "lo");
  request.ifr_flags = IFF_UP;
  ASSERT_EQ(::ioctl(query.descriptor(), SIOCSIFFLAGS, &request), 0);
  std::strcpy(request.ifr_name, "lo:1");
  sockaddr_storage storage{};
  Endpoint{second, 0}.to_sockaddr(storage);
  std::memcpy(&request.ifr_addr, &storage, sizeof request.ifr_addr);
  ASSERT_EQ(::ioctl(query.descriptor(), SIOCSIFADDR, &request), 0);
}

// An answer leaves its address in the socket that asked, and the next question would be put from there.
TEST(Route, AnAnswerDoesNotDependOnTheOneBefore) {
  const bool done = in_new_namespace([] {
    const auto second = Address::parse("192.0.2.1").value();
    ASSERT_NO_FATAL_FAILURE(set_up_loopback(second));
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(local_address_towards(second, traveller()), second);
      EXPECT_EQ(local_address_towards(kLoopback, traveller()), kLoopback);
    }
  });
  if (!done) GTEST_SKIP() << kNoNamespace;
}

// Parent and child would put their questions through the same socket. And a child that has closed all descriptors may
// have another file in its place.
TEST(Route, AChildLeavesItsParentsProbeAlone) {
  const auto socket = traveller();
  ASSERT_TRUE(local_address_towards(kLoopback, socket));
  const auto before = open_descriptors();
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const bool right = local_address_towards(kLoopback, socket) == kLoopback;
    ::_exit(right && open_descriptors() == before + 1 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(local_address_towards(kLoopback, socket), kLoopback);
}

}  // namespace
}  // namespace weft::transport
