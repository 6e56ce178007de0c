// SPDX-License-Identifier: Apache-2.0
// Multicast groups of RDMA_PS_UDP, as mckey uses them, within one process.
#include <arpa/inet.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>

#include "cm_datagram_side.hpp"
#include "tests/raw_group.hpp"

namespace weft::compat::test {
namespace {

struct Group {
  sockaddr_in address{};
  explicit Group(const char* text) {
    address.sin_family = AF_INET;
    must(::inet_pton(AF_INET, text, &address.sin_addr) - 1, "inet_pton");
  }
  [[nodiscard]] sockaddr* raw() { return plain(address); }
};

// An identifier with the device of 127.0.0.1, and no port of a peer.
rdma_cm_id* bound(const Events& events) {
  rdma_cm_id* const id = create_id(events, RDMA_PS_UDP);
  sockaddr_in here = loopback(0);
  must(rdma_bind_addr(id, plain(here)), "rdma_bind_addr");
  return id;
}

ibv_ah* path_of_join(const Events& events, ibv_pd* pd, void* context) {
  const Event joined(events);
  EXPECT_EQ(joined->event, RDMA_CM_EVENT_MULTICAST_JOIN);
  EXPECT_EQ(joined->status, 0);
  EXPECT_EQ(joined->param.ud.private_data, context);
  EXPECT_EQ(joined->param.ud.qp_num, 0xFFFFFFU);
  return must(ibv_create_ah(pd, &joined->param.ud.ah_attr), "ibv_create_ah");
}

void send_to_group(Side& from, ibv_ah* path, const char* words) {
  std::strcpy(from.octets.data(), words);
  ibv_sge list{.addr = reinterpret_cast<std::uintptr_t>(from.octets.data()), .length = 8, .lkey = from.region->lkey};
  ibv_send_wr send{};
  send.sg_list = &list;
  send.num_sge = 1;
  send.opcode = IBV_WR_SEND;
  send.wr.ud.ah = path;
  send.wr.ud.remote_qpn = 0xFFFFFF;
  send.wr.ud.remote_qkey = RDMA_UDP_QKEY;
  ibv_send_wr* bad = nullptr;
  must(ibv_post_send(from.id->qp, &send, &bad), "ibv_post_send");
}

void receive_into(Side& side) {
  ibv_sge into{.addr = reinterpret_cast<std::uintptr_t>(side.octets.data()), .length = 200, .lkey = side.region->lkey};
  ibv_recv_wr receive{.wr_id = 5, .next = nullptr, .sg_list = &into, .num_sge = 1};
  ibv_recv_wr* bad = nullptr;
  must(ibv_post_recv(side.id->qp, &receive, &bad), "ibv_post_recv");
}

TEST(CmMulticast, AMemberReceivesUntilItLeaves) {
  const Events events;
  Side member(bound(events));
  Side sender(bound(events));
  Group group("239.192.0.20");
  int context = 0;
  must(rdma_join_multicast(member.id, group.raw(), &context), "rdma_join_multicast");
  must(ibv_destroy_ah(path_of_join(events, member.id->pd, &context)), "ibv_destroy_ah");
  EXPECT_EQ(rdma_join_multicast(member.id, group.raw(), nullptr), -1) << "again";

  rdma_cm_join_mc_attr_ex only_sends{};
  only_sends.comp_mask = RDMA_CM_JOIN_MC_ATTR_ADDRESS | RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS;
  only_sends.join_flags = RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER;
  only_sends.addr = group.raw();
  must(rdma_join_multicast_ex(sender.id, &only_sends, nullptr), "rdma_join_multicast_ex");
  ibv_ah* const path = path_of_join(events, sender.id->pd, nullptr);
  receive_into(member);
  receive_into(sender);
  send_to_group(sender, path, "letters");
  EXPECT_EQ(member.completion().wr_id, 5U);
  EXPECT_STREQ(member.octets.data() + sizeof(ibv_grh), "letters");

  must(rdma_leave_multicast(member.id, group.raw()), "rdma_leave_multicast");
  EXPECT_EQ(rdma_leave_multicast(member.id, group.raw()), -1);
  EXPECT_EQ(errno, EADDRNOTAVAIL);
  must(ibv_destroy_ah(path), "ibv_destroy_ah");
}

// As mckey does: without a route to the group, the address that the identifier is bound to says which device.
TEST(CmMulticast, AGroupIsResolvedByTheAddressOfTheSender) {
  const Events events;
  rdma_cm_id* const id = bound(events);
  Group group("239.192.0.24");
  must(rdma_resolve_addr(id, nullptr, group.raw(), 1000), "rdma_resolve_addr");
  {
    const Event resolved(events);
    EXPECT_EQ(resolved->event, RDMA_CM_EVENT_ADDR_RESOLVED);
  }
  EXPECT_EQ(ntohl(id->route.addr.src_sin.sin_addr.s_addr), INADDR_LOOPBACK);
  rdma_destroy_id(id);
}

TEST(CmMulticast, AQueuePairAttachesItself) {
  const Events events;
  Side side(bound(events));
  ibv_gid gid{};
  gid.raw[10] = gid.raw[11] = 0xff;
  gid.raw[12] = 239;
  gid.raw[13] = 192;
  gid.raw[15] = 21;
  EXPECT_EQ(ibv_detach_mcast(side.id->qp, &gid, 0), EINVAL);
  must(ibv_attach_mcast(side.id->qp, &gid, 0), "ibv_attach_mcast");
  ibv_ah_attr to{};
  to.is_global = 1;
  to.grh.dgid = gid;
  to.port_num = 1;
  ibv_ah* const path = must(ibv_create_ah(side.id->pd, &to), "ibv_create_ah");
  receive_into(side);
  send_to_group(side, path, "letters");
  ibv_wc wc = side.completion();
  if (wc.opcode == IBV_WC_SEND) wc = side.completion();
  EXPECT_EQ(wc.opcode, IBV_WC_RECV);
  must(ibv_detach_mcast(side.id->qp, &gid, 0), "ibv_detach_mcast");
  must(ibv_destroy_ah(path), "ibv_destroy_ah");
}

// The event of a join keeps datagrams on the network, and an address handle of the program's goes further.
TEST(CmMulticast, TheHopLimitOfAnAddressHandleIsThatOfTheDatagram) {
  constexpr const char* kText = "239.192.0.25";
  const Events events;
  Side sender(bound(events));
  Group group(kText);
  must(rdma_join_multicast(sender.id, group.raw(), nullptr), "rdma_join_multicast");
  ibv_ah_attr to{};
  {
    const Event joined(events);
    ASSERT_EQ(joined->event, RDMA_CM_EVENT_MULTICAST_JOIN);
    to = joined->param.ud.ah_attr;
  }
  EXPECT_EQ(to.grh.hop_limit, 1);
  const weft::test::RawGroupMember raw(kText, 65535);
  ASSERT_TRUE(raw.joined()) << std::strerror(errno);
  for (const int hops : {1, 7, 0}) {
    to.grh.hop_limit = static_cast<std::uint8_t>(hops);
    ibv_ah* const path = must(ibv_create_ah(sender.id->pd, &to), "ibv_create_ah");
    send_to_group(sender, path, "letters");
    EXPECT_EQ(raw.hops_of_next(), hops == 0 ? 1 : hops);
    must(ibv_destroy_ah(path), "ibv_destroy_ah");
  }
}

TEST(CmMulticast, AnEventOfAGroupThatWasLeftIsNotDelivered) {
  const Events events;
  rdma_cm_id* const id = bound(events);
  Group group("239.192.0.22");
  must(rdma_join_multicast(id, group.raw(), nullptr), "rdma_join_multicast");
  must(rdma_leave_multicast(id, group.raw()), "rdma_leave_multicast");
  must_hear_nothing(events);
  rdma_destroy_id(id);
}

TEST(CmMulticast, WhatCannotBeJoinedIsRefused) {
  const Events events;
  Group group("239.192.0.23");
  Group host("127.0.0.1");
  const auto refused = [](int expected, int answer) {
    EXPECT_EQ(answer, -1);
    EXPECT_EQ(errno, expected);
  };
  rdma_cm_id* const unbound = create_id(events, RDMA_PS_UDP);
  refused(EINVAL, rdma_join_multicast(unbound, group.raw(), nullptr));
  rdma_destroy_id(unbound);
  rdma_cm_id* const id = bound(events);
  refused(EINVAL, rdma_join_multicast(id, host.raw(), nullptr));
  refused(EINVAL, rdma_join_multicast(id, nullptr, nullptr));
  refused(EINVAL, rdma_join_multicast_ex(id, nullptr, nullptr));
  rdma_cm_join_mc_attr_ex wanted{};
  wanted.addr = group.raw();
  refused(EINVAL, rdma_join_multicast_ex(id, &wanted, nullptr));
  rdma_destroy_id(id);
  rdma_cm_id* const connecting = create_id(events, RDMA_PS_TCP);
  sockaddr_in here = loopback(0);
  must(rdma_bind_addr(connecting, plain(here)), "rdma_bind_addr");
  refused(EOPNOTSUPP, rdma_join_multicast(connecting, group.raw(), nullptr));
  rdma_destroy_id(connecting);
}

}  // namespace
}  // namespace weft::compat::test
