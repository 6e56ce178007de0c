// SPDX-License-Identifier: Apache-2.0
// Which peers TLS lets through, and what both ends say of those that it does not.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <tuple>

#include "tls_ends.hpp"
#include "transport/tls/expectation.hpp"
#include "transport/tls/key_log.hpp"

namespace weft::transport::test {
namespace {

using tls::Context;
using tls::Expectation;
using tls::Fault;
using tls::Part;
using tls::Settings;

struct Said {
  std::error_code client{};
  std::error_code server{};
};

// Both ends after the handshake and one more look: a server that refuses its client tells so after the client's own part.
Said outcome(const Settings& client, const Settings& server) {
  TlsEnds ends(client, server);
  auto [at_client, at_server] = ends.try_to_shake_hands();
  std::byte place{};
  if (at_client.status == Status::kSecured && at_server.status == Status::kLost)
    at_client = read_some(ends.client, {&place, 1});
  return {at_client.error, at_server.error};
}

TEST(TlsTrust, PeersOfOneCa) {
  const TlsKeys keys;
  const Said said = outcome(keys.client(), keys.server());
  EXPECT_FALSE(said.client) << said.client.message();
  EXPECT_FALSE(said.server) << said.server.message();
}

TEST(TlsTrust, AServerOfAnotherCa) {
  const TlsKeys keys, others;
  const Said said = outcome({.ca = others.path("ca.pem")}, {.certificate = keys.path("server.pem")});
  EXPECT_EQ(said.client, tls::of_verification(X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY)) << said.client.message();
  EXPECT_EQ(said.server, tls::of_alert(SSL_AD_UNKNOWN_CA)) << said.server.message();
}

TEST(TlsTrust, AClientOfAnotherCa) {
  const TlsKeys keys, others;
  Settings client = others.client();
  client.ca = keys.path("ca.pem");
  const Said said = outcome(client, keys.server());
  EXPECT_EQ(said.server, tls::of_verification(X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY)) << said.server.message();
  EXPECT_EQ(said.client, tls::of_alert(SSL_AD_UNKNOWN_CA)) << said.client.message();
}

TEST(TlsTrust, AClientWithoutACertificate) {
  const TlsKeys keys;
  const Said said = outcome({.ca = keys.path("ca.pem")}, keys.server());
  EXPECT_TRUE(said.server);
  EXPECT_EQ(said.client, tls::of_alert(TLS13_AD_CERTIFICATE_REQUIRED)) << said.client.message();
  EXPECT_NE(said.client.message().find("tls-certificate"), std::string::npos) << "what to do";
  const Said one_way = outcome({.ca = keys.path("ca.pem")}, {.certificate = keys.path("server.pem")});
  EXPECT_FALSE(one_way.client || one_way.server) << "a listener without a CA asks for none";
}

TEST(TlsTrust, Expired) {
  const TlsKeys keys;
  using Days = tls::Authority::Days;
  keys.issue("old", {.common_name = "old", .valid_from = Days(-10), .valid_until = Days(-1)});
  const Said server = outcome(keys.client(), keys.of("old"));
  EXPECT_EQ(server.client, tls::of_verification(X509_V_ERR_CERT_HAS_EXPIRED)) << server.client.message();
  EXPECT_EQ(server.client.message(), "the peer's certificate: certificate has expired");
  EXPECT_EQ(server.server, tls::of_alert(SSL_AD_CERTIFICATE_EXPIRED)) << server.server.message();
  const Said client = outcome(keys.of("old"), keys.server());
  EXPECT_EQ(client.server, tls::of_verification(X509_V_ERR_CERT_HAS_EXPIRED)) << client.server.message();
  EXPECT_EQ(client.client, tls::of_alert(SSL_AD_CERTIFICATE_EXPIRED)) << client.client.message();
}

TEST(TlsTrust, ExpectedNames) {
  const TlsKeys keys;
  for (const char* good : {"dns:server.example", "ip:127.0.0.1", "uri:weft://server", "dns:other+ip:127.0.0.1"}) {
    Settings client = keys.client();
    client.expect = good;
    EXPECT_FALSE(outcome(client, keys.server()).client) << good;
  }
  for (const char* bad : {"dns:client.example", "ip:127.0.0.2", "uri:weft://serve", "dns:server"}) {
    Settings client = keys.client();
    client.expect = bad;
    const Said said = outcome(client, keys.server());
    EXPECT_EQ(said.client, tls::of_verification(X509_V_ERR_HOSTNAME_MISMATCH)) << bad << said.client.message();
    EXPECT_EQ(said.server, tls::of_alert(SSL_AD_BAD_CERTIFICATE)) << bad << said.server.message();
  }
  keys.issue("service", {.common_name = "service", .names = {"uri:weft://service"}});
  Settings client = keys.client();
  client.expect = "uri:weft://service";
  EXPECT_FALSE(outcome(client, keys.of("service")).client) << "its only name";
}

TEST(TlsTrust, AFingerprintNeedsNoCa) {
  const TlsKeys keys;
  TlsEnds ends(keys);
  const std::string server = ends.client.identity()->fingerprint, client = ends.server.identity()->fingerprint;
  const Settings at_client{.certificate = keys.path("client.pem"), .expect = server};
  const Settings at_server{.certificate = keys.path("server.pem"), .expect = client};
  const Said said = outcome(at_client, at_server);
  EXPECT_FALSE(said.client) << said.client.message();
  EXPECT_FALSE(said.server) << said.server.message();
  const Said wrong = outcome({.expect = client}, {.certificate = keys.path("server.pem")});
  EXPECT_EQ(wrong.client, tls::of_verification(X509_V_ERR_CERT_UNTRUSTED)) << wrong.client.message();
}

// As `tls-expect` takes it.
std::string fingerprint_in(const std::string& certificate_file) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> file(BIO_new_file(certificate_file.c_str(), "r"), &BIO_free);
  const std::unique_ptr<X509, decltype(&X509_free)> one(PEM_read_bio_X509(file.get(), nullptr, nullptr, nullptr),
                                                        &X509_free);
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned octets = 0;
  EXPECT_EQ(X509_digest(one.get(), EVP_sha256(), digest.data(), &octets), 1);
  std::string text = "sha256:";
  for (unsigned i = 0; i < octets; ++i) {
    std::array<char, 3> digits{};
    std::snprintf(digits.data(), digits.size(), "%02x", static_cast<unsigned>(digest[i]));
    text += digits.data();
  }
  return text;
}

TEST(TlsTrust, AFingerprintIsOfItsTime) {
  const TlsKeys keys;
  using Days = tls::Authority::Days;
  const std::tuple<const char*, Days, Days, int> rows[] = {
      {"old", Days(-10), Days(-1), X509_V_ERR_CERT_HAS_EXPIRED},
      {"early", Days(1), Days(10), X509_V_ERR_CERT_NOT_YET_VALID},
      {"now", Days(-1), Days(1), X509_V_OK},
  };
  for (const auto& [name, from, until, found] : rows) {
    const auto file = keys.issue(name, {.common_name = name, .valid_from = from, .valid_until = until});
    const Said said = outcome({.expect = fingerprint_in(file)}, {.certificate = file});
    EXPECT_EQ(said.client, found == X509_V_OK ? std::error_code{} : tls::of_verification(found)) << name;
  }
}

TEST(TlsFault, TwoOctetsTellTlsFromMpa) {
  const std::vector<std::pair<std::vector<std::byte>, bool>> rows{
      {{}, false},
      {{std::byte{0x16}}, false},  // nothing is after it
      {{std::byte{0x15}}, false},
      {{std::byte{0x16}, std::byte{3}}, true},
      {{std::byte{0x15}, std::byte{3}}, true},
      {{std::byte{0x17}, std::byte{3}}, false},
      {{std::byte{0x16}, std::byte{2}}, false},
      {{std::byte{'M'}, std::byte{'P'}}, false},
  };
  for (const auto& [octets, tls] : rows) EXPECT_EQ(tls::looks_like_tls(octets), tls) << octets.size();
}

TEST(TlsTrust, WhatAnExpectationTakes) {
  for (const char* bad : {"server", "dns:", ":x", "ip:host", "sha256:12", "sha256:zz", "mail:a@b", "dns:a+", "+",
                          "dns:.example", "dns:a.example+dns:.example", "ip:fe80::1%lo", "ip:127.0.0.1%lo"})
    EXPECT_FALSE(Expectation::parse(bad)) << bad;
  const std::string digits(64, 'a');
  EXPECT_TRUE(Expectation::parse("sha256:" + digits)->has_fingerprints());
  std::string as_openssl_prints_it = "AA";
  for (int i = 1; i < 32; ++i) as_openssl_prints_it += ":AA";
  EXPECT_TRUE(Expectation::parse("sha256:" + as_openssl_prints_it));
  EXPECT_TRUE(Expectation::parse("")->empty());
}

// --- Ciphers and groups

TEST(TlsAlgorithms, AreThoseThatBothEndsTake) {
  const TlsKeys keys;
  for (const char* cipher : {"TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"}) {
    Settings server = keys.server();
    server.ciphers = cipher;
    server.groups = "P-384";
    TlsEnds ends(keys.client(), server);
    ends.shake_hands();
    EXPECT_EQ(ends.client.identity()->cipher, cipher);
  }
}

TEST(TlsAlgorithms, NoneInCommon) {
  const TlsKeys keys;
  Settings client = keys.client(), server = keys.server();
  client.ciphers = "TLS_AES_128_GCM_SHA256", server.ciphers = "TLS_AES_256_GCM_SHA384";
  EXPECT_EQ(outcome(client, server).client, tls::of_alert(SSL_AD_HANDSHAKE_FAILURE));
  client = keys.client(), server = keys.server();
  client.groups = "P-256", server.groups = "X25519";
  EXPECT_EQ(outcome(client, server).client, tls::of_alert(SSL_AD_HANDSHAKE_FAILURE));
}

// --- Files

// A comma would begin another name in OpenSSL's syntax.
TEST(TlsAuthority, ANameIsOneName) {
  const auto authority = tls::Authority::make("ca", tls::Authority::Days(1)).value();
  for (const char* bad : {"dns:a.example,IP:10.0.0.1", "dns:a.example,", "a.example"})
    EXPECT_FALSE(authority.issue({.common_name = "x", .names = {"dns:ok.example", bad}})) << bad;
  EXPECT_TRUE(authority.issue({.common_name = "x", .names = {"dns:ok.example", "ip:10.0.0.1"}}));
}

TEST(TlsContext, SaysWhichFileIsToBlame) {
  const TlsKeys keys;
  keys.put("empty.pem", "");
  const auto refused = [](const Settings& settings) {
    const auto loaded = Context::load(settings);
    EXPECT_FALSE(loaded);
    return loaded ? tls::Refusal{} : loaded.error();
  };
  EXPECT_EQ(refused({.certificate = keys.path("none.pem")}).which, tls::Setting::kCertificate);
  EXPECT_EQ(refused({.certificate = keys.path("none.pem")}).os_error, ENOENT);
  EXPECT_EQ(refused({.certificate = keys.path("empty.pem")}).which, tls::Setting::kCertificate);
  EXPECT_EQ(refused({.certificate = keys.path("ca.pem")}).which, tls::Setting::kKey);
  EXPECT_EQ(refused({.certificate = keys.path("server.pem"), .key = keys.path("client.pem")}).which,
            tls::Setting::kKey);
  EXPECT_EQ(refused({.ca = keys.path("empty.pem")}).which, tls::Setting::kCa);
  EXPECT_EQ(refused({.ca = keys.path("ca.pem"), .crl = keys.path("ca.pem")}).which, tls::Setting::kCrl);
  ASSERT_EQ(::mkfifo(keys.path("pipe").c_str(), 0600), 0);
  for (const std::string& other : {keys.path("pipe"), keys.path(".")}) {
    const tls::Refusal of_each[] = {refused({.certificate = other}),
                                    refused({.certificate = keys.path("server.pem"), .key = other}),
                                    refused({.ca = other}), refused({.ca = keys.path("ca.pem"), .crl = other}),
                                    refused({.certificate = keys.path("server.pem"), .staple = other})};
    for (const tls::Refusal& one : of_each) EXPECT_EQ(one.why, "is not a regular file") << other;
  }
  EXPECT_EQ(refused({.certificate = keys.path("server.pem"), .staple = "/proc/self/mem"}).os_error, EIO);
  EXPECT_EQ(refused({.ca = "/proc/self/mem"}).os_error, EIO);
  EXPECT_EQ(refused({.ciphers = "TLS_NULL"}).which, tls::Setting::kCiphers);
  EXPECT_EQ(refused({.groups = "P-1"}).which, tls::Setting::kGroups);
  EXPECT_EQ(refused({.expect = "dns:a"}).which, tls::Setting::kExpect);
  EXPECT_EQ(refused({.ca = keys.path("ca.pem"), .expect = "a"}).which, tls::Setting::kExpect);
}

TEST(TlsContext, IsMadeOnceAndAgainWhenAFileChanges) {
  const TlsKeys keys;
  const auto first = Context::find(keys.server()).value();
  EXPECT_EQ(Context::find(keys.server())->context, first.context);
  keys.issue("next", {.common_name = "next"});
  std::filesystem::rename(keys.path("next.pem"), keys.path("server.pem"));
  const auto second = Context::find(keys.server()).value();
  EXPECT_NE(second.context, first.context);
  TlsEnds ends(keys.client(), keys.server());
  ends.shake_hands();
  EXPECT_EQ(ends.client.identity()->subject, "CN=next");
  keys.put("broken.pem", "no certificate");
  std::filesystem::rename(keys.path("broken.pem"), keys.path("server.pem"));
  const auto third = Context::find(keys.server()).value();
  EXPECT_EQ(third.context, second.context) << "what was good still is";
  ASSERT_TRUE(third.stale);
  EXPECT_EQ(third.stale->which, tls::Setting::kCertificate);
}

TEST(TlsContext, OfMoreThanTheProcessKeepsTheOneUnusedForLongestGoes) {
  const TlsKeys keys;
  const auto find = [&](int number) {
    return Context::find({.ca = keys.path("ca.pem"), .expect = "dns:" + std::to_string(number)}).value().context;
  };
  constexpr int kMost = 64;
  const auto first = find(0);
  const std::weak_ptr second = find(1);
  for (int i = 2; i < kMost; ++i) find(i);
  EXPECT_EQ(find(0), first);
  find(kMost);
  EXPECT_EQ(find(0), first) << "it was used again";
  EXPECT_TRUE(second.expired());
}

// --- What a peer may send without end

// OpenSSL's own client, for what a pipe never sends.
struct OwnClient {
  std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context{SSL_CTX_new(TLS_client_method()), SSL_CTX_free};
  std::unique_ptr<SSL, decltype(&SSL_free)> ssl{SSL_new(context.get()), SSL_free};
};

TEST(TlsPipe, KeyUpdatesAreCounted) {
  const TlsKeys keys;
  auto [peer, socket] = connected_pair();
  Pipe server(std::move(socket), session({.certificate = keys.path("server.pem")}, Part::kServer));
  const OwnClient client;
  SSL_set_fd(client.ssl.get(), peer.descriptor());
  std::byte place[16]{};
  SSL_connect(client.ssl.get());
  becomes_readable(server.socket().descriptor());
  EXPECT_EQ(server.read(place).status, Status::kWouldBlock);
  becomes_readable(peer.descriptor());
  ASSERT_EQ(SSL_connect(client.ssl.get()), 1);
  ASSERT_EQ(read_some(server, place).status, Status::kSecured);
  const auto update = [&] {
    ASSERT_EQ(SSL_key_update(client.ssl.get(), SSL_KEY_UPDATE_REQUESTED), 1);
    ASSERT_EQ(SSL_do_handshake(client.ssl.get()), 1);
  };
  for (std::uint64_t i = 0; i < tls::Session::kMostMessages; ++i) update();
  ASSERT_EQ(SSL_write(client.ssl.get(), "x", 1), 1);
  EXPECT_EQ(read_some(server, place).octets, 1U) << "as many as may be";
  ASSERT_EQ(write_one(server, Bytes(place).first(1)).octets, 1U);
  becomes_readable(peer.descriptor());
  char answer{};
  ASSERT_EQ(SSL_read(client.ssl.get(), &answer, 1), 1) << "with the keys that it asked for";
  EXPECT_EQ(answer, 'x');
  for (int i = 0; i < 100; ++i) update();
  const auto io = read_some(server, place);
  EXPECT_EQ(io.error, make_error_code(Fault::kTooManyMessages)) << io.error.message();
}

// OpenSSL makes room for the length that a message announces: the peer has proved nothing yet.
TEST(TlsPipe, LimitsTheFirstMessage) {
  const TlsKeys keys;
  const std::string record("\x16\x03\x01\x10\x00\x01", 6);  // 4096 octets of a ClientHello
  const std::tuple<std::string, Status, Fault> rows[] = {
      {record + std::string("\x00\x40\x00", 3), Status::kWouldBlock, {}},
      {record + std::string("\x00\x40\x01", 3), Status::kLost, Fault::kHelloTooLong},
      {record + std::string("\x01\x00\x00", 3), Status::kLost, Fault::kHelloTooLong},
      {record + std::string("\x00\x40", 2), Status::kWouldBlock, {}},
      // The length in several records.
      {std::string("\x16\x03\x01\x00\x03\x01\x00\x40", 8), Status::kLost, Fault::kHelloTooLong},
      {std::string("\x16\x03\x01\x00\x01\x01", 6), Status::kLost, Fault::kHelloTooLong},
  };
  for (const bool at_once : {true, false}) {
    for (const auto& [octets, status, fault] : rows) {
      auto [peer, socket] = connected_pair();
      Pipe server(std::move(socket), session({.certificate = keys.path("server.pem")}, Part::kServer));
      IoResult io{};
      std::byte place{};
      for (std::size_t at = 0; at < octets.size(); at += at_once ? octets.size() : 1) {
        const auto some = std::as_bytes(std::span(octets)).subspan(at, at_once ? octets.size() : 1);
        ASSERT_EQ(write_one(peer, some).octets, some.size());
        becomes_readable(server.socket().descriptor());
        io = server.read({&place, 1});
      }
      EXPECT_EQ(io.status, status) << testing::PrintToString(octets);
      if (status == Status::kLost) {
        EXPECT_EQ(io.error, make_error_code(fault)) << io.error.message();
      }
    }
  }
}

// --- The application's things

TEST(TlsPipe, LeavesTheErrorsOfTheApplicationInOpenSslsList) {
  const TlsKeys keys;
  TlsEnds ends(keys);
  ERR_clear_error();
  ERR_raise(ERR_LIB_USER, 77);
  const auto sent = pattern(100);
  EXPECT_EQ(carry(ends.client, ends.server, sent, 30), sent);
  ends.client.socket().shutdown_write();
  std::byte place{};
  EXPECT_EQ(read_some(ends.server, {&place, 1}).error, make_error_code(Fault::kTruncated));
  EXPECT_EQ(ERR_GET_REASON(ERR_get_error()), 77);
  EXPECT_EQ(ERR_get_error(), 0U);
}

struct TlsKeyLog : testing::Test {
  ~TlsKeyLog() override { ::unsetenv("SSLKEYLOGFILE"); }
  const TlsKeys keys{};
  const std::string path{keys.path("keys.log")};

