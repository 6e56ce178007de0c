// SPDX-License-Identifier: Apache-2.0
// RDMA_PS_UDP: a listener is asked which queue pair to send datagrams to, as udaddy does, within one process.
#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "ends.hpp"

namespace weft::compat::test {
namespace {

// An event that is acknowledged with it.
struct Event {
  explicit Event(const Events& events) {
    if (!readable(events.channel->fd)) throw std::runtime_error("no event came");
    must(rdma_get_cm_event(events.channel, &raw), "rdma_get_cm_event");
  }
  ~Event() { rdma_ack_cm_event(raw); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  rdma_cm_event* operator->() const { return raw; }
  [[nodiscard]] std::string words() const {
    return {static_cast<const char*>(raw->param.ud.private_data), raw->param.ud.private_data_len};
  }
  rdma_cm_event* raw = nullptr;
};

// An identifier with a queue pair for datagrams.
struct Side {
  rdma_cm_id* id;
  std::array<char, 256> octets{};
  ibv_cq* queue = must(ibv_create_cq(id->verbs, 16, nullptr, nullptr, 0), "ibv_create_cq");
  ibv_mr* region = must(ibv_reg_mr(id->pd, octets.data(), octets.size(), int{IBV_ACCESS_LOCAL_WRITE}), "ibv_reg_mr");

  explicit Side(rdma_cm_id* of) : id(of) {
    ibv_qp_init_attr wanted{};
    wanted.send_cq = wanted.recv_cq = queue;
    wanted.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 0};
    wanted.qp_type = IBV_QPT_UD;
    must(rdma_create_qp(id, nullptr, &wanted), "rdma_create_qp");
  }
  ~Side() {
    rdma_destroy_qp(id);
    ibv_dereg_mr(region);
    ibv_destroy_cq(queue);
    rdma_destroy_id(id);
  }
  Side(const Side&) = delete;
  Side& operator=(const Side&) = delete;

