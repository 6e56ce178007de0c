// SPDX-License-Identifier: Apache-2.0
// Work posted and completions read through libibverbs' structures, over a connection within this process.
#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <list>

#include "compat/objects/queue_pair.hpp"
#include "tests/verbs/loopback.hpp"

namespace weft::compat {
namespace {

using verbs::test::must;

constexpr std::uint64_t kEverything = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_INV | IBV_QP_EX_WITH_RDMA_WRITE |
                                      IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | IBV_QP_EX_WITH_RDMA_READ |
                                      IBV_QP_EX_WITH_LOCAL_INV | IBV_QP_EX_WITH_BIND_MW;

// The client posts through a Qp, and the server's completions are read through a Cq.
struct Posting : testing::Test {
  Posting() { furnish_extended_polling(cq, IBV_WC_STANDARD_FLAGS); }

  void expect_sends(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
      must(pair.server.qp->post_receive({.wr_id = i, .segments = std::array{inbox.sge()}}), "post_receive");
    }
  }
  int start_poll() {
    int error = ENOENT;
    verbs::test::wait_until([&] { return (error = ibv_start_poll(&cq, nullptr)) != ENOENT; }, "a completion");
    return error;
  }
  // Everything that was sent comes in order, and nothing follows.
  void expect_received(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) EXPECT_EQ(pair.server.next().wr_id, i);
    EXPECT_FALSE(pair.server.next_within(pair.server.cq, std::chrono::milliseconds(20)));
  }

  verbs_context opened{};
  verbs::test::Pair pair{{.client = {.queue_pair = {.max_send_wr = 64, .max_inline = 64}}}};
  verbs::test::Buffer inbox{pair.server, 64};
  Pd pd{&opened.context, pair.client.domain};
  ibv_qp_init_attr_ex attributes{};
  Qp qp{pd, attributes, std::move(*pair.client.qp), 1};
  Cq cq{&opened.context, nullptr, nullptr, pair.server.cq, 1};
};

// --- ibv_post_send

ibv_send_wr sending(std::uint64_t id) {
  ibv_send_wr wr{};
  wr.wr_id = id;
  wr.opcode = IBV_WR_SEND;
  return wr;
}

// As a linked list; std::list keeps the elements where they are.
ibv_send_wr* linked(std::list<ibv_send_wr>& all) {
  ibv_send_wr* next = nullptr;
  for (auto wr = all.rbegin(); wr != all.rend(); ++wr) next = &(wr->next = next, *wr);
  return next;
}

TEST_F(Posting, AListLongerThanABatch) {
  expect_sends(40);
  std::list<ibv_send_wr> list;
  for (std::uint64_t i = 0; i < 40; ++i) list.push_back(sending(i));
  ibv_send_wr* bad = nullptr;
  EXPECT_EQ(post_send(plain(qp), linked(list), &bad), 0);
  EXPECT_EQ(bad, nullptr);
  expect_received(40);
}

TEST_F(Posting, TheRefusedRequestIsNamed) {
  expect_sends(64);
  ibv_send_wr* bad = nullptr;
  std::list<ibv_send_wr> list;
  for (std::uint64_t i = 0; i < 40; ++i) list.push_back(sending(i));
  ibv_send_wr& wrong = *std::next(list.begin(), 35);
  wrong.opcode = IBV_WR_TSO;  // no translation
  EXPECT_EQ(post_send(plain(qp), linked(list), &bad), EOPNOTSUPP);
  EXPECT_EQ(bad, &wrong);
  wrong.opcode = IBV_WR_RDMA_READ;
  wrong.send_flags = IBV_SEND_INLINE;  // the engine says no
  EXPECT_EQ(post_send(plain(qp), &wrong, &bad), EINVAL);
  EXPECT_EQ(bad, &wrong);
  ibv_send_wr alone = sending(1);
  alone.opcode = IBV_WR_SEND_WITH_IMM;
  EXPECT_EQ(post_send(plain(qp), &alone, &bad), EOPNOTSUPP);
  EXPECT_EQ(bad, &alone);
  expect_received(35);
}

