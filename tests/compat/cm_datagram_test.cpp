// SPDX-License-Identifier: Apache-2.0
// RDMA_PS_UDP: a listener is asked which queue pair to send datagrams to, as udaddy does, within one process.
#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "cm_datagram_side.hpp"

namespace weft::compat::test {
namespace {

struct Listening {
  const Events events{};
  rdma_cm_id* const listener = listening(events, RDMA_PS_UDP);
  Listening() = default;
  ~Listening() { rdma_destroy_id(listener); }
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;
  [[nodiscard]] std::uint16_t port() const { return ntohs(rdma_get_src_port(listener)); }
};

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
