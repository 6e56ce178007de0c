// SPDX-License-Identifier: Apache-2.0
// What weft's TLS offers and takes, as OpenSSL's own client and server see it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <vector>

#include "command.hpp"
#include "tls_pair.hpp"

namespace weft::verbs::test {
namespace {

using testing::HasSubstr;
using weft::test::Command;

struct TlsOpenSsl : testing::Test {
  void SetUp() override {
    const auto asked = Command({"-c", "openssl version"}, "sh").wait();
    if (asked.exit_code != 0) GTEST_SKIP() << "openssl is not installed (Debian package openssl): nothing was tried";
  }
  // What it is given to read ends at once, or never.
  enum class Input : std::uint8_t { kNone, kEndless };
  [[nodiscard]] std::vector<std::string> openssl(const std::string& program, const std::string& more,
                                                 Input input) const {
    const std::string fifo = keys.path("input");
    const std::string begin =
        input == Input::kNone ? "exec </dev/null; " : "mkfifo " + fifo + "; exec 0<>" + fifo + "; ";
    return {"-c", begin + "exec openssl " + program + " -CAfile " + keys.path("ca.pem") + " " + more + " 2>&1"};
  }
  [[nodiscard]] std::string certificate(const std::string& name) const {
    return "-cert " + keys.path(name + ".pem") + " -key " + keys.path(name + ".pem") + " ";
  }
  const TlsKeys keys{};
};

// Where s_server listens, once it does.
std::uint16_t port_of(Command& server) {
  const std::string before = "ACCEPT 127.0.0.1:";
  EXPECT_TRUE(server.wait_for_output(before)) << server.out();
  const std::string said = server.out();  // a line is written at once
  const std::string digits = said.substr(std::min(said.find(before) + before.size(), said.size()));
  std::uint16_t port = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), port);
  return port;
}

struct AtAListener : TlsOpenSsl {
  AtAListener() {
    must(id.bind_address(loopback("127.0.0.1")), "bind");
    must(id.set_policy(tls_policy(keys, "server")), "set_policy");
    must(id.listen(), "listen");
  }
  // What s_client says of a connection that it ends after its handshake.
  std::string said(const std::string& more) {
    return Command(openssl("s_client", address() + more, Input::kNone), "sh").wait().out;
  }
  [[nodiscard]] std::string address() const {
    return "-connect 127.0.0.1:" + std::to_string(id.local_address().port) + " ";
  }
  EventChannel events = must(EventChannel::create(), "channel");
  ConnectionId id = must(ConnectionId::create(events), "id");
};

TEST_F(AtAListener, Offers13) {
  const std::string all = said(certificate("client") + "-msg");
  EXPECT_THAT(all, HasSubstr("New, TLSv1.3, Cipher is TLS_AES_256_GCM_SHA384"));
  EXPECT_THAT(all, HasSubstr("Verification: OK"));
  EXPECT_THAT(all, HasSubstr("Verify return code: 0 (ok)"));
  EXPECT_THAT(all, HasSubstr("CertificateRequest"));
  EXPECT_THAT(all, HasSubstr("No ALPN negotiated"));
  EXPECT_THAT(all, HasSubstr("Secure Renegotiation IS NOT supported")) << "TLS 1.3 has none";
}

TEST_F(AtAListener, TakesNoCompression) {
  EXPECT_THAT(said(certificate("client") + "-comp"), HasSubstr("Compression: NONE"));
}

// For one connection more; and no data before the handshake (tests/transport/tls_tickets_test.cpp tries it).
TEST_F(AtAListener, GivesATicket) {
  Command client(openssl("s_client", address() + certificate("client"), Input::kEndless), "sh");
  EXPECT_TRUE(client.wait_for_output("Max Early Data: 0")) << client.out();
  EXPECT_THAT(client.out(), HasSubstr("TLS session ticket lifetime hint: 3600"));
}

TEST_F(AtAListener, TakesNoEarlierVersion) {
  for (const char* version : {"-tls1_2", "-tls1_1 -cipher ALL:@SECLEVEL=0", "-tls1 -cipher ALL:@SECLEVEL=0"}) {
    const std::string all = said(certificate("client") + version);
    EXPECT_THAT(all, HasSubstr("alert protocol version")) << version;
    EXPECT_THAT(all, HasSubstr("Cipher is (NONE)")) << version;
  }
}

// What OpenSSL leaves out by itself stays out: CCM, with a short tag or a whole one.
TEST_F(AtAListener, TakesNoWeakCipher) {
  for (const char* cipher : {"TLS_AES_128_CCM_8_SHA256", "TLS_AES_128_CCM_SHA256"}) {
    EXPECT_THAT(said(certificate("client") + "-ciphersuites " + cipher), HasSubstr("alert handshake failure"))
        << cipher;
  }
  for (const char* cipher : {"TLS_AES_128_GCM_SHA256", "TLS_CHACHA20_POLY1305_SHA256"}) {
    EXPECT_THAT(said(certificate("client") + "-ciphersuites " + cipher), HasSubstr(std::string("Cipher is ") + cipher));
  }
}

// TLS 1.3 tells a client so after the client's own handshake: s_client has to stay until then.
TEST_F(AtAListener, WantsACertificate) {
  Command client(openssl("s_client", address(), Input::kEndless), "sh");
  EXPECT_TRUE(client.wait_for_output("alert certificate required")) << client.out();
}

struct AtAServer : TlsOpenSsl {
  // Once it listens.
  std::uint16_t start(const std::string& more) {
    const std::string all = "-accept 127.0.0.1:0 -naccept 1 " + certificate("server") + more;
    server.emplace(openssl("s_server", all, Input::kEndless), "sh");
    return port_of(*server);
  }
  void connect(std::uint16_t port) {
    must(id.set_policy(tls_policy(keys, "client")), "set_policy");
    resolve(id, events, loopback("127.0.0.1", port));
    must(id.connect(*end.qp), "connect");
  }
  std::optional<Command> server;
  End end;
  EventChannel events = must(EventChannel::create(), "channel");
  ConnectionId id = must(ConnectionId::create(events), "id");
};

// MPA's Request comes out of it in clear.
TEST_F(AtAServer, TheRequestArrives) {
  connect(start("-Verify 1 -tls1_3"));
  EXPECT_TRUE(server->wait_for_output("MPA ID Req Frame")) << server->out();
  EXPECT_THAT(server->out(), HasSubstr("CN = client"));
}

TEST_F(AtAServer, ThatSpeaksAnEarlierVersion) {
  connect(start("-tls1_2"));
  const auto event = must(events.get_event(std::chrono::milliseconds(20000)), "get_event");
  EXPECT_NE(event.type, ConnectionEventType::kEstablished);
  ASSERT_TRUE(event.error);
  EXPECT_THAT(event.error->message(), HasSubstr("does not support this version of TLS"));
}

}  // namespace
}  // namespace weft::verbs::test
