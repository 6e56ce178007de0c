// SPDX-License-Identifier: Apache-2.0
#include "transport/resolver.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>

#include "tests/skips/localhost.hpp"
#include "tests/transport/support.hpp"

namespace weft::transport::test {
namespace {

using Resolved = std::expected<std::vector<Endpoint>, std::error_code>;

struct Resolving : testing::Test {
  RunningReactor reactor{};
  Mailbox<Resolved> done{};

  Resolved resolve(const std::string& host, const std::string& service) {
    const Resolver resolver(*reactor, host, service, [this](Resolved result) { done.put(std::move(result)); });
    return done.take().value();
  }
};

TEST_F(Resolving, NumbersNeedNoLookUp) {
  EXPECT_EQ(resolve("192.0.2.1", "4420"), std::vector{Endpoint::parse("192.0.2.1:4420").value()});
  EXPECT_EQ(resolve("2001:db8::1", ""), std::vector{Endpoint::parse("[2001:db8::1]:0").value()});
}

TEST_F(Resolving, NamesOfHostAndService) {
  if (!weft::test::localhost_has_an_address()) GTEST_SKIP() << weft::test::kNoLocalhost;
  const auto endpoints = resolve("localhost", "7174");
  ASSERT_TRUE(endpoints);
  for (const Endpoint& endpoint : *endpoints) {
    EXPECT_TRUE(endpoint.address.is_loopback()) << endpoint.to_string();
    EXPECT_EQ(endpoint.port, 7174);
  }
  auto sorted = *endpoints;
  std::ranges::sort(sorted);
  EXPECT_EQ(std::ranges::adjacent_find(sorted), sorted.end()) << "told twice";
}

TEST_F(Resolving, NoNameIsThisHost) {
  ASSERT_TRUE(resolve("", "80"));
  EXPECT_TRUE(resolve("", "80")->front().address.is_loopback());
}

TEST_F(Resolving, SaysWhatFails) {
  EXPECT_FALSE(resolve("no-such-host.invalid", "80"));  // RFC 6761: never exists
  EXPECT_FALSE(resolve("127.0.0.1", "no-such-service"));
  EXPECT_EQ(resolve("127.0.0.1", "65536").error(), std::errc::invalid_argument);
  EXPECT_EQ(resolve("localhost", "99999999999999999999").error(), std::errc::invalid_argument);
}

TEST_F(Resolving, NeverCallsBackAfterDestruction) {
  for (int i = 0; i < 100; ++i) {
    auto calls = std::make_unique<std::atomic<int>>(0);
    {
      const Resolver resolver(*reactor, i % 2 == 0 ? "127.0.0.1" : "localhost", "80", [&calls](Resolved) { ++*calls; });
      dawdle(3 * i);
      while (i % 3 == 0 && *calls == 0) std::this_thread::yield();
    }
    EXPECT_LE(*calls, 1);
    calls.reset();
  }
}

}  // namespace
}  // namespace weft::transport::test
