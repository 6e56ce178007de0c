// SPDX-License-Identifier: Apache-2.0
#include "transport/route.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <thread>

namespace weft::transport {
namespace {

using namespace std::chrono_literals;

const Address kLoopback = Address::loopback(Family::kIpv4);

BoundSocket traveller(Family family = Family::kIpv4) { return BoundSocket::open(family).value(); }

auto towards_loopback() { return local_address_towards(kLoopback, traveller()); }

int own_namespace() { return ::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC); }

// Runs `there` in a thread that is in a network namespace of its own, its loopback interface down. False when this
// process may not make one.
template <typename There>
bool in_new_namespace(There there) {
  bool made = false;
  std::jthread([&] {
    const int old = own_namespace();
    made = ::unshare(CLONE_NEWNET) == 0;  // of this thread alone
    if (made) there(old);
    ::close(old);
  }).join();
  return made;
}

constexpr auto kNoNamespace = "SKIPPED: needs the right to make a network namespace (root)";

// The loopback interface of the calling thread's namespace: up, and with this address instead of the one before.
void set_up_loopback(const Address& own) {
  const auto query = traveller();
  ifreq request{};
  std::strcpy(request.ifr_name, "lo");
  request.ifr_flags = IFF_UP;
  ASSERT_EQ(::ioctl(query.descriptor(), SIOCSIFFLAGS, &request), 0);
  sockaddr_storage storage{};
  Endpoint{own, 0}.to_sockaddr(storage);
  std::memcpy(&request.ifr_addr, &storage, sizeof request.ifr_addr);
  ASSERT_EQ(::ioctl(query.descriptor(), SIOCSIFADDR, &request), 0);
}

TEST(Route, LoopbackIsReachedFromLoopback) {
  EXPECT_EQ(local_address_towards(kLoopback), kLoopback);
  EXPECT_EQ(towards_loopback(), kLoopback);
  EXPECT_EQ(local_address_towards(Address::loopback(Family::kIpv6), traveller(Family::kIpv6)),
            Address::loopback(Family::kIpv6));
}

TEST(Route, NoneIsNoneEachTime) {
  const auto broadcast = Address::parse("255.255.255.255").value();
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(local_address_towards(broadcast, traveller())) << "broadcast needs leave";
    EXPECT_EQ(towards_loopback(), kLoopback);
  }
}

TEST(Route, EachNetworkNamespaceHasItsOwn) {
  const bool done = in_new_namespace([](int old) {
    const int own = own_namespace();
    for (int i = 0; i < 20; ++i) {
      ASSERT_EQ(::setns(old, CLONE_NEWNET), 0);
      EXPECT_EQ(towards_loopback(), kLoopback);
      ASSERT_EQ(::setns(own, CLONE_NEWNET), 0);
      EXPECT_FALSE(towards_loopback());
      EXPECT_FALSE(local_address_towards(kLoopback));
    }
    ::close(own);
  });
  if (!done) GTEST_SKIP() << kNoNamespace;
}

TEST(Route, IsAskedForAgainWhenItIsNotFresh) {
  const bool done = in_new_namespace([](int) {
    const auto first = Address::parse("192.0.2.1").value();
    const auto second = Address::parse("192.0.2.2").value();
    const auto now = std::chrono::steady_clock::now();
    ASSERT_NO_FATAL_FAILURE(set_up_loopback(first));
    ASSERT_EQ(local_address_towards(first, traveller(), now), first);
    ASSERT_NO_FATAL_FAILURE(set_up_loopback(second));
    EXPECT_EQ(local_address_towards(first, traveller(), now + kRouteIsFresh - 1ns), first);
    EXPECT_NE(local_address_towards(first), first) << "who has no socket is told what holds now";
    EXPECT_NE(local_address_towards(first, traveller(), now + kRouteIsFresh), first);
  });
  if (!done) GTEST_SKIP() << kNoNamespace;
}

TEST(Route, IsTheOneThatWasAskedFor) {
  const auto wildcard = Address::any(Family::kIpv4);
  const auto v6 = Address::loopback(Family::kIpv6);
  const auto ask = [&] {
    for (int i = 0; i < 300; ++i) {
      EXPECT_EQ(towards_loopback(), kLoopback);
      EXPECT_EQ(local_address_towards(wildcard, traveller()), kLoopback) << "this host";
      EXPECT_EQ(local_address_towards(v6, traveller(Family::kIpv6)), v6);
    }
  };
  const std::jthread first(ask), second(ask);
}

}  // namespace
}  // namespace weft::transport
