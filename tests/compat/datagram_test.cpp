// SPDX-License-Identifier: Apache-2.0
// Datagrams (IBV_QPT_UD) and address handles, as ibv_ud_pingpong uses them, within one process.
#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>
#include <utility>

#include "things.hpp"

namespace weft::compat::test {
namespace {

constexpr std::uint32_t kQkey = 0x11111111;
constexpr std::chrono::seconds kPatience{60};

int move(ibv_qp* qp, ibv_qp_state state, int mask) {
  ibv_qp_attr to{};
  to.qp_state = state;
  to.port_num = 1;
  to.qkey = kQkey;
  return ibv_modify_qp(qp, &to, IBV_QP_STATE | mask);
}
constexpr int kInitMask = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY;

ibv_qp_state state_of(ibv_qp* qp) {
  ibv_qp_attr attributes{};
  ibv_qp_init_attr init{};
  EXPECT_EQ(ibv_query_qp(qp, &attributes, IBV_QP_STATE, &init), 0);
  return attributes.qp_state;
}

ibv_ah_attr path_to(const ibv_gid& gid) {
  ibv_ah_attr path{};
  path.is_global = 1;
  path.port_num = 1;
  path.grh.dgid = gid;
  path.grh.hop_limit = 1;
  return path;
}

// An end with a queue pair for datagrams, in RTS.
struct Side : Things {
  std::array<char, 256> octets{};
  ibv_mr* mr = have(ibv_reg_mr(pd, octets.data(), octets.size(), int{IBV_ACCESS_LOCAL_WRITE}), "ibv_reg_mr");
  ibv_qp* ud = make();
  ibv_gid gid{};