  void connect() const {
    ::setenv("SSLKEYLOGFILE", path.c_str(), 1);
    TlsEnds ends(keys);
  }
  [[nodiscard]] std::string text() const {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  // What the log is to say; nothing, where it was said before.
  [[nodiscard]] std::string refusal() const { return tls::take_key_log_complaint().value_or(""); }
};

TEST_F(TlsKeyLog, IsItsOwnersAlone) {
  keys.put("keys.log", "# before\n");
  ASSERT_EQ(::chmod(path.c_str(), 0644), 0);
  connect();
  struct stat about{};
  ASSERT_EQ(::stat(path.c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777U, 0600U);
  EXPECT_TRUE(text().starts_with("# before\n"));
  EXPECT_NE(text().find("CLIENT_TRAFFIC_SECRET_0 "), std::string::npos);
  EXPECT_TRUE(text().ends_with('\n'));
  EXPECT_EQ(refusal(), "");
}

// A pipe whose reader does not read would hold up the connection.
TEST_F(TlsKeyLog, IsARegularFile) {
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  connect();
  EXPECT_EQ(refusal(), "cannot write " + path + ": it is a pipe without a reader");
  const TlsKeys others;
  const int reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  TlsEnds ends(others);
  EXPECT_EQ(refusal(), "cannot write " + path + ": it is not a regular file");
  EXPECT_EQ(refusal(), "") << "once";
  char octet{};
  EXPECT_LE(::read(reader, &octet, 1), 0);
  ::close(reader);
}

TEST_F(TlsKeyLog, IsNoLinkAndHasOneName) {
  keys.put("target", "");
  ASSERT_EQ(::symlink(keys.path("target").c_str(), path.c_str()), 0);
  connect();
  EXPECT_EQ(refusal(), "cannot write " + path + ": it is a symbolic link");
  ASSERT_EQ(::unlink(path.c_str()), 0);
  ASSERT_EQ(::link(keys.path("target").c_str(), path.c_str()), 0);
  const TlsKeys others;
  TlsEnds ends(others);
  EXPECT_EQ(refusal(), "cannot write " + path + ": the file has a second name");
  EXPECT_EQ(text(), "");
}

TEST_F(TlsKeyLog, IsNoFileOfAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make a file of another user";
  keys.put("keys.log", "");
  ASSERT_EQ(::chown(path.c_str(), 65534, 65534), 0);
  connect();
  EXPECT_EQ(refusal(), "cannot write " + path + ": it belongs to another user");
  EXPECT_EQ(text(), "");
}

// A program may close descriptors that it does not know, and get their numbers for files of its own.
TEST_F(TlsKeyLog, LeavesAFileAloneThatHasItsNumber) {
  ::setenv("SSLKEYLOGFILE", path.c_str(), 1);
  TlsEnds ends(keys.client(), keys.server());
  struct stat log{};
  ASSERT_EQ(::stat(path.c_str(), &log), 0);
  keys.put("others", "");
  const int others = ::open(keys.path("others").c_str(), O_WRONLY | O_CLOEXEC);
  for (int descriptor = 3; descriptor < 1024; ++descriptor) {
    struct stat about{};
    const bool is_log = ::fstat(descriptor, &about) == 0 && about.st_ino == log.st_ino && about.st_dev == log.st_dev;
    if (is_log) ::dup2(others, descriptor);
  }
  ends.shake_hands();
  std::ifstream file(keys.path("others"));
  EXPECT_EQ(file.peek(), std::ifstream::traits_type::eof());
  ::close(others);
}

TEST_F(TlsKeyLog, IsCutByASizeLimit) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  ::setenv("SSLKEYLOGFILE", path.c_str(), 1);
  TlsEnds ends(keys.client(), keys.server());
  const rlimit small{.rlim_cur = 10, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  ends.shake_hands();
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_LE(text().size(), 10U) << "and the process lives";
}

}  // namespace
}  // namespace weft::transport::test
