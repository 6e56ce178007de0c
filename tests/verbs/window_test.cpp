// SPDX-License-Identifier: Apache-2.0
// Memory windows of type 1: bound through one queue pair, used through every one of the protection domain.
#include <set>

#include "loopback.hpp"

namespace weft::verbs::test {
namespace {

// A server with two connections, whose queue pairs are of one domain, or of two.
struct TwoConnections {
  explicit TwoConnections(bool one_domain)
      : stranger(must(pair.server.device.allocate_protection_domain(), "domain")),
        second(must((one_domain ? pair.server.domain : stranger)
                        .create_queue_pair({.send_cq = &pair.server.cq, .receive_cq = &pair.server.receive_cq}),
                    "queue pair")) {
    resolve(id, pair.events, pair.listener.local_address());
    must(id.connect(*other.qp), "connect");
    auto request = pair.event(ConnectionEventType::kConnectRequest);
    second_id = std::move(*request.request);
    must(second_id->accept(second), "accept");
    for (int i = 0; i < 2; ++i) pair.event(ConnectionEventType::kEstablished);
    // The initiator speaks first (MPA-7.1.2-17).
    must(pair.server.qp->post_receive({.wr_id = 1}), "post_receive");
    must(pair.client.qp->post_send({.opcode = SendOpcode::kSend}), "post_send");
    EXPECT_EQ(pair.server.next().wr_id, 1U);
  }

  // How a Read of the client `who` ends.
  WorkCompletion read(End& who, std::uint32_t rkey) {
    Buffer sink(who, 8);
    const auto sge = sink.sge();
    must(who.qp->post_send({.opcode = SendOpcode::kRdmaRead,
                            .flags = SendFlags::kSignaled,
                            .segments = {&sge, 1},
                            .remote_address = base.remote(),
                            .rkey = rkey}),
         "post_send");
    const auto done = who.next();
    if (done.status == WcStatus::kSuccess) {
      EXPECT_EQ(sink.octets, octets(8, 1));
    }
    return done;
  }
  // By the first queue pair of the server. 0 octets unbind.
  WcStatus bind(std::uint64_t length) {
    must(pair.server.qp->post_send({.opcode = SendOpcode::kBindWindow,
                                    .flags = SendFlags::kSignaled,
                                    .bind = {.window = &window,
                                             .region = length != 0 ? &base.region : nullptr,
                                             .rkey = window.next_rkey(),
                                             .address = base.remote(),
                                             .length = length,
                                             .access = Access::kRemoteRead}}),
         "bind");
    return pair.server.next().status;
  }

  Pair pair;
  End other;
  ProtectionDomain stranger;
  QueuePair second;
  ConnectionId id = must(ConnectionId::create(pair.events), "id");
  std::optional<ConnectionId> second_id;
  Buffer base{pair.server, 8};
  MemoryWindow window = must(pair.server.domain.allocate_window(WindowType::kType1), "window");
};

TEST(WindowsOfType1, HaveAKeyForEachOf256BindsThatWait) {
  End end;
  const auto window = must(end.domain.allocate_window(WindowType::kType1), "allocate_window");
  std::set<std::uint32_t> keys{window.rkey()};
  for (std::uint32_t key = window.next_rkey(); key != window.rkey(); key = window.next_rkey(key)) {
    EXPECT_EQ(key >> 8U, window.rkey() >> 8U);
    ASSERT_TRUE(keys.insert(key).second);
  }
  EXPECT_EQ(keys.size(), 256U);
}

TEST(WindowsOfType1, ServeEveryQueuePairOfTheDomain) {
  TwoConnections two(true);
  two.base.fill(1);
  ASSERT_EQ(two.bind(8), WcStatus::kSuccess);
  EXPECT_EQ(two.read(two.pair.client, two.window.rkey()).status, WcStatus::kSuccess);
  EXPECT_EQ(two.read(two.other, two.window.rkey()).status, WcStatus::kSuccess);
  EXPECT_EQ(two.base.region.deregister().error().code, Errc::kBusy);
  // Bound anew without being invalidated. The old key is worth nothing any more, on any of them.
  const std::uint32_t old = two.window.rkey();
  ASSERT_EQ(two.bind(4), WcStatus::kSuccess);
  EXPECT_NE(two.window.rkey(), old);
  const auto refused = two.read(two.other, old);
  EXPECT_EQ(refused.status, WcStatus::kRemoteAccessError);
  EXPECT_EQ(refused.vendor_error, 0x000100U);  // RDMAP, Remote Protection Error, Invalid STag
  ASSERT_EQ(two.bind(0), WcStatus::kSuccess);
  EXPECT_FALSE(two.window.bound());
  EXPECT_TRUE(two.base.region.deregister());
}

TEST(WindowsOfType1, GoWithTheHandleThatAnotherIsMovedTo) {
  TwoConnections two(true);
  two.base.fill(1);
  ASSERT_EQ(two.bind(8), WcStatus::kSuccess);
  const std::uint32_t old = two.window.rkey();
  auto other = must(two.pair.server.domain.allocate_window(WindowType::kType1), "window");
  const std::uint32_t key = other.rkey();
  two.window = std::move(other);
  EXPECT_EQ(two.window.rkey(), key);
  EXPECT_FALSE(two.window.bound());
  EXPECT_TRUE(two.base.region.deregister()) << "nothing is bound to it any more";
  EXPECT_EQ(two.read(two.other, old).status, WcStatus::kRemoteAccessError);
}

// RDMAP-8.1.1-01, SEC-6.1.1-03
TEST(WindowsOfType1, ServeNoOtherDomain) {
  TwoConnections two(false);
  two.base.fill(1);
  ASSERT_EQ(two.bind(8), WcStatus::kSuccess);
  const auto refused = two.read(two.other, two.window.rkey());
  EXPECT_EQ(refused.status, WcStatus::kRemoteAccessError);
  EXPECT_EQ(refused.vendor_error, 0x000103U);  // STag not associated with RDMAP Stream
  EXPECT_EQ(two.read(two.pair.client, two.window.rkey()).status, WcStatus::kSuccess);
}

// RDMAP-8.1.1-07: others use it too.
TEST(WindowsOfType1, AreNotInvalidatedByAPeer) {
  TwoConnections two(true);
  ASSERT_EQ(two.bind(8), WcStatus::kSuccess);
  must(two.pair.server.qp->post_receive({.wr_id = 2}), "post_receive");
  must(two.pair.client.qp->post_send({.opcode = SendOpcode::kSendWithInvalidate, .invalidate_rkey = two.window.rkey()}),
       "post_send");
  EXPECT_EQ(two.pair.server.next().status, WcStatus::kFlushed);
  EXPECT_EQ(two.pair.client.next_async().error->code, 0x09);
  EXPECT_TRUE(two.window.bound());
}

// What it was bound through is gone, and it goes on serving the others.
TEST(WindowsOfType1, OutliveTheQueuePairThatBoundThem) {
  TwoConnections two(true);
  two.base.fill(1);
  ASSERT_EQ(two.bind(8), WcStatus::kSuccess);
  two.pair.server.qp.reset();
  EXPECT_EQ(two.read(two.other, two.window.rkey()).status, WcStatus::kSuccess);
}

}  // namespace
}  // namespace weft::verbs::test
