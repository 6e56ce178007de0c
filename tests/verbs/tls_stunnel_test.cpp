// SPDX-License-Identifier: Apache-2.0
// Plain iWARP behind stunnel, and weft's own TLS at the other end: either end may be the one with the proxy.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <charconv>
#include <optional>
#include <string>

#include "command.hpp"
#include "tls_relayed.hpp"

namespace weft::verbs::test {
namespace {

using testing::HasSubstr;
using weft::test::Command;

// Serves any number of connections until it is forgotten.
class Stunnel {
 public:
  // Without `name` it shows no certificate.
  Stunnel(const RelayedEnds& ends, const std::string& name) {
    std::string settings =
        "foreground = yes\npid =\ndebug = info\nsocket = l:TCP_NODELAY=1\nsocket = r:TCP_NODELAY=1\n";
    settings += "[weft]\naccept = 127.0.0.1:0\nconnect = 127.0.0.1:" + std::to_string(ends.behind()) + '\n';
    settings += ends.tls_listens ? "client = yes\n" : "client = no\n";
    if (!name.empty()) settings += "cert = " + ends.keys.path(name + ".pem") + '\n';
    settings += "CAfile = " + ends.keys.path("ca.pem") + "\nverifyChain = yes\nsslVersion = TLSv1.3\n";
    ends.keys.put("stunnel.conf", settings);
    command_.emplace(std::vector{ends.keys.path("stunnel.conf")}, "stunnel");
  }
  // Once it listens.
  [[nodiscard]] std::uint16_t port() {
    const std::string before = "bound to 127.0.0.1:";
    EXPECT_TRUE(says(before)) << command_->err();
    const std::string said = command_->err();  // a line is written at once
    const std::string digits = said.substr(std::min(said.find(before) + before.size(), said.size()));
    std::uint16_t port = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), port);
    return port;
  }
  [[nodiscard]] bool says(const std::string& text) { return command_->wait_for_error(text); }
  [[nodiscard]] std::string said() const { return command_->err(); }

 private:
  std::optional<Command> command_{};
};

struct TlsStunnel : testing::Test {
  void SetUp() override {
    if (Command({"-c", "command -v stunnel"}, "sh").wait().exit_code != 0)
      GTEST_SKIP() << "stunnel is not installed (Debian package stunnel4): nothing was tried";
  }
  // Two connections, one after the other: stunnel would resume the first one's session where it may.
  static void expect_traffic(HasTls which) {
    RelayedEnds ends(which);
    Stunnel stunnel(ends, ends.relays_name());
    const std::uint16_t port = stunnel.port();
    for (int connection = 0; connection < 2; ++connection) ends.exchange(port);
    EXPECT_TRUE(stunnel.says("Connection closed: ")) << stunnel.said();
    EXPECT_THAT(stunnel.said(), HasSubstr("TLSv1.3 ciphersuite: TLS_AES_256_GCM_SHA384"));
    const std::string peer = which == HasTls::kListener ? "CN=server" : "CN=client";
    EXPECT_THAT(stunnel.said(), HasSubstr("Certificate accepted at depth=0: " + peer));
    EXPECT_THAT(stunnel.said(), HasSubstr("TLS closed (SSL_read)")) << "weft's close_notify came";
  }
};

TEST_F(TlsStunnel, AListenerBehindIt) { expect_traffic(HasTls::kClient); }
TEST_F(TlsStunnel, AClientBehindIt) { expect_traffic(HasTls::kListener); }

// weft tells stunnel why, and stunnel ends the plain connection.
TEST_F(TlsStunnel, WithoutACertificateItIsRefused) {
  RelayedEnds ends(HasTls::kListener);
  Stunnel stunnel(ends, "");
  End client;
  EventChannel events = must(EventChannel::create(), "channel");
  ConnectionId id = must(ConnectionId::create(events), "id");
  resolve(id, events, loopback("127.0.0.1", stunnel.port()));
  must(id.connect(*client.qp), "connect");
  const auto event = must(events.get_event(std::chrono::milliseconds(20000)), "get_event");
  EXPECT_NE(event.type, ConnectionEventType::kEstablished);
  EXPECT_TRUE(stunnel.says("alert certificate required")) << stunnel.said();
}

}  // namespace
}  // namespace weft::verbs::test
