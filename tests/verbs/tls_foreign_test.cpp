// SPDX-License-Identifier: Apache-2.0
// TLS as the world knows it at the other end: Python's, before an end that speaks plain MPA.
#include <gtest/gtest.h>

#include <charconv>
#include <string>

#include "command.hpp"
#include "tls_pair.hpp"

namespace weft::verbs::test {
namespace {

// The relay, and where it listens.
struct Relay {
  Relay(const TlsKeys& keys, const std::string& role, const std::string& name, std::uint16_t towards)
      : command({WEFT_TLS_PROXY, role, std::to_string(towards), keys.path(name + ".pem"), keys.path("ca.pem")},
                "/usr/bin/python3") {
    const std::string before = "listening on ";
    EXPECT_TRUE(command.wait_for_output("\n")) << command.err();
    const std::string said = command.out();
    const std::string digits = said.substr(std::min(said.find(before) + before.size(), said.size()));
    std::from_chars(digits.data(), digits.data() + digits.size(), port);
  }
  weft::test::Command command;
  std::uint16_t port = 0;
};

void expect_traffic(const std::string& role) {
  const TlsKeys keys;
  const bool tls_listens = role == "connect";
  EventChannel events = must(EventChannel::create(), "channel");
  ConnectionId listener = must(ConnectionId::create(events), "id");
  must(listener.bind_address(loopback("127.0.0.1")), "bind");
  if (tls_listens) must(listener.set_policy(tls_policy(keys, "server")), "set_policy");
  must(listener.listen(), "listen");
  Relay relay(keys, role, tls_listens ? "client" : "server", listener.local_address().port);
  End client, server;
  client.id = must(ConnectionId::create(events), "id");
  if (!tls_listens) must(client.id->set_policy(tls_policy(keys, "client")), "set_policy");
  resolve(*client.id, events, loopback("127.0.0.1", relay.port));
  server.id = establish(*client.id, events, *client.qp, *server.qp);
  const auto peer = (tls_listens ? server : client).id->peer_identity();
  ASSERT_TRUE(peer);
  EXPECT_EQ(peer->subject, tls_listens ? "CN=client" : "CN=server");
  Buffer near(client, 300'000), far(server, 300'000);
  near.fill(5);
  const auto from = near.sge(), into = far.sge();
  for (int round = 0; round < 3; ++round) {
    must(server.qp->post_receive({.wr_id = 1, .segments = {&into, 1}}), "post_receive");
    must(client.qp->post_send({.opcode = SendOpcode::kSend, .segments = {&from, 1}}), "send");
    ASSERT_EQ(server.next().status, WcStatus::kSuccess);
    EXPECT_TRUE(far.octets == near.octets);
    must(client.qp->post_receive({.wr_id = 2, .segments = {&from, 1}}), "post_receive");
    must(server.qp->post_send({.opcode = SendOpcode::kSend, .segments = {&into, 1}}), "send");
    ASSERT_EQ(client.next().status, WcStatus::kSuccess);
  }
  must(client.id->disconnect(), "disconnect");
  for (int end = 0; end < 2; ++end) expect_event(events, ConnectionEventType::kDisconnected);
  const auto ended = relay.command.wait();
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_NE(ended.out.find("both have closed"), std::string::npos) << "each close_notify came";
}

TEST(TlsForeign, AClientWithItsOwnTls) { expect_traffic("connect"); }
TEST(TlsForeign, AListenerWithItsOwnTls) { expect_traffic("listen"); }

}  // namespace
}  // namespace weft::verbs::test
