// SPDX-License-Identifier: Apache-2.0
// Rights of one stream end with it, though its queue pair goes on to another (RFC 5040 section 8.1.1, RFC 5041 section
// 8.3.1, RFC 5042 section 6.1.1).
#include <algorithm>

#include "loopback.hpp"

namespace weft::verbs::test {
namespace {

// A client whose memory its peer may use in two ways that other streams may not: a window, and a region for one queue
// pair. The peer is a server, which sends nothing before it has heard the client (MPA-7.1.2-17).
struct Owner {
  Pair pair{};
  Buffer base{pair.client, 64};
  std::optional<Buffer> own{std::in_place, pair.client, 64, kAllAccess, RegionOptions{.only_for = &*pair.client.qp}};
  MemoryWindow window{must(pair.client.domain.allocate_window(), "window")};

  Owner() {
    speak(pair.server);
    bind();
  }
  void speak(End& server) {
    must(server.qp->post_receive({.wr_id = 1}), "post_receive");
    must(pair.client.qp->post_send({.opcode = SendOpcode::kSend}), "post_send");
    EXPECT_EQ(server.next().status, WcStatus::kSuccess);
  }
  void bind() {
    must(pair.client.qp->post_send({.wr_id = 2,
                                    .opcode = SendOpcode::kBindWindow,
                                    .flags = SendFlags::kSignaled,
                                    .bind = {.window = &window,
                                             .region = &base.region,
                                             .rkey = window.next_rkey(),
                                             .address = base.remote(),
                                             .length = 64,
                                             .access = Access::kRemoteRead | Access::kRemoteWrite}}),
         "bind");
    EXPECT_EQ(pair.client.next().status, WcStatus::kSuccess);
  }
  // The same queue pair, and another peer.
  void connect_to(End& other) {
    pair.disconnect();
    must(pair.client.qp->modify(QpState::kReset), "RESET");
    must(pair.client.qp->modify(QpState::kInit), "INIT");
    pair.client.id = must(ConnectionId::create(pair.events), "id");
    resolve(*pair.client.id, pair.events, pair.listener.local_address());
    must(pair.client.id->connect(*pair.client.qp), "connect");
    auto request = pair.event(ConnectionEventType::kConnectRequest);
    other.id = std::move(*request.request);
    must(other.id->accept(*other.qp), "accept");
    pair.event(ConnectionEventType::kEstablished);
    pair.event(ConnectionEventType::kEstablished);
    speak(other);
  }
};

void ask(End& asker, const Buffer& local, SendOpcode opcode, std::uint64_t offset, std::uint32_t rkey) {
  const auto sge = local.sge();
  must(asker.qp->post_send({.opcode = opcode,
                            .flags = SendFlags::kSignaled,
                            .segments = {&sge, 1},
                            .remote_address = offset,
                            .rkey = rkey}),
       "post_send");
}

class Reset : public ::testing::TestWithParam<std::tuple<SendOpcode, bool>> {};

// RDMAP-8.1.1-02, DDP-8.3.1-03, SEC-6.1.1-04, SEC-5.1.1-01: refused with "invalid STag", and no octet is touched.
TEST_P(Reset, ANewPeerDoesNotInheritTheRightsOfTheOldOne) {
  const auto [opcode, by_window] = GetParam();
  Owner owner;
  const Buffer& target = by_window ? owner.base : *owner.own;
  const std::uint32_t rkey = by_window ? owner.window.rkey() : target.region.rkey();
  {
    Buffer local(owner.pair.server, 64);
    local.fill(1);
    for (const SendOpcode allowed : {SendOpcode::kRdmaWrite, SendOpcode::kRdmaRead}) {
      ask(owner.pair.server, local, allowed, target.remote(), rkey);
      EXPECT_EQ(owner.pair.server.next().status, WcStatus::kSuccess);
    }
    EXPECT_EQ(target.octets, octets(64, 1));
  }
  End stranger;
  owner.connect_to(stranger);
  Buffer local(stranger, 64);
  local.fill(2);
  ask(stranger, local, opcode, target.remote(), rkey);
  const auto at_owner = owner.pair.client.next_async(), at_stranger = stranger.next_async();
  EXPECT_EQ(at_owner.type, AsyncEventType::kQueuePairAccessError);
  for (const auto& event : {at_owner, at_stranger}) {
    ASSERT_TRUE(event.error);
    EXPECT_EQ(event.error->layer, opcode == SendOpcode::kRdmaWrite ? 1 : 0);
    EXPECT_EQ(event.error->type, 1);
    EXPECT_EQ(event.error->code, 0x00);
  }
  EXPECT_EQ(target.octets, octets(64, 1));
  EXPECT_EQ(local.octets, octets(64, 2));
}

INSTANTIATE_TEST_SUITE_P(Rights, Reset,
                         ::testing::Combine(::testing::Values(SendOpcode::kRdmaWrite, SendOpcode::kRdmaRead),
                                            ::testing::Bool()),
                         [](const auto& parameter) {
                           const bool write = std::get<0>(parameter.param) == SendOpcode::kRdmaWrite;
                           return std::string(write ? "Write" : "Read") +
                                  (std::get<1>(parameter.param) ? "Window" : "Region");
                         });

TEST(Rights, AreGivenAnewAfterReset) {
  Owner owner;
  const auto old = owner.window.rkey();
  End next;
  owner.connect_to(next);
  EXPECT_FALSE(owner.window.bound());
  owner.bind();
  EXPECT_NE(owner.window.rkey(), old);
  owner.own.emplace(owner.pair.client, 64, kAllAccess, RegionOptions{.only_for = &*owner.pair.client.qp});
  Buffer local(next, 64);
  for (const std::uint32_t rkey : {owner.window.rkey(), owner.own->region.rkey()}) {
    const Buffer& target = rkey == owner.window.rkey() ? owner.base : *owner.own;
    ask(next, local, SendOpcode::kRdmaRead, target.remote(), rkey);
    EXPECT_EQ(next.next().status, WcStatus::kSuccess);
  }
}

// The window was bound through the queue pair that is gone: its region is free, and so is the window.
TEST(Rights, EndWithTheirQueuePair) {
  Owner owner;
  EXPECT_EQ(owner.base.region.deregister().error().code, Errc::kBusy);
  owner.pair.client.qp.reset();
  EXPECT_FALSE(owner.window.bound());
  must(owner.base.region.deregister(), "deregister");
  must(owner.own->region.deregister(), "deregister");
}

}  // namespace
}  // namespace weft::verbs::test