  Side() {
    EXPECT_EQ(move(ud, IBV_QPS_INIT, kInitMask), 0);
    EXPECT_EQ(move(ud, IBV_QPS_RTR, 0), 0);
    EXPECT_EQ(move(ud, IBV_QPS_RTS, IBV_QP_SQ_PSN), 0);
    EXPECT_EQ(ibv_query_gid(context, 1, 0, &gid), 0);
  }
  ~Side() {
    ibv_destroy_qp(ud);
    ibv_dereg_mr(mr);
  }
  [[nodiscard]] ibv_qp* make() const {
    ibv_qp_init_attr wanted = qp_wishes(cq);
    wanted.qp_type = IBV_QPT_UD;
    return have(ibv_create_qp(pd, &wanted), "ibv_create_qp");
  }
  void receive(std::uint64_t id) {
    ibv_sge place{.addr = reinterpret_cast<std::uintptr_t>(octets.data()), .length = 200, .lkey = mr->lkey};
    ibv_recv_wr wr{.wr_id = id, .next = nullptr, .sg_list = &place, .num_sge = 1};
    ibv_recv_wr* bad = nullptr;
    ASSERT_EQ(ibv_post_recv(ud, &wr, &bad), 0);
  }
  int post(ibv_ah* ah, std::uint32_t number, std::uint32_t qkey = kQkey, ibv_wr_opcode opcode = IBV_WR_SEND) {
    std::memcpy(octets.data() + 200, "letters", 8);
    ibv_sge place{.addr = reinterpret_cast<std::uintptr_t>(octets.data() + 200), .length = 8, .lkey = mr->lkey};
    ibv_send_wr wr{};
    wr.wr_id = 9;
    wr.sg_list = &place;
    wr.num_sge = 1;
    wr.opcode = opcode;
    wr.send_flags = IBV_SEND_SIGNALED;
    wr.imm_data = htonl(0x01020304);
    wr.wr.ud.ah = ah;
    wr.wr.ud.remote_qpn = number;
    wr.wr.ud.remote_qkey = qkey;
    ibv_send_wr* bad = nullptr;
    return ibv_post_send(ud, &wr, &bad);
  }
  [[nodiscard]] ibv_wc next() const {
    ibv_wc wc{};
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (ibv_poll_cq(cq, 1, &wc) == 0) {
      if (std::chrono::steady_clock::now() > end) throw std::runtime_error("no completion came");
    }
    return wc;
  }
};

TEST(CompatDatagram, ArrivesAndIsAnswered) {
  Side a;
  Side b;
  ibv_ah_attr path = path_to(b.gid);
  ibv_ah* const to_b = have(ibv_create_ah(a.pd, &path), "ibv_create_ah");
  b.receive(5);
  ASSERT_EQ(a.post(to_b, b.ud->qp_num, kQkey, IBV_WR_SEND_WITH_IMM), 0);
  EXPECT_EQ(a.next().wr_id, 9U);
  ibv_wc wc = b.next();
  EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
  EXPECT_EQ(wc.opcode, IBV_WC_RECV);
  EXPECT_EQ(wc.byte_len, 48U);
  EXPECT_EQ(wc.src_qp, a.ud->qp_num);
  EXPECT_EQ(wc.qp_num, b.ud->qp_num);
  EXPECT_EQ(wc.wc_flags, unsigned{IBV_WC_GRH} | unsigned{IBV_WC_WITH_IMM});
  EXPECT_EQ(wc.imm_data, htonl(0x01020304));
  EXPECT_STREQ(b.octets.data() + 40, "letters");

  ibv_grh grh{};
  std::memcpy(&grh, b.octets.data(), sizeof grh);
  EXPECT_EQ(std::memcmp(&grh.dgid, &b.gid, sizeof grh.dgid), 0) << "UCX compares it with its own";
  ibv_ah* const back = have(ibv_create_ah_from_wc(b.pd, &wc, &grh, 1), "ibv_create_ah_from_wc");
  a.receive(6);
  ASSERT_EQ(b.post(back, wc.src_qp), 0);
  EXPECT_EQ(b.next().wr_id, 9U);
  EXPECT_EQ(a.next().wr_id, 6U);
  EXPECT_EQ(ibv_destroy_ah(back), 0);
  EXPECT_EQ(ibv_destroy_ah(back), EINVAL) << "twice";
  EXPECT_EQ(ibv_destroy_ah(to_b), 0);
}

TEST(CompatDatagram, ALidNamesAHostToo) {
  Side a;
  ibv_port_attr port{};
  ASSERT_EQ(ibv_query_port(a.context, 1, &port), 0);
  ibv_ah_attr path{};
  path.dlid = port.lid;
  path.port_num = 1;
  ibv_ah* const ah = have(ibv_create_ah(a.pd, &path), "ibv_create_ah");
  a.receive(5);
  ASSERT_EQ(a.post(ah, a.ud->qp_num), 0);
  EXPECT_EQ(a.next().wr_id + a.next().wr_id, 14U) << "both its ends";
  EXPECT_EQ(ibv_dealloc_pd(a.pd), EBUSY);
  EXPECT_EQ(ibv_destroy_ah(ah), 0);
}

// Its receives are not affected.
TEST(CompatDatagram, ASendThatFailsAtThisEndStopsSendsUntilRts) {
  Side a;
  ibv_ah_attr path = path_to(a.gid);
  ibv_ah* const ah = have(ibv_create_ah(a.pd, &path), "ibv_create_ah");
  a.receive(7);
  const std::uint32_t right = std::exchange(a.mr->lkey, a.mr->lkey ^ 0x100);
  ASSERT_EQ(a.post(ah, a.ud->qp_num), 0);
  a.mr->lkey = right;
  EXPECT_EQ(a.next().status, IBV_WC_LOC_PROT_ERR);
  EXPECT_EQ(state_of(a.ud), IBV_QPS_SQE);
  ASSERT_EQ(a.post(ah, a.ud->qp_num), 0);
  EXPECT_EQ(a.next().status, IBV_WC_WR_FLUSH_ERR);
  EXPECT_EQ(move(a.ud, IBV_QPS_RTR, 0), EINVAL);
  ASSERT_EQ(move(a.ud, IBV_QPS_RTS, 0), 0);
  ASSERT_EQ(a.post(ah, a.ud->qp_num), 0);
  EXPECT_EQ(a.next().opcode, IBV_WC_SEND);
  const ibv_wc received = a.next();
  EXPECT_EQ(received.status, IBV_WC_SUCCESS);
  EXPECT_EQ(received.wr_id, 7U);
  ibv_destroy_ah(ah);
}

TEST(CompatDatagram, AQueryReturnsWhatWasSet) {
  Side a;
  ibv_qp_attr attributes{};
  ibv_qp_init_attr init{};
  ASSERT_EQ(ibv_query_qp(a.ud, &attributes, IBV_QP_STATE | IBV_QP_QKEY, &init), 0);
  EXPECT_EQ(attributes.qp_state, IBV_QPS_RTS);
  EXPECT_EQ(attributes.qkey, kQkey);
  EXPECT_EQ(init.qp_type, IBV_QPT_UD);
  EXPECT_EQ(a.ud->state, IBV_QPS_RTS);
}

TEST(CompatDatagram, WrongArgumentsAreRefused) {
  Side a;
  ibv_qp* const fresh = a.make();
  EXPECT_EQ(fresh->state, IBV_QPS_RESET);
  EXPECT_EQ(move(fresh, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT), EINVAL) << "without a Q_Key";
  EXPECT_EQ(move(fresh, IBV_QPS_RTR, 0), EINVAL);
  EXPECT_EQ(move(fresh, IBV_QPS_INIT, kInitMask), 0);
  EXPECT_EQ(move(fresh, IBV_QPS_RTR, 0), 0);
  EXPECT_EQ(move(fresh, IBV_QPS_RTS, 0), EINVAL) << "without a PSN";
  EXPECT_EQ(move(fresh, IBV_QPS_SQD, 0), EINVAL);
  EXPECT_EQ(ibv_destroy_qp(fresh), 0);

  ibv_ah_attr path = path_to(a.gid);
  for (const auto& wrong : {+[](ibv_ah_attr& p) { p.port_num = 2; }, +[](ibv_ah_attr& p) { p.grh.sgid_index = 1; },
                            +[](ibv_ah_attr& p) { p.grh.dgid = {}; }}) {
    ibv_ah_attr changed = path;
    wrong(changed);
    errno = 0;
    EXPECT_EQ(ibv_create_ah(a.pd, &changed), nullptr);
    EXPECT_EQ(errno, EINVAL);
  }
  EXPECT_EQ(a.post(nullptr, a.ud->qp_num), EINVAL);
  ibv_ah* const ah = have(ibv_create_ah(a.pd, &path), "ibv_create_ah");
  EXPECT_EQ(a.post(ah, a.ud->qp_num, kQkey, IBV_WR_RDMA_WRITE), EOPNOTSUPP);
  EXPECT_EQ(ibv_destroy_ah(ah), 0);

  ibv_wc wc{};
  ibv_grh grh{};
  errno = 0;
  EXPECT_EQ(ibv_create_ah_from_wc(a.pd, &wc, &grh, 1), nullptr) << "of a connection";
  EXPECT_EQ(errno, EINVAL);
}

TEST(CompatDatagram, TheBuilderSendsThemToo) {
  Side a;
  ibv_qp_init_attr_ex wanted{};
  wanted.qp_type = IBV_QPT_UD;
  wanted.send_cq = wanted.recv_cq = a.cq;
  wanted.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 16};
  wanted.pd = a.pd;
  wanted.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
  wanted.send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_WRITE;
  EXPECT_EQ(ibv_create_qp_ex(a.context, &wanted), nullptr) << "datagrams cannot write";
  wanted.send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM;
  ibv_qp* const qp = have(ibv_create_qp_ex(a.context, &wanted), "ibv_create_qp_ex");
  ibv_qp_ex* const builder = ibv_qp_to_qp_ex(qp);
  for (const auto& [state, mask] :
       {std::pair{IBV_QPS_INIT, kInitMask}, {IBV_QPS_RTR, 0}, {IBV_QPS_RTS, int{IBV_QP_SQ_PSN}}}) {
    ASSERT_EQ(move(qp, state, mask), 0);
  }
  ibv_ah_attr path = path_to(a.gid);
  ibv_ah* const ah = have(ibv_create_ah(a.pd, &path), "ibv_create_ah");
  a.receive(5);
  std::array<char, 8> text{"inline"};
  ibv_wr_start(builder);
  builder->wr_id = 3;
  builder->wr_flags = IBV_SEND_SIGNALED;
  ibv_wr_send_imm(builder, htonl(7));
  ibv_wr_set_ud_addr(builder, ah, a.ud->qp_num, kQkey);
  ibv_wr_set_inline_data(builder, text.data(), text.size());
  ASSERT_EQ(ibv_wr_complete(builder), 0);
  EXPECT_EQ(a.next().wr_id + a.next().wr_id, 8U) << "both its ends";
  EXPECT_STREQ(a.octets.data() + 40, "inline");

  ibv_wr_start(builder);
  ibv_wr_send(builder);
  EXPECT_EQ(ibv_wr_complete(builder), EINVAL) << "no address";
  ibv_wr_start(builder);
  ibv_wr_set_ud_addr(builder, ah, 1, 1);
  EXPECT_EQ(ibv_wr_complete(builder), EINVAL) << "of nothing";
  EXPECT_EQ(ibv_destroy_qp(qp), 0);
  EXPECT_EQ(ibv_destroy_ah(ah), 0);
}

TEST(CompatDatagram, HasNoConnectionAndNoWindows) {
  Side a;
  ibv_mw* const mw = have(ibv_alloc_mw(a.pd, IBV_MW_TYPE_1), "ibv_alloc_mw");
  ibv_mw_bind bind{};
  EXPECT_EQ(ibv_bind_mw(a.ud, mw, &bind), EINVAL);
  EXPECT_EQ(ibv_dealloc_mw(mw), 0);
}

}  // namespace
}  // namespace weft::compat::test
