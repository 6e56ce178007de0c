// SPDX-License-Identifier: Apache-2.0
// Multicast groups of queue pairs for datagrams, on loopback addresses.
#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "tests/raw_group.hpp"
#include "tests/verbs/datagram_end.hpp"
#include "verbs/datagram/datagram_header.hpp"

namespace weft::verbs::test {
namespace {

const Address kGroup = *Address::parse("239.192.0.1");

DatagramAddress named(const Address& group) {
  return {.address = group, .number = DatagramQueuePair::kMulticastNumber, .qkey = kQkey};
}

TEST(DatagramGroup, EachMemberReceivesACopyThatNamesTheGroup) {
  DatagramEnd sender;
  DatagramEnd members[2];
  for (DatagramEnd& member : members) {
    member.receive(5);
    must(member.own->join(kGroup), "join");
    must(member.own->join(kGroup), "join again");
  }
  ASSERT_TRUE(sender.send(named(kGroup), "letters"));
  for (DatagramEnd& member : members) {
    const WorkCompletion got = member.next();
    EXPECT_EQ(got.status, WcStatus::kSuccess);
    EXPECT_EQ(got.byte_len, kHeader + 7);
    EXPECT_EQ(got.source_qp, sender.own->number());
    EXPECT_EQ(member.text(0, 7), "letters");
    const auto route = detail::route_header(sender.local, kGroup, 7);
    EXPECT_TRUE(std::equal(route.begin(), route.end(), member.buffer.octets.begin()));
    member.expect_nothing();
  }
}

TEST(DatagramGroup, AMemberReceivesWhatItSendsAndItsPortGoesOn) {
  DatagramEnd a;
  must(a.own->join(kGroup), "join");
  a.receive(5);
  a.receive(6, 200);
  ASSERT_TRUE(a.send(named(kGroup), "group", {}));
  EXPECT_EQ(a.next().wr_id, 5U);
  ASSERT_TRUE(a.send(a.name(), "port", {}));
  EXPECT_EQ(a.next().wr_id, 6U);
  EXPECT_EQ(a.text(200, 4), "port");
}

TEST(DatagramGroup, AKeyAndAMembershipAreNeeded) {
  DatagramEnd sender;
  DatagramEnd member;
  member.receive(5);
  must(member.own->join(kGroup), "join");
  DatagramAddress to = named(kGroup);
  to.qkey ^= 1;
  ASSERT_TRUE(sender.send(to, "wrong key", {}));
  to = named(*Address::parse("239.192.0.2"));
  ASSERT_TRUE(sender.send(to, "another group", {}));
  to = named(kGroup);
  to.number = member.own->number();
  ASSERT_TRUE(sender.send(to, "not the group's port", {}));
  to = named(member.local);
  ASSERT_TRUE(sender.send(to, "no group", {}));
  member.expect_nothing();
  ASSERT_TRUE(sender.send(named(kGroup), "x", {}));
  EXPECT_EQ(member.next().wr_id, 5U);
}

TEST(DatagramGroup, IsLeftAndJoinedInAnyState) {
  DatagramEnd sender;
  DatagramEnd member({}, "127.0.0.1", QpState::kInit);
  member.receive(5);
  must(member.own->join(kGroup), "join before RTR");
  must(member.own->modify(QpState::kRtr), "RTR");
  ASSERT_TRUE(sender.send(named(kGroup), "1", {}));
  EXPECT_EQ(member.next().wr_id, 5U);
  must(member.own->leave(kGroup), "leave");
  EXPECT_EQ(member.own->leave(kGroup).error().argument, "group");
  member.receive(6);
  ASSERT_TRUE(sender.send(named(kGroup), "2", {}));
  member.expect_nothing();
  must(member.own->join(*Address::parse("239.192.0.3")), "join another one");
  ASSERT_TRUE(sender.send(named(*Address::parse("239.192.0.3")), "3", {}));
  EXPECT_EQ(member.next().wr_id, 6U);
}

TEST(DatagramGroup, WaitsForAReceiveAndIsForgottenWhenLeft) {
  DatagramEnd sender;
  DatagramEnd member;
  must(member.own->join(kGroup), "join");
  ASSERT_TRUE(sender.send(named(kGroup), "waits", {}));
  member.expect_nothing();
  member.receive(5);
  EXPECT_EQ(member.next().wr_id, 5U);
  ASSERT_TRUE(sender.send(named(kGroup), "is forgotten", {}));
  member.expect_nothing();
  must(member.own->leave(kGroup), "leave");
  member.receive(6);
  member.expect_nothing();
  ASSERT_TRUE(sender.send(member.name(), "port", {}));
  EXPECT_EQ(member.next().wr_id, 6U);
}

TEST(DatagramGroup, WrongOnesAreNamedAndTheirNumberIsBounded) {
  DatagramEnd a;
  EXPECT_EQ(a.own->join(a.local).error().code, Errc::kInvalidArgument);
  EXPECT_EQ(a.own->join(*Address::parse("ff02::1")).error().code, Errc::kInvalidArgument);
  Address group = kGroup;
  for (std::size_t i = 0; i < DatagramQueuePair::kMaxGroups; ++i) {
    group.octets[3] = static_cast<std::byte>(i);
    must(a.own->join(group), "join");
  }
  group.octets[3] = std::byte{200};
  EXPECT_EQ(a.own->join(group).error().code, Errc::kLimitExceeded);
  group.octets[3] = std::byte{3};
  must(a.own->leave(group), "leave");
  group.octets[3] = std::byte{200};
  must(a.own->join(group), "join in its place");
}

// --- How far a datagram goes

void expect_hops_of_sender(const char* host, const char* group, const char* interface) {
  const weft::test::RawGroupMember raw(group, DatagramQueuePair::port_of(DatagramQueuePair::kMulticastNumber),
                                       interface);
  ASSERT_TRUE(raw.joined()) << std::strerror(errno);
  DatagramEnd sender({}, host);
  DatagramAddress to = named(*Address::parse(group));
  ASSERT_TRUE(sender.send(to, "default", {}));
  ASSERT_EQ(raw.hops_of_next(), 1);
  for (const int hops : {5, 255, 255, 1, 2}) {
    to.hop_limit = static_cast<std::uint8_t>(hops);
    ASSERT_TRUE(sender.send(to, "letters", {}));
    EXPECT_EQ(raw.hops_of_next(), hops);
  }
  to.hop_limit = 0;  // as in InfiniBand: the network, not this host alone
  ASSERT_TRUE(sender.send(to, "letters", {}));
  EXPECT_EQ(raw.hops_of_next(), 1);
}

TEST(DatagramHops, OfIpv4AreThoseOfTheSender) { expect_hops_of_sender("127.0.0.1", "239.192.0.3", "lo"); }

// The loopback interface has no groups of IPv6.
TEST(DatagramHops, OfIpv6AreThoseOfTheSender) {
  bool made = false;
  std::jthread([&] {
    made =
        ::unshare(CLONE_NEWNET) == 0 &&  // of this thread, and of those that it starts
        std::system(
            "ip link set lo up && ip link add hops0 type veth peer name hops1 && ip link set hops1 up && "
            "ip addr add 2001:db8::1/64 dev hops0 nodad && ip link set hops0 up && for i in $(seq 1000); do "
            "ip link show hops0 | grep -q 'state UP' && ip -6 route show table all dev hops0 | grep -q ff00 && exit 0; "
            "sleep 0.01; done; exit 1") == 0;
    if (made) expect_hops_of_sender("2001:db8::1", "ff0e::1234", "hops0");
  }).join();
  if (!made) GTEST_SKIP() << "SKIPPED: needs the right to make a network namespace with an interface (root)";
}

}  // namespace
}  // namespace weft::verbs::test