TEST_F(Posting, AReceive) {
  expect_sends(1);
  must(qp.engine.post_send({.opcode = verbs::SendOpcode::kSend}), "an initiator speaks first");
  ibv_recv_wr wr{};
  wr.wr_id = 5;
  ibv_recv_wr* bad = nullptr;
  EXPECT_EQ(post_recv(plain(qp), &wr, &bad), 0);
  must(pair.server.qp->post_send({.opcode = verbs::SendOpcode::kSend}), "post_send");
  EXPECT_EQ(pair.client.next().wr_id, 5U);
}

// --- ibv_wr_start ... ibv_wr_complete

TEST_F(Posting, BuiltRequestsArePostedTogether) {
  ASSERT_EQ(furnish_builder(qp, kEverything), 0);
  expect_sends(2);
  std::array<char, 5> word = {'h', 'e', 'l', 'l', 'o'};
  ibv_wr_start(&qp);
  qp.wr_id = 1;
  ibv_wr_send(&qp);
  ibv_wr_set_inline_data(&qp, word.data(), word.size());
  word.fill('x');  // it was copied
  qp.wr_id = 2;
  qp.wr_flags = IBV_SEND_SIGNALED;
  ibv_wr_send(&qp);
  EXPECT_EQ(ibv_wr_complete(&qp), 0);
  EXPECT_EQ(pair.client.next().wr_id, 2U);
  EXPECT_EQ(pair.server.next().byte_len, 5U);
  EXPECT_EQ(std::memcmp(inbox.octets.data(), "hello", 5), 0);
}

TEST_F(Posting, AListIsPostedAsAWholeOrNotAtAll) {
  ASSERT_EQ(furnish_builder(qp, kEverything), 0);
  expect_sends(64);
  ibv_wr_start(&qp);
  for (int i = 0; i < 65; ++i) ibv_wr_send(&qp);
  EXPECT_EQ(ibv_wr_complete(&qp), ENOMEM);
  ibv_wr_start(&qp);
  ibv_wr_send(&qp);
  ibv_wr_rdma_read(&qp, 1, 2);
  std::array<char, 65> octets{};
  ibv_wr_set_inline_data(&qp, octets.data(), 8);
  EXPECT_EQ(ibv_wr_complete(&qp), EINVAL);  // inline reads
  ibv_wr_start(&qp);
  ibv_wr_send(&qp);
  ibv_wr_set_inline_data(&qp, octets.data(), octets.size());
  EXPECT_EQ(ibv_wr_complete(&qp), EINVAL);  // more than max_inline
  ibv_wr_start(&qp);
  ibv_wr_send(&qp);
  const ibv_mw_bind_info nothing{};
  ibv_wr_bind_mw(&qp, nullptr, 1, &nothing);
  EXPECT_EQ(ibv_wr_complete(&qp), EINVAL);
  ibv_wr_start(&qp);
  ibv_wr_send(&qp);
  ibv_wr_abort(&qp);
  ibv_wr_start(&qp);
  ibv_wr_set_sge(&qp, 1, 2, 3);  // of nothing
  EXPECT_EQ(ibv_wr_complete(&qp), EINVAL);
  ibv_wr_start(&qp);
  for (int i = 0; i < 64; ++i) ibv_wr_send(&qp);
  EXPECT_EQ(ibv_wr_complete(&qp), 0);
  expect_received(64);
}

// With the connection manager no end can know that the other combines the two messages.
TEST_F(Posting, ASendWithImmediateIsForDirectConnections) {
  expect_sends(1);
  auto wr = sending(1);
  wr.opcode = IBV_WR_SEND_WITH_IMM;
  ibv_send_wr* bad = nullptr;
  EXPECT_EQ(post_send(plain(qp), &wr, &bad), EOPNOTSUPP);
  EXPECT_EQ(bad, &wr);
  std::list<ibv_send_wr> list{sending(2), wr};
  EXPECT_EQ(post_send(plain(qp), linked(list), &bad), EOPNOTSUPP);
  EXPECT_EQ(bad, &list.back());
  expect_received(1);
  ASSERT_EQ(furnish_builder(qp, IBV_QP_EX_WITH_SEND_WITH_IMM), 0);
  ibv_wr_start(&qp);
  ibv_wr_send_imm(&qp, 7);
  EXPECT_EQ(ibv_wr_complete(&qp), EOPNOTSUPP);
}

