// SPDX-License-Identifier: Apache-2.0
// Enumerators in words, and rates in numbers.
#include <gtest/gtest.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

namespace {

TEST(CompatWords, AreThoseOfRdmaCore) {
  EXPECT_STREQ(ibv_wc_status_str(IBV_WC_SUCCESS), "success");
  EXPECT_STREQ(ibv_wc_status_str(IBV_WC_WR_FLUSH_ERR), "Work Request Flushed Error");
  EXPECT_STREQ(ibv_event_type_str(IBV_EVENT_SRQ_LIMIT_REACHED), "SRQ limit reached");
  EXPECT_STREQ(ibv_port_state_str(IBV_PORT_ACTIVE), "active");
  EXPECT_STREQ(ibv_node_type_str(IBV_NODE_RNIC), "iWARP NIC");
  EXPECT_STREQ(rdma_event_str(RDMA_CM_EVENT_ESTABLISHED), "RDMA_CM_EVENT_ESTABLISHED");
}

TEST(CompatWords, ThereAreSomeForWhatNobodyKnows) {
  EXPECT_STREQ(ibv_wc_status_str(static_cast<ibv_wc_status>(31)), "unknown");
  EXPECT_STREQ(ibv_event_type_str(static_cast<ibv_event_type>(31)), "unknown");
  EXPECT_STREQ(ibv_port_state_str(static_cast<ibv_port_state>(7)), "unknown");
  EXPECT_STREQ(ibv_node_type_str(IBV_NODE_UNKNOWN), "unknown");
}

TEST(CompatRates, GoThereAndBack) {
  for (int rate = IBV_RATE_2_5_GBPS; rate <= IBV_RATE_1200_GBPS; ++rate) {
    EXPECT_EQ(mbps_to_ibv_rate(ibv_rate_to_mbps(static_cast<ibv_rate>(rate))), rate);
    const int multiple = ibv_rate_to_mult(static_cast<ibv_rate>(rate));
    if (multiple != -1) {
      EXPECT_EQ(mult_to_ibv_rate(multiple), rate);
    }
  }
  EXPECT_EQ(ibv_rate_to_mult(IBV_RATE_10_GBPS), 4);
  EXPECT_EQ(ibv_rate_to_mult(IBV_RATE_100_GBPS), -1);
  EXPECT_EQ(ibv_rate_to_mbps(IBV_RATE_100_GBPS), 103125);
  EXPECT_EQ(ibv_rate_to_mbps(IBV_RATE_MAX), -1);
  EXPECT_EQ(mult_to_ibv_rate(3), IBV_RATE_MAX);
  EXPECT_EQ(mult_to_ibv_rate(0), IBV_RATE_MAX);
}

}  // namespace
