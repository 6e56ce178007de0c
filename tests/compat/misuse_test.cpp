// SPDX-License-Identifier: Apache-2.0
// What a program may get wrong, call by call: the errno that the manual page names, and at log level info one line that
// begins with the call and says why.
#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <limits>
#include <type_traits>
#include <vector>

#include "direct_sides.hpp"
#include "misuse.hpp"

namespace weft::compat::test {
namespace {

// Before the libraries read it: they do that when the first device is opened.
const int kLogs = ::setenv("WEFT_LOG", "info", 1);

using Misuse = test::Misuse<Things>;

void expect_all_refused(const std::vector<Misuse>& all) {
  Things things;
  ASSERT_EQ(modify(things.qp, IBV_QPS_INIT), 0);
  for (const Misuse& misuse : all) expect_refused(misuse, things);
}

// --- Making things

int create_cq(Things& things, int cqe, int vector) {
  return answer(ibv_create_cq(things.context, cqe, nullptr, nullptr, vector));
}

TEST(CompatMisuse, CompletionQueues) {
  expect_all_refused({
      {"ibv_create_cq", EINVAL, "less than one", [](Things& t) { return create_cq(t, 0, 0); }},
      {"ibv_create_cq", EINVAL, "less than one", [](Things& t) { return create_cq(t, -1, 0); }},
      {"ibv_create_cq", EINVAL, "limit", [](Things& t) { return create_cq(t, std::numeric_limits<int>::max(), 0); }},
      {"ibv_create_cq", EINVAL, "vector", [](Things& t) { return create_cq(t, 1, t.context->num_comp_vectors); }},
      {"ibv_create_cq", EINVAL, "vector", [](Things& t) { return create_cq(t, 1, -1); }},
      {"ibv_resize_cq", EINVAL, "less than one", [](Things& t) { return ibv_resize_cq(t.cq, 0); }},
      {"ibv_resize_cq", EINVAL, "limit",
       [](Things& t) { return ibv_resize_cq(t.cq, std::numeric_limits<int>::max()); }},
      {"ibv_destroy_cq", EBUSY, "queue pairs", [](Things& t) { return ibv_destroy_cq(t.cq); }},
      {"ibv_destroy_comp_channel", EBUSY, "queues", [](Things& t) { return ibv_destroy_comp_channel(t.channel); }},
      {"ibv_create_cq_ex", EINVAL, "cqe",
       [](Things& t) {
         ibv_cq_init_attr_ex wanted{};
         return answer(ibv_create_cq_ex(t.context, &wanted));
       }},
      {"ibv_create_cq_ex", EINVAL, "parent_domain",
       [](Things& t) {
         ibv_cq_init_attr_ex wanted{};
         wanted.cqe = 1;
         wanted.comp_mask = IBV_CQ_INIT_ATTR_MASK_PD;
         wanted.parent_domain = t.pd;  // not made by ibv_alloc_parent_domain
         return answer(ibv_create_cq_ex(t.context, &wanted));
       }},
      {"ibv_create_cq_ex", EOPNOTSUPP, "wc_flags",
       [](Things& t) {
         ibv_cq_init_attr_ex wanted{};
         wanted.cqe = 1;
         wanted.wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP;
         return answer(ibv_create_cq_ex(t.context, &wanted));
       }},
  });
}

template <typename Change>
int create_qp(Things& things, Change change) {
  ibv_qp_init_attr wanted = Things::qp_wishes(things.cq);
  change(wanted);
  return answer(ibv_create_qp(things.pd, &wanted));
}

constexpr std::uint32_t kHuge = 1U << 30;

TEST(CompatMisuse, MakingQueuePairs) {
  expect_all_refused({
      {"ibv_create_qp", EINVAL, "max_send_wr",
       [](Things& t) { return create_qp(t, [](auto& wanted) { wanted.cap.max_send_wr = kHuge; }); }},
      {"ibv_create_qp", EINVAL, "max_receive_wr",
       [](Things& t) { return create_qp(t, [](auto& wanted) { wanted.cap.max_recv_wr = kHuge; }); }},
      {"ibv_create_qp", EINVAL, "max_send_sge",
       [](Things& t) { return create_qp(t, [](auto& wanted) { wanted.cap.max_send_sge = kHuge; }); }},
      {"ibv_create_qp", EINVAL, "max_receive_sge",
       [](Things& t) { return create_qp(t, [](auto& wanted) { wanted.cap.max_recv_sge = kHuge; }); }},
      {"ibv_create_qp", EINVAL, "max_inline",
       [](Things& t) { return create_qp(t, [](auto& wanted) { wanted.cap.max_inline_data = kHuge; }); }},
      {"ibv_create_qp", EOPNOTSUPP, "IBV_QPT_RC",
       [](Things& t) { return create_qp(t, [](auto& wanted) { wanted.qp_type = IBV_QPT_RAW_PACKET; }); }},
      {"ibv_create_qp", EINVAL, "completion queue",
       [](Things& t) { return create_qp(t, [](auto& wanted) { wanted.send_cq = nullptr; }); }},
      {"ibv_create_srq", EINVAL, "max_wr",
       [](Things& t) {
         ibv_srq_init_attr wanted{};
         return answer(ibv_create_srq(t.pd, &wanted));
       }},
      {"ibv_create_srq_ex", EOPNOTSUPP, "comp_mask",
       [](Things& t) {
         ibv_srq_init_attr_ex wanted{};
         wanted.attr = {.max_wr = 4, .max_sge = 1, .srq_limit = 0};
         wanted.comp_mask = IBV_SRQ_INIT_ATTR_PD | 1U << 30;
         wanted.pd = t.pd;
         return answer(ibv_create_srq_ex(t.context, &wanted));
       }},
      {"ibv_create_qp_ex", EOPNOTSUPP, "send_ops_flags",
       [](Things& t) {
         const ibv_qp_init_attr plain = Things::qp_wishes(t.cq);
         ibv_qp_init_attr_ex wanted{};
         wanted.send_cq = wanted.recv_cq = t.cq;
         wanted.cap = plain.cap;
         wanted.qp_type = IBV_QPT_UC;
         wanted.pd = t.pd;
         wanted.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
         wanted.send_ops_flags = IBV_QP_EX_WITH_RDMA_READ;
         return answer(ibv_create_qp_ex(t.context, &wanted));
       }},
      {"ibv_modify_srq", EINVAL, "limit",
       [](Things& t) {
         ibv_srq_attr wanted{.max_wr = 0, .max_sge = 0, .srq_limit = 5};
         return ibv_modify_srq(t.srq, &wanted, IBV_SRQ_LIMIT);
       }},
  });
}

int by_hand(Things& things, ibv_qp_state state, int mask) {
  ibv_qp_attr to{};
  to.qp_state = state;
  return ibv_modify_qp(things.qp, &to, IBV_QP_STATE | mask);
}

template <int kBit, auto kMember, int kValue>
int set_to(Things& things) {
  ibv_qp_attr to{};
  to.*kMember = static_cast<std::remove_reference_t<decltype(to.*kMember)>>(kValue);
  return ibv_modify_qp(things.qp, &to, kBit);
}

TEST(CompatMisuse, Attributes) {
  expect_all_refused({
      {"ibv_modify_qp", EINVAL, "port_num", set_to<IBV_QP_PORT, &ibv_qp_attr::port_num, 2>},
      {"ibv_modify_qp", EINVAL, "pkey_index", set_to<IBV_QP_PKEY_INDEX, &ibv_qp_attr::pkey_index, 1>},
      {"ibv_modify_qp", EINVAL, "path_mtu", set_to<IBV_QP_PATH_MTU, &ibv_qp_attr::path_mtu, IBV_MTU_4096 + 1>},
      {"ibv_modify_qp", EINVAL, "dest_qp_num", set_to<IBV_QP_DEST_QPN, &ibv_qp_attr::dest_qp_num, 1 << 24>},
      {"ibv_modify_qp", EINVAL, "timeout", set_to<IBV_QP_TIMEOUT, &ibv_qp_attr::timeout, 32>},
      {"ibv_modify_qp", EINVAL, "min_rnr_timer", set_to<IBV_QP_MIN_RNR_TIMER, &ibv_qp_attr::min_rnr_timer, 32>},
      {"ibv_modify_qp", EINVAL, "retry_cnt", set_to<IBV_QP_RETRY_CNT, &ibv_qp_attr::retry_cnt, 8>},
      {"ibv_modify_qp", EINVAL, "rnr_retry", set_to<IBV_QP_RNR_RETRY, &ibv_qp_attr::rnr_retry, 8>},
      {"ibv_modify_qp", EINVAL, "max_rd_atomic", set_to<IBV_QP_MAX_QP_RD_ATOMIC, &ibv_qp_attr::max_rd_atomic, 129>},
      {"ibv_modify_qp", EINVAL, "max_dest_rd_atomic",
       set_to<IBV_QP_MAX_DEST_RD_ATOMIC, &ibv_qp_attr::max_dest_rd_atomic, 129>},
  });
}

TEST(CompatMisuse, States) {
  expect_all_refused({
      {"ibv_modify_qp", EINVAL, "from INIT to RTR: it needs path_mtu, rq_psn, min_rnr_timer, max_dest_rd_atomic",
       [](Things& t) {
         EXPECT_EQ(modify(t.qp, IBV_QPS_INIT), 0);
         return by_hand(t, IBV_QPS_RTR, IBV_QP_AV | IBV_QP_DEST_QPN);
       }},
      {"ibv_modify_qp", EINVAL, "from INIT to RTR: it does not take sq_psn",
       [](Things& t) {
         EXPECT_EQ(modify(t.qp, IBV_QPS_INIT), 0);
         ibv_qp_attr to = rtr(gid_of(t.context), 0x040000, 0);
         return ibv_modify_qp(t.qp, &to, kRtrMask | IBV_QP_SQ_PSN);
       }},
      {"ibv_modify_qp", EINVAL, "from INIT to RTS: there is no such transition",
       [](Things& t) { return by_hand(t, IBV_QPS_RTS, IBV_QP_SQ_PSN); }},
      {"ibv_modify_qp", EOPNOTSUPP, "attr_mask", [](Things& t) { return by_hand(t, IBV_QPS_INIT, IBV_QP_RATE_LIMIT); }},
      {"ibv_modify_qp", EINVAL, "transition", [](Things& t) { return modify(t.qp, IBV_QPS_SQD); }},
      {"ibv_modify_qp", EINVAL, "no such state", [](Things& t) { return modify(t.qp, IBV_QPS_SQE); }},
      {"ibv_modify_qp", EINVAL, "no such state", [](Things& t) { return modify(t.qp, IBV_QPS_UNKNOWN); }},
  });
}

// --- Memory

std::array<char, 64> octets{};

int reg_mr(Things& things, void* address, std::size_t length, int access) {
  return answer(ibv_reg_mr(things.pd, address, length, access));
}

TEST(CompatMisuse, Memory) {
  expect_all_refused({
      {"ibv_reg_mr", EFAULT, "address", [](Things& t) { return reg_mr(t, nullptr, 64, IBV_ACCESS_LOCAL_WRITE); }},
      {"ibv_reg_mr", EFAULT, "address",
       [](Things& t) { return reg_mr(t, octets.data(), std::size_t{1} << 45, IBV_ACCESS_LOCAL_WRITE); }},
      {"ibv_reg_mr", EINVAL, "length",
       [](Things& t) { return reg_mr(t, octets.data(), std::numeric_limits<std::size_t>::max(), 0); }},
      {"ibv_reg_mr", EINVAL, "local write",
       [](Things& t) { return reg_mr(t, octets.data(), octets.size(), IBV_ACCESS_REMOTE_WRITE); }},
      {"ibv_reg_mr", EINVAL, "undefined bit",
       [](Things& t) { return reg_mr(t, octets.data(), octets.size(), 1 << 18); }},
      {"ibv_alloc_mw", EINVAL, "type",
       [](Things& t) { return answer(ibv_alloc_mw(t.pd, static_cast<ibv_mw_type>(3))); }},
      {"ibv_dealloc_pd", EBUSY, "belong", [](Things& t) { return ibv_dealloc_pd(t.pd); }},
      {"ibv_rereg_mr", EINVAL, "no such flags",
       [](Things& t) {
         ibv_mr* const region = ibv_reg_mr(t.pd, octets.data(), octets.size(), 0);
         const int answered = ibv_rereg_mr(region, 0, t.pd, nullptr, 0, 0) == IBV_REREG_MR_ERR_INPUT ? errno : 0;
         EXPECT_EQ(ibv_dereg_mr(region), 0);
         return answered;
       }},
  });
}

// --- Posting

template <typename Change>
int send(Things& things, Change change) {
  ibv_mr* const region = have(ibv_reg_mr(things.pd, octets.data(), octets.size(), 0), "ibv_reg_mr");
  std::array<ibv_sge, 40> segments{};
  for (ibv_sge& one : segments) one = {reinterpret_cast<std::uintptr_t>(octets.data()), 1, region->lkey};
  ibv_send_wr wr{};
  wr.opcode = IBV_WR_SEND;
  wr.sg_list = segments.data();
  change(wr);
  ibv_send_wr* bad = nullptr;
  const int answered = ibv_post_send(things.qp, &wr, &bad);
  EXPECT_EQ(bad, &wr);
  EXPECT_EQ(ibv_dereg_mr(region), 0);
  return answered;
}

TEST(CompatMisuse, Sending) {
  expect_all_refused({
      {"ibv_post_send", EINVAL, "connected queue pair", [](Things& t) { return send(t, [](auto&) {}); }},
      {"ibv_post_send", EOPNOTSUPP, "no such operation",
       [](Things& t) { return send(t, [](auto& wr) { wr.opcode = IBV_WR_TSO; }); }},
      {"ibv_post_send", EINVAL, "no such operation",
       [](Things& t) { return send(t, [](auto& wr) { wr.opcode = static_cast<ibv_wr_opcode>(12); }); }},
      {"ibv_post_send", EINVAL, "segments", [](Things& t) { return send(t, [](auto& wr) { wr.num_sge = 40; }); }},
      {"ibv_post_send", EINVAL, "segments", [](Things& t) { return send(t, [](auto& wr) { wr.num_sge = -1; }); }},
  });
}

template <typename Post, typename Queue>
int receive(Post post, Queue* queue, int segments) {
  std::array<ibv_sge, 40> list{};
  ibv_recv_wr wr{};
  wr.sg_list = list.data();
  wr.num_sge = segments;
  ibv_recv_wr* bad = nullptr;
  for (int i = 0; i < 100; ++i) {  // until the queue is full
    if (const int answered = post(queue, &wr, &bad); answered != 0) return bad == &wr ? answered : -1;
  }
  return 0;
}

TEST(CompatMisuse, Receiving) {
  expect_all_refused({
      {"ibv_post_recv", EINVAL, "segments", [](Things& t) { return receive(ibv_post_recv, t.qp, 3); }},
      {"ibv_post_recv", EINVAL, "segments", [](Things& t) { return receive(ibv_post_recv, t.qp, 40); }},
      {"ibv_post_recv", EINVAL, "segments", [](Things& t) { return receive(ibv_post_recv, t.qp, -1); }},
      {"ibv_post_recv", ENOMEM, "full", [](Things& t) { return receive(ibv_post_recv, t.qp, 0); }},
      {"ibv_post_srq_recv", EINVAL, "segments", [](Things& t) { return receive(ibv_post_srq_recv, t.srq, 2); }},
      {"ibv_post_srq_recv", EINVAL, "segments", [](Things& t) { return receive(ibv_post_srq_recv, t.srq, 40); }},
      {"ibv_post_srq_recv", ENOMEM, "full", [](Things& t) { return receive(ibv_post_srq_recv, t.srq, 0); }},
  });
}

// --- Asking

TEST(CompatMisuse, Questions) {
  expect_all_refused({
      {"ibv_query_port", EINVAL, "one port",
       [](Things& t) {
         ibv_port_attr port{};
         return ibv_query_port(t.context, 2, &port);
       }},
      {"ibv_query_gid", EINVAL, "GID 0",
       [](Things& t) {
         ibv_gid gid{};
         return minus_one(ibv_query_gid(t.context, 1, 1, &gid));
       }},
      {"ibv_query_pkey", EINVAL, "key 0",
       [](Things& t) {
         __be16 key = 0;
         return minus_one(ibv_query_pkey(t.context, 1, 1, &key));
       }},
      {"ibv_create_ah", EINVAL, "one port",
       [](Things& t) {
         ibv_ah_attr wanted{};
         return answer(ibv_create_ah(t.pd, &wanted));
       }},
      {"ibv_attach_mcast", EINVAL, "IBV_QPT_UD",
       [](Things& t) {
         const ibv_gid group{};
         return ibv_attach_mcast(t.qp, &group, 0);
       }},
  });
}

}  // namespace
}  // namespace weft::compat::test
