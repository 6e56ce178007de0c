// SPDX-License-Identifier: Apache-2.0
// What programs do to event channels that they should not.
#include <gtest/gtest.h>
#include <rdma/rdma_cma.h>

#include <cerrno>

namespace {

// rping destroys its channel beside the thread that reads it.
TEST(EventChannel, ReadAfterItWasDestroyedSaysSo) {
  rdma_event_channel* const channel = rdma_create_event_channel();
  ASSERT_NE(channel, nullptr);
  rdma_destroy_event_channel(channel);
  rdma_cm_event* event = nullptr;
  errno = 0;
  EXPECT_EQ(rdma_get_cm_event(channel, &event), -1);
  EXPECT_EQ(errno, EBADF);
}

}  // namespace