TEST_F(Posting, WhatIwarpCannotCarryIsRefusedAtCreation) {
  for (const auto flag : {IBV_QP_EX_WITH_TSO, IBV_QP_EX_WITH_ATOMIC_WRITE}) {
    EXPECT_EQ(furnish_builder(qp, IBV_QP_EX_WITH_SEND | std::uint64_t{flag}), EOPNOTSUPP);
  }
  EXPECT_FALSE(qp.builder);
}

// --- ibv_start_poll

TEST_F(Posting, WhatABatchLeavesUnreadIsNotLost) {
  expect_sends(5);
  std::list<ibv_send_wr> list;
  for (std::uint64_t i = 0; i < 5; ++i) list.push_back(sending(i));
  ibv_send_wr* bad = nullptr;
  ASSERT_EQ(post_send(plain(qp), linked(list), &bad), 0);
  ASSERT_EQ(start_poll(), 0);
  EXPECT_EQ(cq.wr_id, 0U);
  EXPECT_EQ(cq.status, IBV_WC_SUCCESS);
  EXPECT_EQ(ibv_wc_read_opcode(&cq), IBV_WC_RECV);
  EXPECT_EQ(ibv_wc_read_qp_num(&cq), pair.server.qp->number());
  ibv_end_poll(&cq);
  ASSERT_EQ(start_poll(), 0);
  EXPECT_EQ(cq.wr_id, 1U);
  ibv_end_poll(&cq);
  // The rest is with the engine, or left over from a batch: in order either way.
  std::array<verbs::WorkCompletion, 1> one;
  std::uint64_t expected = 2;
  if (take_left_over(cq, one) == 1) {
    EXPECT_EQ(one[0].wr_id, expected++);
  }
  ASSERT_EQ(start_poll(), 0);
  EXPECT_EQ(cq.wr_id, expected);
  while (expected < 4) {
    verbs::test::wait_until([&] { return ibv_next_poll(&cq) == 0; }, "the next completion");
    EXPECT_EQ(cq.wr_id, ++expected);
  }
  EXPECT_EQ(ibv_next_poll(&cq), ENOENT);
  EXPECT_EQ(ibv_wc_read_opcode(&cq), IBV_WC_RECV);  // the last one can still be read
  ibv_end_poll(&cq);
  EXPECT_EQ(ibv_start_poll(&cq, nullptr), ENOENT);
  EXPECT_EQ(take_left_over(cq, one), 0U);
}

// As after a batch of four whose first completion was read.
void leave_over(Cq& cq) {
  for (std::uint32_t i = 0; i < 4; ++i) cq.batch[i] = {.wr_id = i, .qp_num = i % 2};
  cq.taken = 4;
  cq.at = 1;
}

TEST_F(Posting, WhatIsLeftOverComesFirst) {
  leave_over(cq);
  std::array<verbs::WorkCompletion, 2> two;
  ASSERT_EQ(ibv_start_poll(&cq, nullptr), 0);
  EXPECT_EQ(cq.wr_id, 1U);
  ibv_end_poll(&cq);
  ASSERT_EQ(take_left_over(cq, two), 2U);
  EXPECT_EQ(two[0].wr_id, 2U);
  EXPECT_EQ(two[1].wr_id, 3U);
  EXPECT_EQ(take_left_over(cq, two), 0U);
}

TEST_F(Posting, WhatIsLeftOverOfADestroyedQueuePairGoes) {
  leave_over(cq);
  discard_left_over(cq, 1);
  ASSERT_EQ(ibv_start_poll(&cq, nullptr), 0);
  EXPECT_EQ(cq.wr_id, 2U);
  EXPECT_EQ(ibv_next_poll(&cq), ENOENT);
  ibv_end_poll(&cq);
}

TEST_F(Posting, OnlyTheFieldsAskedFor) {
  Cq bare(&opened.context, nullptr, nullptr, pair.client.cq, 2);
  furnish_extended_polling(bare, IBV_WC_EX_WITH_BYTE_LEN);
  EXPECT_NE(bare.read_byte_len, nullptr);
  EXPECT_NE(bare.read_vendor_err, nullptr);
  EXPECT_EQ(bare.read_imm_data, nullptr);
  EXPECT_EQ(bare.read_completion_ts, nullptr);
}

}  // namespace
}  // namespace weft::compat
