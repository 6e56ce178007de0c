// SPDX-License-Identifier: Apache-2.0
// Two ends of which one speaks plain MPA: between them a relay, which is not weft's, has the TLS that the other end speaks.
#pragma once

#include <string>

#include "tls_pair.hpp"

namespace weft::verbs::test {

enum class HasTls : std::uint8_t { kListener, kClient };

struct RelayedEnds {
  explicit RelayedEnds(HasTls which) : tls_listens(which == HasTls::kListener) {
    must(listener.bind_address(loopback("127.0.0.1")), "bind");
    if (tls_listens) must(listener.set_policy(tls_policy(keys, "server")), "set_policy");
    must(listener.listen(), "listen");
  }
  // Whose certificate the relay shows.
  [[nodiscard]] std::string relays_name() const { return tls_listens ? "client" : "server"; }
  [[nodiscard]] std::uint16_t behind() const { return listener.local_address().port; }

  // A connection through the relay at `port`: messages of many records both ways, and an orderly end.
  void exchange(std::uint16_t port) {
    End client, server;
    client.id = must(ConnectionId::create(events), "id");
    if (!tls_listens) must(client.id->set_policy(tls_policy(keys, "client")), "set_policy");
    resolve(*client.id, events, loopback("127.0.0.1", port));
    server.id = establish(*client.id, events, *client.qp, *server.qp);
    const auto peer = (tls_listens ? server : client).id->peer_identity();
    ASSERT_TRUE(peer);
    EXPECT_EQ(peer->subject, "CN=" + relays_name());
    EXPECT_FALSE((tls_listens ? client : server).id->peer_identity()) << "the plain end knows nothing of it";
    Buffer near(client, 300'000), far(server, 300'000);
    near.fill(5);
    for (int round = 0; round < 3; ++round) {
      carry(client, near, server, far);
      EXPECT_TRUE(far.octets == near.octets);
      carry(server, far, client, near);
    }
    must(client.id->disconnect(), "disconnect");
    for (int end = 0; end < 2; ++end) expect_event(events, ConnectionEventType::kDisconnected);
  }

  const TlsKeys keys{};
  const bool tls_listens;
  EventChannel events = must(EventChannel::create(), "channel");
  ConnectionId listener = must(ConnectionId::create(events), "id");

 private:
  static void carry(End& sender, const Buffer& from, End& receiver, const Buffer& into) {
    const auto source = from.sge(), sink = into.sge();
    must(receiver.qp->post_receive({.wr_id = 1, .segments = {&sink, 1}}), "post_receive");
    must(sender.qp->post_send({.opcode = SendOpcode::kSend, .segments = {&source, 1}}), "send");
    ASSERT_EQ(receiver.next().status, WcStatus::kSuccess);
  }
};

}  // namespace weft::verbs::test
