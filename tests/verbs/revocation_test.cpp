// SPDX-License-Identifier: Apache-2.0
// Memory that its owner or the peer takes back on a live connection.
#include <algorithm>
#include <optional>
#include <vector>

#include "loopback.hpp"

namespace weft::verbs::test {
namespace {

// The handle of a region goes while a window is bound to it, so it is deregistered with the window. When the peer's
// Send with Invalidate does that, its payload has just been placed in the same region: the stream holds a lease.
TEST(Revocation, APeerInvalidatesTheLastWindowOfARegionThatItsSendFills) {
  Pair pair;
  std::vector<std::byte> octets(4096);
  std::optional region = must(pair.client.domain.register_memory(octets.data(), octets.size(), kAllAccess), "register");
  auto window = must(pair.client.domain.allocate_window(), "window");
  const auto rkey = window.next_rkey();
  must(pair.client.qp->post_send({.opcode = SendOpcode::kBindWindow,
                                  .flags = SendFlags::kSignaled,
                                  .bind = {.window = &window,
                                           .region = &*region,
                                           .rkey = rkey,
                                           .address = region->iova(),
                                           .length = 64,
                                           .access = Access::kRemoteRead}}),
       "bind");
  EXPECT_EQ(pair.client.next().status, WcStatus::kSuccess);
  const auto sink = region->sge(1024, 64);
  must(pair.client.qp->post_receive({.wr_id = 1, .segments = {&sink, 1}}), "post_receive");
  EXPECT_EQ(region->deregister().error().code, Errc::kBusy);
  region.reset();
  must(pair.client.qp->post_send({.opcode = SendOpcode::kRdmaWrite}), "the initiator speaks first");
  Buffer source(pair.server, 64);
  source.fill(1);
  const auto sge = source.sge();
  must(pair.server.qp->post_send(
           {.opcode = SendOpcode::kSendWithInvalidate, .segments = {&sge, 1}, .invalidate_rkey = rkey}),
       "send");
  const auto received = pair.client.next();
  EXPECT_EQ(received.status, WcStatus::kSuccess);
  EXPECT_EQ(received.invalidated_rkey, rkey);
  EXPECT_FALSE(window.bound());
  EXPECT_TRUE(std::equal(source.octets.begin(), source.octets.end(), octets.begin() + 1024));
}

}  // namespace
}  // namespace weft::verbs::test
