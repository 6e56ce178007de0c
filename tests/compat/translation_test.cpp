// SPDX-License-Identifier: Apache-2.0
// Work requests and completions between libibverbs' structures and the engine's.
#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include "compat/objects/completion.hpp"
#include "compat/objects/memory.hpp"
#include "compat/objects/work_translation.hpp"

namespace weft::compat {
namespace {

using verbs::SendFlags;
using verbs::SendOpcode;

constexpr verbs::ImmediateData kImmediate = {std::byte{0xDE}, std::byte{0xAD}, std::byte{0xBE}, std::byte{0xEF}};

__be32 in_memory(const verbs::ImmediateData& data) {
  __be32 word{};
  std::memcpy(&word, data.data(), sizeof word);
  return word;
}

struct Translated {
  SgeArray segments;
  verbs::SendRequest request{};
  int error = 0;
  explicit Translated(const ibv_send_wr& wr) : error(translate(wr, segments.data(), request)) {}
};

ibv_send_wr remote_wr(ibv_wr_opcode opcode) {
  ibv_send_wr wr{};
  wr.wr_id = 7;
  wr.opcode = opcode;
  wr.wr.rdma = {.remote_addr = 0x1000, .rkey = 0x42};
  return wr;
}

// --- Sends

TEST(SendTranslation, AWriteNamesBothEnds) {
  std::array<ibv_sge, 2> list = {ibv_sge{.addr = 0x10, .length = 3, .lkey = 5},
                                 ibv_sge{.addr = 0x20, .length = 4, .lkey = 6}};
  ibv_send_wr wr = remote_wr(IBV_WR_RDMA_WRITE);
  wr.sg_list = list.data();
  wr.num_sge = 2;
  wr.send_flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE;
  const Translated out(wr);
  ASSERT_EQ(out.error, 0);
  EXPECT_EQ(out.request.wr_id, 7U);
  EXPECT_EQ(out.request.opcode, SendOpcode::kRdmaWrite);
  EXPECT_EQ(out.request.flags, SendFlags::kSignaled | SendFlags::kFence);
  EXPECT_EQ(out.request.remote_address, 0x1000U);
  EXPECT_EQ(out.request.rkey, 0x42U);
  ASSERT_EQ(out.request.segments.size(), 2U);
  EXPECT_EQ(out.request.segments[1], (verbs::Sge{.address = 0x20, .length = 4, .lkey = 6}));
}

TEST(SendTranslation, ImmediateDataIsTheFirstFourOfEightOctets) {
  ibv_send_wr wr = remote_wr(IBV_WR_RDMA_WRITE_WITH_IMM);
  wr.imm_data = in_memory(kImmediate);
  const Translated out(wr);
  ASSERT_EQ(out.error, 0);
  EXPECT_EQ(out.request.opcode, SendOpcode::kRdmaWriteWithImmediate);
  EXPECT_EQ(out.request.immediate, kImmediate);
  EXPECT_EQ(out.request.rkey, 0x42U);
}

TEST(SendTranslation, Atomics) {
  ibv_send_wr wr{};
  wr.opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
  wr.wr.atomic = {.remote_addr = 0x2000, .compare_add = 11, .swap = 22, .rkey = 33};
  const Translated swap(wr);
  ASSERT_EQ(swap.error, 0);
  EXPECT_EQ(swap.request.remote_address, 0x2000U);
  EXPECT_EQ(swap.request.rkey, 33U);
  EXPECT_EQ(swap.request.compare, 11U);
  EXPECT_EQ(swap.request.swap_or_add, 22U);
  wr.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
  const Translated add(wr);
  ASSERT_EQ(add.error, 0);
  EXPECT_EQ(add.request.opcode, SendOpcode::kFetchAndAdd);
  EXPECT_EQ(add.request.swap_or_add, 11U);
  EXPECT_FALSE(add.request.masked_add);
}

TEST(SendTranslation, Invalidation) {
  ibv_send_wr wr{};
  wr.invalidate_rkey = 99;
  for (const auto opcode : {IBV_WR_SEND_WITH_INV, IBV_WR_LOCAL_INV}) {
    wr.opcode = opcode;
    const Translated out(wr);
    ASSERT_EQ(out.error, 0);
    EXPECT_EQ(static_cast<int>(out.request.opcode), static_cast<int>(opcode));
    EXPECT_EQ(out.request.invalidate_rkey, 99U);
  }
}

TEST(SendTranslation, ABindNamesWindowAndRegion) {
  auto device = verbs::Device::open("lo");
  ASSERT_TRUE(device);
  Pd pd(nullptr, device->allocate_protection_domain().value());
  std::vector<std::byte> memory(64);
  Mr mr(pd, memory.data(), memory.size(), pd.engine.register_memory(memory.data(), 64, verbs::kAllAccess).value());
  Mw mw(pd, IBV_MW_TYPE_2, pd.engine.allocate_window().value());
  ibv_send_wr wr{};
  wr.opcode = IBV_WR_BIND_MW;
  wr.num_sge = 77;  // not looked at
  wr.bind_mw.mw = &mw;
  wr.bind_mw.rkey = 5;
  wr.bind_mw.bind_info = {.mr = &mr,
                          .addr = 16,
                          .length = 32,
                          .mw_access_flags = IBV_ACCESS_REMOTE_READ | unsigned{IBV_ACCESS_RELAXED_ORDERING}};
  const Translated out(wr);
  ASSERT_EQ(out.error, 0);
  EXPECT_EQ(out.request.bind.window, &mw.engine);
  EXPECT_EQ(out.request.bind.region, &mr.engine);
  EXPECT_EQ(out.request.bind.rkey, 5U);
  EXPECT_EQ(out.request.bind.address, 16U);
  EXPECT_EQ(out.request.bind.length, 32U);
  EXPECT_EQ(out.request.bind.access, verbs::Access::kRemoteRead);  // optional rights are left out
}

TEST(SendTranslation, WhatIwarpCannotCarry) {
  for (const auto opcode : {IBV_WR_TSO, IBV_WR_DRIVER1, IBV_WR_ATOMIC_WRITE}) {
    EXPECT_EQ(Translated(remote_wr(opcode)).error, EOPNOTSUPP) << opcode;
  }
  EXPECT_EQ(Translated(remote_wr(static_cast<ibv_wr_opcode>(13))).error, EINVAL);
}

TEST(SendTranslation, SegmentsAreCounted) {
  std::array<ibv_sge, kMaxSegments + 1> list{};
  ibv_send_wr wr = remote_wr(IBV_WR_SEND);
  wr.sg_list = list.data();
  wr.num_sge = kMaxSegments;
  EXPECT_EQ(Translated(wr).error, 0);
  wr.num_sge = kMaxSegments + 1;
  EXPECT_EQ(Translated(wr).error, EINVAL);
  wr.num_sge = -1;
  EXPECT_EQ(Translated(wr).error, EINVAL);
  wr.num_sge = 1;
  wr.sg_list = nullptr;
  EXPECT_EQ(Translated(wr).error, EINVAL);
}

// --- Receives

TEST(ReceiveTranslation, NameAndSegments) {
  ibv_sge sge{.addr = 1, .length = 2, .lkey = 3};
  const ibv_recv_wr wr{.wr_id = 9, .next = nullptr, .sg_list = &sge, .num_sge = 1};
  SgeArray segments;
  verbs::ReceiveRequest out;
  ASSERT_EQ(translate(wr, segments.data(), out), 0);
  EXPECT_EQ(out.wr_id, 9U);
  ASSERT_EQ(out.segments.size(), 1U);
  EXPECT_EQ(out.segments[0], (verbs::Sge{.address = 1, .length = 2, .lkey = 3}));
}

// --- Completions

TEST(CompletionTranslation, AReceive) {
  const ibv_wc out = translate(verbs::WorkCompletion{.wr_id = 1,
                                                     .status = verbs::WcStatus::kSuccess,
                                                     .opcode = verbs::WcOpcode::kReceive,
                                                     .byte_len = 5,
                                                     .qp_num = 6});
  EXPECT_EQ(out.wr_id, 1U);
  EXPECT_EQ(out.status, IBV_WC_SUCCESS);
  EXPECT_EQ(out.opcode, IBV_WC_RECV);
  EXPECT_EQ(out.byte_len, 5U);
  EXPECT_EQ(out.qp_num, 6U);
  EXPECT_EQ(out.wc_flags, 0U);
  EXPECT_EQ(out.src_qp, 0U);
}

TEST(CompletionTranslation, ImmediateDataAndInvalidation) {
  const ibv_wc immediate = translate(verbs::WorkCompletion{
      .opcode = verbs::WcOpcode::kReceiveImmediate, .with_immediate = true, .immediate = kImmediate});
  EXPECT_EQ(immediate.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
  EXPECT_EQ(immediate.wc_flags, unsigned{IBV_WC_WITH_IMM});
  EXPECT_EQ(immediate.imm_data, in_memory(kImmediate));
  const ibv_wc invalidated = translate(
      verbs::WorkCompletion{.opcode = verbs::WcOpcode::kReceive, .with_invalidate = true, .invalidated_rkey = 0x99});
  EXPECT_EQ(invalidated.wc_flags, unsigned{IBV_WC_WITH_INV});
  EXPECT_EQ(invalidated.invalidated_rkey, 0x99U);
}

TEST(CompletionTranslation, AFailureSaysWhy) {
  const ibv_wc out = translate(verbs::WorkCompletion{
      .status = verbs::WcStatus::kRemoteAccessError, .opcode = verbs::WcOpcode::kBindWindow, .vendor_error = 0x10203});
  EXPECT_EQ(out.status, IBV_WC_REM_ACCESS_ERR);
  EXPECT_EQ(out.opcode, IBV_WC_BIND_MW);
  EXPECT_EQ(out.vendor_err, 0x10203U);
}

}  // namespace
}  // namespace weft::compat
