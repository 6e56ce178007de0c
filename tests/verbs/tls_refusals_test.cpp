// SPDX-License-Identifier: Apache-2.0
// Connections that TLS does not let come about: what both ends are told, and what the log says.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>

#include "child.hpp"
#include "tls_pair.hpp"
#include "verbs/log/log.hpp"
#include "verbs/options.hpp"

namespace weft::verbs::test {
namespace {

struct TlsListener {
  explicit TlsListener(const Policy& policy) {
    must(id.bind_address(loopback("127.0.0.1")), "bind");
    must(id.set_policy(policy), "set_policy");
    must(id.listen(), "listen");
  }
  EventChannel events = must(EventChannel::create(), "channel");
  ConnectionId id = must(ConnectionId::create(events), "id");
};

// How a client of this policy fares; the request, if there is one, is accepted.
ConnectionEvent outcome(const TlsListener& listener, const Policy& policy) {
  End client, server;
  EventChannel events = must(EventChannel::create(), "channel");
  ConnectionId id = must(ConnectionId::create(events), "id");
  must(id.set_policy(policy), "set_policy");
  resolve(id, events, listener.id.local_address());
  must(id.connect(*client.qp), "connect");
  return must(events.get_event(std::chrono::duration_cast<std::chrono::milliseconds>(kPatience)), "get_event");
}

// What the log says in a child. It ends without exit(): on a busy machine LeakSanitizer, which would look then, takes what the
// threads still have for leaks.
std::string said_in_child(const std::function<void()>& body) {
  return said_by_child(
      [&] {
        body();
        EXPECT_TRUE(flush_log(std::chrono::seconds(10)));
      },
      false);
}

// With a listener in the same process: what the log says of it.
std::string said_of(const Policy& client, const Policy& server) {
  return said_in_child([&] {
    set_log_level(LogLevel::kWarn);
    const TlsListener listener(server);
    const auto event = outcome(listener, client);
    EXPECT_NE(event.type, ConnectionEventType::kEstablished);
    wait_until([&] { return listener.id.listen_counts()->half_open == 0; }, "the listener's own view");
  });
}

struct TlsRefusal : testing::Test {
  void SetUp() override {
    if (weft::test::kThreadSanitizer) GTEST_SKIP() << "ThreadSanitizer allows no threads in a child: nothing is tried";
  }
  const TlsKeys keys{};
  void expect_lines(const std::string& said, const std::string& at_client, const std::string& at_server) {
    EXPECT_NE(said.find("weft error: startup with 127.0.0.1:"), std::string::npos) << said;
    EXPECT_NE(said.find("weft warning: startup with 127.0.0.1:"), std::string::npos) << said;
    EXPECT_NE(said.find(at_client), std::string::npos) << said;
    EXPECT_NE(said.find(at_server), std::string::npos) << said;
  }
};

TEST_F(TlsRefusal, APlainClient) {
  expect_lines(said_of({}, tls_policy(keys, "server")), "the peer uses TLS, and this end has tls=off",
               "the peer: does not use TLS, and this end has tls=require");
}

TEST_F(TlsRefusal, APlainListener) {
  expect_lines(said_of(tls_policy(keys, "client"), {}), "the peer: closed during the TLS handshake",
               "the peer uses TLS, and this end has tls=off");
}

TEST_F(TlsRefusal, AnotherCa) {
  const TlsKeys others;
  expect_lines(said_of(tls_policy(others, "client"), tls_policy(keys, "server")),
               "the peer's certificate: ", "it rejected our certificate: it does not know the CA");
  Policy client = tls_policy(others, "client");
  client.tls.ca = keys.path("ca.pem");
  expect_lines(said_of(client, tls_policy(keys, "server")), "it rejected our certificate: it does not know the CA",
               "the peer's certificate: ");
}

TEST_F(TlsRefusal, AnExpiredCertificate) {
  using Days = transport::tls::Authority::Days;
  keys.issue("old", {.common_name = "old", .valid_from = Days(-10), .valid_until = Days(-1)});
  expect_lines(said_of(tls_policy(keys, "client"), tls_policy(keys, "old")),
               "the peer's certificate: certificate has expired",
               "it rejected our certificate: certificate has expired");
}

TEST_F(TlsRefusal, AnotherName) {
  Policy client = tls_policy(keys, "client");
  client.tls.expect = "dns:other.example";
  expect_lines(said_of(client, tls_policy(keys, "server")), "the peer's certificate: hostname mismatch",
               "it rejected our certificate: bad certificate, or not the name it expects");
}

TEST_F(TlsRefusal, NoCertificate) {
  Policy client = tls_policy(keys, "client");
  client.tls.certificate.clear();
  expect_lines(said_of(client, tls_policy(keys, "server")), "it requires a certificate of this end (tls-certificate)",
               "startup with");
}

TEST_F(TlsRefusal, ACutIsTold) {
  const std::string said = said_in_child([&] {
    Pair pair(tls_pair(keys));
    ::shutdown(socket_of(pair.client.id->local_address(), pair.client.id->remote_address()), SHUT_WR);
    pair.event(ConnectionEventType::kDisconnected);
  });
  EXPECT_NE(said.find("the connection is lost: the peer: FIN without close_notify"), std::string::npos) << said;
}

// A certificate may have thousands of names: they make no line of 50 kB.
TEST_F(TlsRefusal, ManyNamesAreCutInTheLog) {
  std::vector<std::string> names;
  for (int i = 0; i < 2500; ++i) names.push_back("dns:node" + std::to_string(i) + ".example");
  keys.issue("many", {.common_name = "many", .names = names});
  const std::string said = said_in_child([&] {
    set_log_level(LogLevel::kInfo);
    Pair pair({.client_policy = tls_policy(keys, "client"), .server_policy = tls_policy(keys, "many")});
    EXPECT_EQ(pair.client.id->peer_identity()->names.size(), names.size()) << "the application gets all";
    pair.disconnect();
  });
  const auto begin = said.find("the peer is CN=many, dns:node0.example, ");
  ASSERT_NE(begin, std::string::npos) << said;
  const std::string line = said.substr(begin, said.find('\n', begin) - begin);
  EXPECT_LT(line.size(), 1200U);
  EXPECT_TRUE(line.ends_with(" more names")) << line;
}

// --- What a listener does without its files

// The process remembers the files of 64 policies, and here forgets the listener's, which are gone.
TEST(TlsListeners, ResetClientsUntilTheirFilesAreBack) {
  const TlsKeys keys;
  TlsListener listener(tls_policy(keys, "server"));
  for (int i = 0; i < 64; ++i) {
    Policy other = tls_policy(keys, "client");
    other.tls.expect = "dns:" + std::to_string(i) + ".example";
    auto id = must(ConnectionId::create(listener.events), "id");
    must(id.set_policy(other), "set_policy");
  }
  std::filesystem::rename(keys.path("server.pem"), keys.path("away.pem"));
  // The reset may come while TCP still connects.
  const ConnectionEventType reset = outcome(listener, tls_policy(keys, "client")).type;
  EXPECT_TRUE(reset == ConnectionEventType::kConnectError || reset == ConnectionEventType::kRejected)
      << static_cast<int>(reset);
  std::filesystem::rename(keys.path("away.pem"), keys.path("server.pem"));
  End client;
  EventChannel events = must(EventChannel::create(), "channel");
  ConnectionId id = must(ConnectionId::create(events), "id");
  must(id.set_policy(tls_policy(keys, "client")), "set_policy");
  resolve(id, events, listener.id.local_address());
  must(id.connect(*client.qp), "connect");
  expect_event(listener.events, ConnectionEventType::kConnectRequest);
}

// --- What the application is told

TEST(TlsEvents, NameTheReason) {
  const TlsKeys keys, others;
  const TlsListener listener(tls_policy(keys, "server"));
  const auto event = outcome(listener, tls_policy(others, "client"));
  EXPECT_EQ(event.type, ConnectionEventType::kConnectError);
  ASSERT_TRUE(event.error);
  EXPECT_EQ(event.error->code, Errc::kProtocol);
  EXPECT_EQ(event.error->argument, "the peer's certificate");
  EXPECT_EQ(event.error->reason, "unable to get local issuer certificate");
}

TEST(TlsListeners, AcceptServesBothKindsOfPeers) {
  const TlsKeys keys;
  for (const bool secured : {true, false}) {
    PairOptions options{.server_policy = tls_policy(keys, "server", Tls::kAccept)};
    if (secured) options.client_policy = tls_policy(keys, "client");
    Pair pair(options);
    EXPECT_EQ(pair.server.id->peer_identity().has_value(), secured);
    EXPECT_EQ(pair.client.id->peer_identity().has_value(), secured);
    must(pair.client.qp->post_send({.opcode = SendOpcode::kSend}), "send");
    must(pair.server.qp->post_receive({.wr_id = 1}), "post_receive");
    EXPECT_EQ(pair.server.next().status, WcStatus::kSuccess);
    pair.disconnect();
  }
}

// Of an end that connects it is no promise of TLS.
TEST(TlsListeners, AcceptConnectsPlainly) {
  const TlsKeys keys;
  Pair pair({.client_policy = tls_policy(keys, "client", Tls::kAccept)});
  EXPECT_FALSE(pair.client.id->peer_identity());
}

// A peer that says nothing is half-open as any other, and has as long.
TEST(TlsListeners, ASilentPeerIsHalfOpenAndHasItsTime) {
  const TlsKeys keys;
  for (const Tls tls : {Tls::kAccept, Tls::kRequire}) {
    Policy policy = tls_policy(keys, "server", tls);
    policy.timeouts.startup = 300ms;
    const TlsListener listener(policy);
    sockaddr_storage name{};
    const socklen_t length = listener.id.local_address().to_sockaddr(name);
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ASSERT_EQ(::connect(socket, reinterpret_cast<sockaddr*>(&name), length), 0);
    wait_until([&] { return listener.id.listen_counts()->half_open == 1; }, "it is counted");
    if (tls == Tls::kRequire) {
      ASSERT_EQ(::send(socket, "\x16\x03\x01", 3, MSG_NOSIGNAL), 3) << "a part of a record";
    }
    pollfd ended{.fd = socket, .events = POLLIN, .revents = 0};
    EXPECT_EQ(::poll(&ended, 1, 10'000), 1) << "its time is over";
    wait_until([&] { return listener.id.listen_counts()->half_open == 0; }, "it is counted no more");
    ::close(socket);
  }
}

// --- Policies

TEST(TlsPolicy, IsRefusedWhereItsFilesCannotBeUsed) {
  const TlsKeys keys;
  EventChannel events = must(EventChannel::create(), "channel");
  ConnectionId id = must(ConnectionId::create(events), "id");
  const auto refused = [&](const Policy& policy) {
    const auto set = id.set_policy(policy);
    return set ? std::string() : std::string(set.error().argument);
  };
  Policy policy = tls_policy(keys, "nobody");
  EXPECT_EQ(refused(policy), "policy.tls.certificate");
  policy = tls_policy(keys, "server");
  policy.tls.key = keys.path("client.pem");
  EXPECT_EQ(refused(policy), "policy.tls.key");
  policy = tls_policy(keys, "server");
  policy.tls.expect = "server";
  EXPECT_EQ(refused(policy), "policy.tls.expect");
  policy.tls.mode = Tls::kOff;
  EXPECT_EQ(refused(policy), "") << "what is off needs nothing";
}

TEST(TlsPolicy, AListenerNeedsACertificateAndAClientACa) {
  const TlsKeys keys;
  EventChannel events = must(EventChannel::create(), "channel");
  ConnectionId id = must(ConnectionId::create(events), "id");
  must(id.set_policy({.tls = {.mode = Tls::kRequire, .ca = keys.path("ca.pem")}}), "set_policy");
  must(id.bind_address(loopback("127.0.0.1")), "bind");
  const auto listening = id.listen();
  ASSERT_FALSE(listening);
  EXPECT_EQ(listening.error().argument, "policy.tls.certificate");
  const TlsListener listener(tls_policy(keys, "server"));
  const auto event = outcome(listener, {.tls = {.mode = Tls::kRequire, .certificate = keys.path("client.pem")}});
  ASSERT_TRUE(event.error);
  EXPECT_EQ(event.error->argument, "policy.tls.ca");
}

}  // namespace
}  // namespace weft::verbs::test
