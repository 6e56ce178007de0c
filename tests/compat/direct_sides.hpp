// SPDX-License-Identifier: Apache-2.0
// An end as a program has it that connects its queue pairs itself by ibv_modify_qp, as ibv_rc_pingpong does.
#pragma once

#include <array>
#include <chrono>
#include <cstring>
#include <stdexcept>

#include "things.hpp"

namespace weft::compat::test {

inline constexpr int kRtrMask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                                IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
inline constexpr int kRtsMask =
    IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC;
inline constexpr std::uint32_t kNobody = 0xFFFF00;  // port 65535

inline ibv_gid gid_of(ibv_context* context) {
  ibv_gid gid{};
  EXPECT_EQ(ibv_query_gid(context, 1, 0, &gid), 0);
  return gid;
}

inline ibv_qp_attr rtr(const ibv_gid& peer, std::uint32_t number, std::uint32_t rq_psn) {
  ibv_qp_attr to{};
  to.qp_state = IBV_QPS_RTR;
  to.path_mtu = IBV_MTU_1024;
  to.dest_qp_num = number;
  to.rq_psn = rq_psn;
  to.max_dest_rd_atomic = 1;
  to.min_rnr_timer = 12;
  to.ah_attr.is_global = 1;
  to.ah_attr.port_num = 1;
  to.ah_attr.grh.dgid = peer;
  to.ah_attr.grh.hop_limit = 1;
  return to;
}

inline ibv_qp_attr rts(std::uint32_t sq_psn, std::uint8_t timeout = 14, std::uint8_t retry_cnt = 7) {
  ibv_qp_attr to{};
  to.qp_state = IBV_QPS_RTS;
  to.timeout = timeout;
  to.retry_cnt = retry_cnt;
  to.rnr_retry = 7;
  to.sq_psn = sq_psn;
  to.max_rd_atomic = 1;
  return to;
}

inline int to_rtr(const Things& one, std::uint32_t number, std::uint32_t rq_psn = 0) {
  ibv_qp_attr to = rtr(gid_of(one.context), number, rq_psn);
  return ibv_modify_qp(one.qp, &to, kRtrMask);
}
inline int to_rts(const Things& one, std::uint32_t sq_psn = 0) {
  ibv_qp_attr to = rts(sq_psn);
  return ibv_modify_qp(one.qp, &to, kRtsMask);
}
inline void go(const Things& one, std::uint32_t number, std::uint32_t sq_psn = 0, std::uint32_t rq_psn = 0) {
  ASSERT_EQ(modify(one.qp, IBV_QPS_INIT), 0);
  ASSERT_EQ(to_rtr(one, number, rq_psn), 0);
  ASSERT_EQ(to_rts(one, sq_psn), 0);
}

// An end with registered memory.
struct Side : Things {
  std::array<char, 64> octets{};
  ibv_mr* mr = have(ibv_reg_mr(pd, octets.data(), octets.size(),
                               IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ),
                    "ibv_reg_mr");
  ~Side() {
    ibv_destroy_qp(qp);
    qp = nullptr;
    if (mr != nullptr) ibv_dereg_mr(mr);
  }
  [[nodiscard]] ibv_sge sge() {
    return {.addr = reinterpret_cast<std::uintptr_t>(octets.data()), .length = 8, .lkey = mr->lkey};
  }
  void receive(std::uint64_t id) {
    ibv_sge place = sge();
    ibv_recv_wr wr{.wr_id = id, .next = nullptr, .sg_list = &place, .num_sge = 1};
    ibv_recv_wr* bad = nullptr;
    ASSERT_EQ(ibv_post_recv(qp, &wr, &bad), 0);
  }
  int post(std::uint64_t id, ibv_wr_opcode opcode = IBV_WR_SEND, const Side* to = nullptr, unsigned flags = 0) {
    ibv_sge place = sge();
    ibv_send_wr wr{};
    wr.wr_id = id;
    wr.sg_list = &place;
    wr.num_sge = 1;
    wr.opcode = opcode;
    wr.send_flags = IBV_SEND_SIGNALED | flags;
    wr.imm_data = htonl(0x01020304);
    if (to != nullptr) wr.wr.rdma.remote_addr = reinterpret_cast<std::uintptr_t>(to->octets.data());
    if (to != nullptr) wr.wr.rdma.rkey = to->mr->rkey;
    ibv_send_wr* bad = nullptr;
    return ibv_post_send(qp, &wr, &bad);
  }
  ibv_wc next() const {
    ibv_wc wc{};
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (ibv_poll_cq(cq, 1, &wc) == 0) {
      if (std::chrono::steady_clock::now() > end) throw std::runtime_error("no completion came");
    }
    return wc;
  }
  [[nodiscard]] ibv_qp_attr query() const {
    ibv_qp_attr attributes{};
    ibv_qp_init_attr init{};
    EXPECT_EQ(ibv_query_qp(qp, &attributes, IBV_QP_STATE, &init), 0);
    return attributes;
  }
};

inline void expect_done(const ibv_wc& wc, std::uint64_t id) {
  EXPECT_EQ(wc.status, IBV_WC_SUCCESS) << ibv_wc_status_str(wc.status);
  EXPECT_EQ(wc.wr_id, id);
}

inline void exchange(Side& from, Side& to) {
  std::memcpy(from.octets.data(), "letters", 8);
  to.receive(20);
  ASSERT_EQ(from.post(10), 0);
  expect_done(from.next(), 10);
  const ibv_wc received = to.next();
  expect_done(received, 20);
  EXPECT_EQ(received.qp_num, to.qp->qp_num);
  EXPECT_STREQ(to.octets.data(), "letters");
}

}  // namespace weft::compat::test
