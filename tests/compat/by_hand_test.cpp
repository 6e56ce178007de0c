// SPDX-License-Identifier: Apache-2.0
// A program that connects its queue pairs by hand, as ibv_rc_pingpong does: its user reads why it fails, once.
#include <gtest/gtest.h>

#include <cerrno>
#include <string>

#include "things.hpp"

namespace weft::compat::test {
namespace {

int connect_by_hand(ibv_qp* qp) {
  ibv_qp_attr to{};
  to.qp_state = IBV_QPS_RTR;
  to.dest_qp_num = 7;
  return ibv_modify_qp(qp, &to, IBV_QP_STATE | IBV_QP_AV | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN);
}

std::size_t times(const std::string& words, const std::string& text) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(words, at)) != std::string::npos; at += words.size()) ++count;
  return count;
}

TEST(CompatByHand, IsExplainedOnceAtTheDefaultLevel) {
  ::unsetenv("WEFT_LOG");
  testing::internal::CaptureStderr();
  Things first;
  Things second;
  ASSERT_EQ(modify(first.qp, IBV_QPS_INIT), 0);
  EXPECT_EQ(connect_by_hand(first.qp), EINVAL);
  EXPECT_EQ(connect_by_hand(first.qp), EINVAL);
  EXPECT_EQ(connect_by_hand(second.qp), EINVAL);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(times("\n", said), 1U) << said;
  EXPECT_EQ(times(" weft warning: ibv_modify_qp: this program connects its queue pairs itself;", said), 1U) << said;
  EXPECT_EQ(times("rdma_connect or rdma_accept (perftest: -R; docs/drop-in.md", said), 1U) << said;
}

}  // namespace
}  // namespace weft::compat::test