  [[nodiscard]] ibv_wc completion() const {
    ibv_wc wc{};
    wait_until([&] { return ibv_poll_cq(queue, 1, &wc) == 1; }, "a completion");
    return wc;
  }
  [[nodiscard]] rdma_conn_param says(const char* words) const {
    rdma_conn_param wanted{};
    wanted.private_data = words;
    wanted.private_data_len = static_cast<std::uint8_t>(std::strlen(words));
    wanted.qp_num = id->qp->qp_num;
    return wanted;
  }
};

struct Listening {
  const Events events{};
  rdma_cm_id* const listener = listening(events, RDMA_PS_UDP);
  Listening() = default;
  ~Listening() { rdma_destroy_id(listener); }
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;
  [[nodiscard]] std::uint16_t port() const { return ntohs(rdma_get_src_port(listener)); }
};

// What the engine has to say about it is nothing for the program.
void must_hear_nothing(const Events& events) {
  must(::fcntl(events.channel->fd, F_SETFL, O_NONBLOCK), "fcntl");
  rdma_cm_event* event = nullptr;
  EXPECT_EQ(rdma_get_cm_event(events.channel, &event), -1);
  EXPECT_EQ(errno, EAGAIN);
}

TEST(CmDatagrams, AListenerNamesItsQueuePair) {
  const Listening server;
  Side client(resolved(server.events, server.port(), RDMA_PS_UDP));
  EXPECT_EQ(client.id->qp_type, IBV_QPT_UD);
  rdma_conn_param asks = client.says("who?");
  must(rdma_connect(client.id, &asks), "rdma_connect");

  rdma_cm_id* asked = nullptr;
  {
    const Event request(server.events);
    ASSERT_EQ(request->event, RDMA_CM_EVENT_CONNECT_REQUEST);
    EXPECT_EQ(request.words(), "who?");
    EXPECT_EQ(request->param.ud.qp_num, client.id->qp->qp_num);
    asked = request->id;
  }
  EXPECT_EQ(asked->qp_type, IBV_QPT_UD);
  Side peer(asked);
  ibv_sge into{.addr = reinterpret_cast<std::uintptr_t>(peer.octets.data()), .length = 200, .lkey = peer.region->lkey};
  ibv_recv_wr receive{.wr_id = 5, .next = nullptr, .sg_list = &into, .num_sge = 1};
  ibv_recv_wr* bad_receive = nullptr;
  must(ibv_post_recv(asked->qp, &receive, &bad_receive), "ibv_post_recv");
  rdma_conn_param answers = peer.says("me");
  must(rdma_accept(asked, &answers), "rdma_accept");

  const Event answer(server.events);
  ASSERT_EQ(answer->event, RDMA_CM_EVENT_ESTABLISHED);
  EXPECT_EQ(answer->id, client.id);
  EXPECT_EQ(answer->status, 0);
  EXPECT_EQ(answer.words(), "me");
  EXPECT_EQ(answer->param.ud.qp_num, asked->qp->qp_num);
  ibv_ah* const path = must(ibv_create_ah(client.id->pd, &answer->param.ud.ah_attr), "ibv_create_ah");
  std::strcpy(client.octets.data(), "letters");
  ibv_sge from{
      .addr = reinterpret_cast<std::uintptr_t>(client.octets.data()), .length = 8, .lkey = client.region->lkey};
  ibv_send_wr send{};
  send.sg_list = &from;
  send.num_sge = 1;
  send.opcode = IBV_WR_SEND;
  send.wr.ud.ah = path;
  send.wr.ud.remote_qpn = answer->param.ud.qp_num;
  send.wr.ud.remote_qkey = answer->param.ud.qkey;
  ibv_send_wr* bad_send = nullptr;
  must(ibv_post_send(client.id->qp, &send, &bad_send), "ibv_post_send");
  const ibv_wc wc = peer.completion();
  EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
  EXPECT_EQ(wc.src_qp, client.id->qp->qp_num);
  EXPECT_STREQ(peer.octets.data() + sizeof(ibv_grh), "letters");
  must(ibv_destroy_ah(path), "ibv_destroy_ah");
  must_hear_nothing(server.events);
}

// --- Multicast groups

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

// --- Questions

TEST(CmDatagrams, ARefusalReachesTheProgram) {
  const Listening server;
  Side client(resolved(server.events, server.port(), RDMA_PS_UDP));
  must(rdma_connect(client.id, nullptr), "rdma_connect");
  rdma_cm_id* asked = nullptr;
  {
    const Event request(server.events);
    ASSERT_EQ(request->event, RDMA_CM_EVENT_CONNECT_REQUEST);
    EXPECT_EQ(request.words(), "");
    asked = request->id;
    must(rdma_reject(asked, "full", 4), "rdma_reject");
    const Event answer(server.events);
    EXPECT_EQ(answer->event, RDMA_CM_EVENT_UNREACHABLE);
    EXPECT_EQ(answer->status, -ECONNREFUSED);
    EXPECT_EQ(answer.words(), "full");
    EXPECT_EQ(rdma_connect(client.id, nullptr), -1) << "a second question";
  }
  rdma_destroy_id(asked);
}

TEST(CmDatagrams, NobodyListens) {
  const Events events;
  Side client(resolved(events, 1, RDMA_PS_UDP));
  must(rdma_connect(client.id, nullptr), "rdma_connect");
  const Event answer(events);
  EXPECT_EQ(answer->event, RDMA_CM_EVENT_UNREACHABLE);
  EXPECT_LT(answer->status, 0);
}

TEST(CmDatagrams, AnIdentifierForConnectionsIsRejected) {
  const Listening server;
  const Events own;
  const End client(resolved(own, server.port()));
  client.connect();
  ASSERT_TRUE(readable(server.events.channel->fd));
  must_hear_nothing(server.events);
  static_cast<void>(own.next(RDMA_CM_EVENT_REJECTED));
}

TEST(CmDatagrams, AListenerForConnectionsIsUnreachable) {
  const Events server;
  const Events own;
  rdma_cm_id* const listener = listening(server);
  {
    Side client(resolved(own, ntohs(rdma_get_src_port(listener)), RDMA_PS_UDP));
    must(rdma_connect(client.id, nullptr), "rdma_connect");
    End accepting(server.next(RDMA_CM_EVENT_CONNECT_REQUEST).id);
    accepting.accept();
    const Event answer(own);
    EXPECT_EQ(answer->event, RDMA_CM_EVENT_UNREACHABLE);
    EXPECT_EQ(answer->status, -EPROTO);
  }
  rdma_destroy_id(listener);
}

TEST(CmDatagrams, TypesOfQueuePairsAreThoseOfThePortSpace) {
  const Listening server;
  for (const auto& [space, type] : {std::pair(RDMA_PS_UDP, IBV_QPT_RC), std::pair(RDMA_PS_TCP, IBV_QPT_UD)}) {
    rdma_cm_id* const id = resolved(server.events, server.port(), space);
    ibv_qp_init_attr wanted{};
    wanted.qp_type = type;
    EXPECT_EQ(rdma_create_qp(id, nullptr, &wanted), -1);
    EXPECT_EQ(errno, EOPNOTSUPP);
    rdma_destroy_id(id);
  }
}

TEST(CmDatagrams, APortIsNeededForAQuestionAndAQueuePairForAnAnswer) {
  const Listening server;
  rdma_cm_id* const portless = resolved(server.events, 0, RDMA_PS_UDP);
  EXPECT_EQ(rdma_connect(portless, nullptr), -1);
  EXPECT_EQ(errno, EINVAL);
  rdma_destroy_id(portless);

  rdma_cm_id* const client = resolved(server.events, server.port(), RDMA_PS_UDP);
  must(rdma_connect(client, nullptr), "rdma_connect");
  rdma_cm_id* const asked = server.events.next(RDMA_CM_EVENT_CONNECT_REQUEST).id;
  EXPECT_EQ(rdma_accept(asked, nullptr), -1);
  EXPECT_EQ(errno, EINVAL);
  rdma_destroy_id(asked);
  static_cast<void>(server.events.next(RDMA_CM_EVENT_UNREACHABLE));
  rdma_destroy_id(client);
}

TEST(CmDatagrams, AttributesForEachState) {
  const Events events;
  rdma_cm_id* const id = resolved(events, 1, RDMA_PS_UDP);
  const auto mask_of = [&](ibv_qp_state state) {
    ibv_qp_attr attributes{};
    attributes.qp_state = state;
    int mask = 0;
    EXPECT_EQ(rdma_init_qp_attr(id, &attributes, &mask), 0);
    return mask;
  };
  EXPECT_EQ(mask_of(IBV_QPS_INIT), IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
  EXPECT_EQ(mask_of(IBV_QPS_RTR), IBV_QP_STATE);
  EXPECT_EQ(mask_of(IBV_QPS_RTS), IBV_QP_STATE | IBV_QP_SQ_PSN);
  rdma_destroy_id(id);
}

}  // namespace
}  // namespace weft::compat::test
