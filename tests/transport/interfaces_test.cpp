// SPDX-License-Identifier: Apache-2.0
#include "transport/interfaces.hpp"

#include <gtest/gtest.h>
#include <net/if.h>

#include <algorithm>
#include <fstream>
#include <string>

namespace weft::transport {
namespace {

TEST(Interfaces, AgreeWithSysfs) {
  const auto interfaces = enumerate_interfaces();
  ASSERT_TRUE(interfaces);
  ASSERT_FALSE(interfaces->empty());
  EXPECT_TRUE(std::ranges::is_sorted(*interfaces, {}, &Interface::index));
  for (const Interface& interface : *interfaces) {
    EXPECT_EQ(interface.index, if_nametoindex(interface.name.c_str()));
    std::ifstream file("/sys/class/net/" + interface.name + "/mtu");
    std::uint32_t mtu = 0;
    if (!(file >> mtu)) continue;
    EXPECT_EQ(interface.mtu, mtu) << interface.name;
    unsigned flags = 0;
    std::ifstream("/sys/class/net/" + interface.name + "/flags") >> std::hex >> flags;
    EXPECT_EQ(interface.loopback, (flags & IFF_LOOPBACK) != 0) << interface.name;
  }
}

TEST(Interfaces, LoopbackIsThere) {
  const auto interfaces = enumerate_interfaces().value();
  const auto loopback = std::ranges::find_if(interfaces, &Interface::loopback);
  ASSERT_NE(loopback, interfaces.end());
  EXPECT_TRUE(loopback->up);
  const InterfaceAddress usual{Address::loopback(Family::kIpv4), 8};
  EXPECT_NE(std::ranges::find(loopback->addresses, usual), loopback->addresses.end());
}

TEST(Interfaces, EveryAddressHasItsOwner) {
  const auto interfaces = enumerate_interfaces().value();
  for (const Interface& interface : interfaces) {
    for (const auto& own : interface.addresses) {
      const auto owner = find_owner(interfaces, own.address);
      ASSERT_TRUE(owner) << own.address.to_string();
      EXPECT_EQ(owner->index, interface.index);
    }
  }
}

TEST(Interfaces, OwnersOfUnlistedAddresses) {
  const auto interfaces = enumerate_interfaces().value();
  EXPECT_TRUE(find_owner(interfaces, Address::parse("127.9.9.9").value())->loopback);
  EXPECT_FALSE(find_owner(interfaces, Address::any(Family::kIpv4)));
  EXPECT_FALSE(find_owner(interfaces, Address::parse("192.0.2.77").value())) << "documentation range, RFC 5737";
}

}  // namespace
}  // namespace weft::transport
