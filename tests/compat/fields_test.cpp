// SPDX-License-Identifier: Apache-2.0
// What the structures of libibverbs and librdmacm say of a connection, against the manual pages of rdma-core.
#include <arpa/inet.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>

#include "ends.hpp"
#include "things.hpp"

namespace weft::compat::test {
namespace {

using Clock = std::chrono::steady_clock;

ibv_wc next(const End& end) { return end.completions(1)[0]; }

// --- ibv_poll_cq(3)

int write_with_immediate(const Connected& ends, std::uint32_t octets, __be32 data) {
  const End& client = ends.client;
  ibv_sge from{
      .addr = reinterpret_cast<std::uintptr_t>(client.memory.data()), .length = octets, .lkey = client.region->lkey};
  ibv_send_wr wr{}, *bad = nullptr;
  wr.sg_list = &from;
  wr.num_sge = octets != 0 ? 1 : 0;
  wr.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
  wr.send_flags = IBV_SEND_SIGNALED;
  wr.imm_data = data;
  wr.wr.rdma.remote_addr = reinterpret_cast<std::uintptr_t>(ends.server->memory.data());
  wr.wr.rdma.rkey = ends.server->region->rkey;
  return ibv_post_send(client.id->qp, &wr, &bad);
}

TEST(Completion, OfAWriteWithImmediateCountsWhatWasWritten) {
  const Connected ends({.octets = 1 << 20});
  for (const std::uint32_t octets : {0U, 1U, 4096U, 70000U, 1U << 20}) {
    ends.server->post_receive(octets);
    ASSERT_EQ(write_with_immediate(ends, octets, htonl(octets + 5)), 0);
    const ibv_wc received = next(*ends.server), sent = next(ends.client);
    EXPECT_EQ(received.status, IBV_WC_SUCCESS);
    EXPECT_EQ(received.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
    EXPECT_EQ(received.wr_id, octets);
    EXPECT_EQ(received.byte_len, octets);
    EXPECT_EQ(received.wc_flags, unsigned{IBV_WC_WITH_IMM});
    EXPECT_EQ(ntohl(received.imm_data), octets + 5);
    EXPECT_EQ(received.qp_num, ends.server->id->qp->qp_num);
    EXPECT_EQ(sent.opcode, IBV_WC_RDMA_WRITE);
  }
}

// Each its own, whatever came before.
TEST(Completion, OfMixedMessagesCountsEachItsOwn) {
  const Connected ends;
  const Place there{reinterpret_cast<std::uintptr_t>(ends.server->memory.data()), ends.server->region->rkey};
  for (std::uint64_t i = 0; i < 4; ++i) ends.server->post_receive(i);
  ends.client.post_send(0, IBV_WR_RDMA_WRITE, there);
  ASSERT_EQ(write_with_immediate(ends, 0, 0), 0);
  ends.client.post_send(0, IBV_WR_SEND);
  ends.client.post_send(0, IBV_WR_RDMA_WRITE, there);
  ASSERT_EQ(write_with_immediate(ends, 100, 0), 0);
  ASSERT_EQ(write_with_immediate(ends, 7, 0), 0);
  const auto received = ends.server->completions(4);
  EXPECT_EQ(received[0].byte_len, 0U);
  EXPECT_EQ(received[1].byte_len, 4096U);
  EXPECT_EQ(received[2].byte_len, 100U);
  EXPECT_EQ(received[3].byte_len, 7U);
  EXPECT_EQ(ends.client.completions(6).size(), 6U);
  ends.client.post_send(0, IBV_WR_RDMA_READ, there);
  EXPECT_EQ(next(ends.client).byte_len, 4096U);
}

// --- ibv_post_send(3), ibv_post_recv(3): ENOMEM

int post_empty(const End& end) {
  ibv_send_wr wr{}, *bad = nullptr;
  wr.opcode = IBV_WR_SEND;
  wr.send_flags = IBV_SEND_SIGNALED;
  return ibv_post_send(end.id->qp, &wr, &bad);
}
int receive_empty(const End& end) {
  ibv_recv_wr wr{}, *bad = nullptr;
  return ibv_post_recv(end.id->qp, &wr, &bad);
}
template <typename Post>
std::uint32_t fill(const Post& post) {
  std::uint32_t count = 0;
  while (count < 1000 && post() == 0) ++count;
  return count;
}

constexpr std::uint32_t kSends = 32;  // however few the program asks for

TEST(Queues, AreFullOfWhatNobodyPolls) {
  const Connected ends({.depth = kSends});
  for (std::uint32_t i = 0; i < kSends; ++i) ASSERT_EQ(receive_empty(*ends.server), 0);
  EXPECT_EQ(fill([&] { return post_empty(ends.client); }), kSends);
  EXPECT_EQ(post_empty(ends.client), ENOMEM);
  EXPECT_EQ(ends.client.completions(kSends).size(), kSends);
  EXPECT_EQ(post_empty(ends.client), 0);
}

TEST(Queues, OfAQueuePairInErrorAreFullAsWell) {
  const Connected ends;
  ASSERT_EQ(modify(ends.client.id->qp, IBV_QPS_ERR), 0);
  EXPECT_EQ(fill([&] { return post_empty(ends.client); }), kSends);
  EXPECT_EQ(fill([&] { return receive_empty(ends.client); }), 16U);
  EXPECT_EQ(ends.client.completions(kSends + 16).size(), kSends + 16);
  ibv_wc none{};
  EXPECT_EQ(ibv_poll_cq(ends.client.queue, 1, &none), 0) << "and the completion queue has not overflowed";
}

// --- rdma_get_cm_event(3), ibv_query_qp(3): what was agreed

rdma_conn_param reads(std::uint8_t responder, std::uint8_t initiator) {
  rdma_conn_param wanted{};
  wanted.responder_resources = responder;
  wanted.initiator_depth = initiator;
  return wanted;
}

struct Depths {
  int responder_resources;
  int initiator_depth;
  bool operator==(const Depths&) const = default;
};

struct Agreed {
  Depths depths;
  std::string private_data;
  bool operator==(const Agreed&) const = default;
};

Agreed established(const Events& events, rdma_cm_id*& about) {
  if (!readable(events.channel->fd)) throw std::runtime_error("no event");
  rdma_cm_event* event = nullptr;
  must(rdma_get_cm_event(events.channel, &event), "rdma_get_cm_event");
  EXPECT_EQ(event->event, RDMA_CM_EVENT_ESTABLISHED);
  about = event->id;
  const rdma_conn_param& said = event->param.conn;
  const Agreed agreed{{said.responder_resources, said.initiator_depth},
                      {static_cast<const char*>(said.private_data), said.private_data_len}};
  rdma_ack_cm_event(event);
  return agreed;
}
Depths queried(const End& end) {
  ibv_qp_attr attributes{};
  ibv_qp_init_attr init{};
  must(ibv_query_qp(end.id->qp, &attributes, IBV_QP_STATE, &init), "ibv_query_qp");
  EXPECT_EQ(attributes.port_num, 1);
  return {attributes.max_dest_rd_atomic, attributes.max_rd_atomic};
}

TEST(Established, TellsWhatWasAgreed) {
  const Events events, of_server;
  rdma_cm_id* const listener = listening(events);
  End client(resolved(events, ntohs(rdma_get_src_port(listener))));
  rdma_conn_param wanted = reads(16, 12), answer = reads(5, 3);
  answer.private_data = "abc";
  answer.private_data_len = 2;
  must(rdma_connect(client.id, &wanted), "rdma_connect");
  End server(events.next(RDMA_CM_EVENT_CONNECT_REQUEST).id);
  must(rdma_migrate_id(server.id, of_server.channel), "rdma_migrate_id");
  must(rdma_accept(server.id, &answer), "rdma_accept");
  rdma_cm_id* about = nullptr;
  EXPECT_EQ(established(events, about), (Agreed{{3, 5}, "ab"}));
  EXPECT_EQ(about, client.id);
  EXPECT_EQ(established(of_server, about), (Agreed{{5, 3}, ""}));
  EXPECT_EQ(queried(client), (Depths{3, 5}));
  EXPECT_EQ(queried(server), (Depths{5, 3}));
  must(rdma_destroy_id(listener), "rdma_destroy_id");
}

// --- RDMA_CM_EVENT_TIMEWAIT_EXIT

TEST(TimewaitExit, ComesTwoSecondsAfterTheEndToIdentifiersThatAreThere) {
  Connected ends;
  must(rdma_disconnect(ends.client.id), "rdma_disconnect");
  static_cast<void>(ends.events.next(RDMA_CM_EVENT_DISCONNECTED));
  const auto ended = Clock::now();
  static_cast<void>(ends.events.next(RDMA_CM_EVENT_DISCONNECTED));
  ends.server.reset();  // has no further event, and needs not wait for one
  EXPECT_LT(Clock::now() - ended, std::chrono::seconds(1)) << "a machine that is too slow for this test";
  const Happened last = ends.events.next(RDMA_CM_EVENT_TIMEWAIT_EXIT);
  EXPECT_EQ(last.id, ends.client.id);
  EXPECT_GE(Clock::now() - ended, std::chrono::milliseconds(1500));
}

// --- ibv_modify_qp(3), and the state that a queue pair shows

TEST(State, OfANewQueuePairIsResetInItsStructure) {
  const Things things;
  EXPECT_EQ(things.qp->state, IBV_QPS_RESET);
  ibv_qp_attr attributes{};
  ibv_qp_init_attr init{};
  ASSERT_EQ(ibv_query_qp(things.qp, &attributes, IBV_QP_STATE, &init), 0);
  EXPECT_EQ(attributes.qp_state, IBV_QPS_INIT);
  EXPECT_EQ(things.qp->state, IBV_QPS_INIT) << "as rdma-core does it";
}

TEST(State, RefusedSetsErrnoToo) {
  const Things things;
  errno = 0;
  EXPECT_EQ(modify(things.qp, IBV_QPS_SQE), EINVAL);
  EXPECT_EQ(errno, EINVAL);
  errno = 0;
  EXPECT_EQ(ibv_destroy_cq(things.cq), EBUSY);
  EXPECT_EQ(errno, EBUSY);
}

// --- ibv_query_device(3), ibv_query_port(3)

TEST(Limits, AllowThirtyTwoSegments) {
  const Connected ends({.octets = 64});
  ibv_device_attr device{};
  ASSERT_EQ(ibv_query_device(ends.client.id->verbs, &device), 0);
  EXPECT_EQ(device.max_sge, 32);
  ibv_qp_init_attr wanted{};
  wanted.send_cq = wanted.recv_cq = ends.client.queue;
  wanted.qp_type = IBV_QPT_RC;
  wanted.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 32, .max_recv_sge = 32, .max_inline_data = 0};
  ibv_qp* const qp = have(ibv_create_qp(ends.client.domain, &wanted), "ibv_create_qp");
  EXPECT_EQ(wanted.cap.max_send_sge, 32U);
  ibv_destroy_qp(qp);
}

// --- Hints

struct Opened {
  ~Opened() { ibv_close_device(context); }
  ibv_context* const context = open_loopback();
};

TEST(Hints, ThreadAndParentDomains) {
  const Opened opened;
  ibv_context* const context = opened.context;
  ibv_pd* const pd = have(ibv_alloc_pd(context), "ibv_alloc_pd");
  ibv_td_init_attr thread_wishes{};
  ibv_td* const td = have(ibv_alloc_td(context, &thread_wishes), "ibv_alloc_td");
  ibv_parent_domain_init_attr wishes{};
  wishes.pd = pd;
  wishes.td = td;
  ibv_pd* const parent = have(ibv_alloc_parent_domain(context, &wishes), "ibv_alloc_parent_domain");
  EXPECT_EQ(parent->context, context);
  ibv_cq_init_attr_ex queue_wishes{};
  queue_wishes.cqe = 10;
  queue_wishes.comp_mask = IBV_CQ_INIT_ATTR_MASK_PD;
  queue_wishes.parent_domain = parent;
  ibv_cq_ex* const queue = have(ibv_create_cq_ex(context, &queue_wishes), "ibv_create_cq_ex");
  std::array<char, 8> memory{};
  ibv_mr* const region = have(ibv_reg_mr(parent, memory.data(), memory.size(), 0), "ibv_reg_mr");
  EXPECT_EQ(region->pd, parent);
  EXPECT_EQ(ibv_dealloc_pd(pd), EBUSY);
  EXPECT_EQ(ibv_dealloc_td(td), EBUSY);
  EXPECT_EQ(ibv_dealloc_pd(parent), EBUSY);
  EXPECT_EQ(ibv_dereg_mr(region), 0);
  EXPECT_EQ(ibv_dealloc_pd(parent), EBUSY) << "the completion queue is in it";
  EXPECT_EQ(ibv_destroy_cq(ibv_cq_ex_to_cq(queue)), 0);
  EXPECT_EQ(ibv_dealloc_pd(parent), 0);
  EXPECT_EQ(ibv_dealloc_td(td), 0);
  EXPECT_EQ(ibv_dealloc_pd(pd), 0);
  wishes.pd = nullptr;
  EXPECT_EQ(ibv_alloc_parent_domain(context, &wishes), nullptr);
  EXPECT_EQ(errno, EINVAL);
}

TEST(Hints, AboutMemoryAndModeration) {
  const Things things;
  alignas(4096) static std::array<char, 8192> memory{};
  ibv_mr* const region =
      have(ibv_reg_mr(things.pd, memory.data(), memory.size(), IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ON_DEMAND),
           "ibv_reg_mr with IBV_ACCESS_ON_DEMAND");
  ibv_sge all{.addr = reinterpret_cast<std::uintptr_t>(memory.data()), .length = 8192, .lkey = region->lkey};
  EXPECT_EQ(ibv_advise_mr(things.pd, IBV_ADVISE_MR_ADVICE_PREFETCH, IBV_ADVISE_MR_FLAG_FLUSH, &all, 1), 0);
  EXPECT_EQ(ibv_advise_mr(things.pd, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, &all, 0), EINVAL);
  EXPECT_EQ(ibv_dereg_mr(region), 0);
  ibv_modify_cq_attr moderation{.attr_mask = IBV_CQ_ATTR_MODERATE, .moderate = {.cq_count = 16, .cq_period = 10}};
  EXPECT_EQ(ibv_modify_cq(things.cq, &moderation), 0);
  moderation.attr_mask = IBV_CQ_ATTR_RESERVED;
  EXPECT_EQ(ibv_modify_cq(things.cq, &moderation), EINVAL);
}

// It reads as zeros, and takes what is to be dropped.
TEST(NullRegion, IsNoMemory) {
  Connected ends({.octets = 16});
  ibv_mr* const nothing = have(ibv_alloc_null_mr(ends.client.domain), "ibv_alloc_null_mr");
  ibv_mr* const nowhere = have(ibv_alloc_null_mr(ends.server->domain), "ibv_alloc_null_mr");
  std::ranges::fill(ends.client.memory, std::byte{1});
  std::ranges::fill(ends.server->memory, std::byte{2});
  const auto address = [](const End& end) { return reinterpret_cast<std::uintptr_t>(end.memory.data()); };
  std::array from{ibv_sge{address(ends.client), 4, ends.client.region->lkey}, ibv_sge{0, 4, nothing->lkey},
                  ibv_sge{address(ends.client), 4, ends.client.region->lkey}};
  std::array to{ibv_sge{~0ULL - 100, 2, nowhere->lkey}, ibv_sge{address(*ends.server), 10, ends.server->region->lkey}};
  ibv_recv_wr receive{.wr_id = 1, .next = nullptr, .sg_list = to.data(), .num_sge = 2}, *bad_receive = nullptr;
  // The ends' queue pairs have one segment each: these have more.
  EXPECT_EQ(ibv_post_recv(ends.server->id->qp, &receive, &bad_receive), EINVAL);
  receive.sg_list = &to[1];
  receive.num_sge = 1;
  ASSERT_EQ(ibv_post_recv(ends.server->id->qp, &receive, &bad_receive), 0);
  receive.sg_list = to.data();
  ASSERT_EQ(ibv_post_recv(ends.server->id->qp, &receive, &bad_receive), 0);
  ibv_send_wr send{}, *bad = nullptr;
  send.sg_list = &from[1];
  send.num_sge = 1;
  send.opcode = IBV_WR_SEND;
  send.send_flags = IBV_SEND_SIGNALED;
  ASSERT_EQ(ibv_post_send(ends.client.id->qp, &send, &bad), 0);
  from[0].length = 2;
  send.sg_list = from.data();
  ASSERT_EQ(ibv_post_send(ends.client.id->qp, &send, &bad), 0);
  const auto received = ends.server->completions(2);
  EXPECT_EQ(received[0].status, IBV_WC_SUCCESS);
  EXPECT_EQ(received[1].status, IBV_WC_SUCCESS);
  for (const ibv_wc& sent : ends.client.completions(2)) EXPECT_EQ(sent.status, IBV_WC_SUCCESS);
  for (std::size_t i = 0; i < 16; ++i) EXPECT_EQ(ends.server->memory[i], i < 4 ? std::byte{0} : std::byte{2}) << i;
  EXPECT_EQ(ibv_dereg_mr(nothing), 0);
  EXPECT_EQ(ibv_dereg_mr(nowhere), 0);
}

}  // namespace
}  // namespace weft::compat::test
