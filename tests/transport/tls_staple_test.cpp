// SPDX-License-Identifier: Apache-2.0
// OCSP's answer that a listener shows with its certificate. The CA's own answers are made here.
#include <gtest/gtest.h>
#include <openssl/ocsp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>
#include <utility>

#include "tls_ends.hpp"
#include "tls_pem.hpp"

namespace weft::transport::test {
namespace {

using tls::Context;
using tls::Setting;
using tls::Settings;

struct Answer {
  int status = V_OCSP_CERTSTATUS_GOOD;
  long from = -60;    // seconds from now
  long until = 3600;  // the same
  const EVP_MD* hash = EVP_sha1();
};

struct TlsStaple : testing::Test {
  const TlsKeys keys{};
  Settings client{keys.client()};
  Settings server{keys.server()};

  // By `authority` about NAME.pem, into NAME.der.
  std::string answer(const std::string& name, const tls::Authority& authority, const Answer& answer) const {
    const auto ca = certificate_in(authority.certificate());
    const auto key = key_in(authority.key());
    const auto leaf = certificate_in(text_of(keys.path(name + ".pem")));
    OCSP_BASICRESP* const basic = OCSP_BASICRESP_new();
    OCSP_CERTID* const id = OCSP_cert_to_id(answer.hash, leaf.get(), ca.get());
    ASN1_TIME* const now = X509_gmtime_adj(nullptr, -120);
    ASN1_TIME* const from = X509_gmtime_adj(nullptr, answer.from);
    ASN1_TIME* const until = X509_gmtime_adj(nullptr, answer.until);
    const bool revoked = answer.status == V_OCSP_CERTSTATUS_REVOKED;
    OCSP_basic_add1_status(basic, id, answer.status, 0, revoked ? now : nullptr, from, until);
    EXPECT_EQ(OCSP_basic_sign(basic, ca.get(), key.get(), EVP_sha256(), nullptr, 0), 1);
    OCSP_RESPONSE* const response = OCSP_response_create(OCSP_RESPONSE_STATUS_SUCCESSFUL, basic);
    const std::string path = keys.path(name + ".der");
    const Bio file(BIO_new_file(path.c_str(), "wb"));
    EXPECT_EQ(i2d_OCSP_RESPONSE_bio(file.get(), response), 1);
    for (ASN1_TIME* one : {now, from, until}) ASN1_TIME_free(one);
    OCSP_RESPONSE_free(response);
    OCSP_CERTID_free(id);
    OCSP_BASICRESP_free(basic);
    return path;
  }
  std::string answer(const Answer& how) const { return answer("server", keys.ca(), how); }

  // What the end that connects says of the listener; nothing: it is content.
  std::error_code said() {
    TlsEnds ends(client, server);
    const auto [at_client, at_server] = ends.try_to_shake_hands();
    if (at_client.error) {
      EXPECT_EQ(at_server.error, tls::of_alert(SSL_AD_BAD_CERTIFICATE_STATUS_RESPONSE));
    }
    return at_client.error;
  }
};

TEST_F(TlsStaple, ThatIsGood) {
  for (const EVP_MD* hash : {EVP_sha1(), EVP_sha256()}) {
    server.staple = answer({.hash = hash});
    EXPECT_FALSE(said()) << said().message();
    client.staple_required = !client.staple_required;
  }
  client.staple_required = true;
  EXPECT_FALSE(said()) << "a ticket needs none";
}

TEST_F(TlsStaple, ThatIsNot) {
  const std::pair<Answer, int> rows[] = {
      {{.status = V_OCSP_CERTSTATUS_REVOKED}, X509_V_ERR_CERT_REVOKED},
      {{.status = V_OCSP_CERTSTATUS_UNKNOWN}, X509_V_ERR_OCSP_CERT_UNKNOWN},
      {{.from = -7200, .until = -3600}, X509_V_ERR_OCSP_VERIFY_FAILED},
      {{.from = 3600, .until = 7200}, X509_V_ERR_OCSP_VERIFY_FAILED},
  };
  for (const auto& [how, found] : rows) {
    server.staple = answer(how);
    EXPECT_EQ(said(), tls::of_verification(found));
  }
}

TEST_F(TlsStaple, OfAnotherCertificateOrCa) {
  server.staple = answer("client", keys.ca(), {});
  EXPECT_EQ(said(), tls::of_verification(X509_V_ERR_OCSP_CERT_UNKNOWN));
  const TlsKeys others;
  server.staple = answer("server", others.ca(), {});
  EXPECT_EQ(said(), tls::of_verification(X509_V_ERR_OCSP_VERIFY_FAILED));
}

TEST_F(TlsStaple, ThatIsMissing) {
  EXPECT_FALSE(said());
  client.staple_required = true;
  EXPECT_EQ(said(), tls::of_verification(X509_V_ERR_OCSP_VERIFY_NEEDED));
}

// RFC 7633: a certificate that says of itself that an answer is to come with it.
TEST_F(TlsStaple, ThatTheCertificatePromises) {
  const auto leaf = certificate_in(text_of(keys.path("server.pem")));
  const auto key = key_in(text_of(keys.path("server.pem")));
  const Extension promise(X509V3_EXT_conf_nid(nullptr, nullptr, NID_tlsfeature, "status_request"));
  ASSERT_EQ(X509_add_ext(leaf.get(), promise.get(), -1), 1);
  ASSERT_GT(X509_sign(leaf.get(), key_in(keys.ca().key()).get(), EVP_sha256()), 0);
  const std::string path = keys.path("promise.pem");
  {
    const Bio file(BIO_new_file(path.c_str(), "w"));
    ASSERT_EQ(PEM_write_bio_X509(file.get(), leaf.get()), 1);
    ASSERT_EQ(PEM_write_bio_PrivateKey(file.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr), 1);
  }
  server.certificate = path;
  EXPECT_EQ(said(), tls::of_verification(X509_V_ERR_OCSP_VERIFY_NEEDED));
  server.staple = answer("promise", keys.ca(), {});
  EXPECT_FALSE(said());
}

TEST_F(TlsStaple, EndsTheTicketsOfItsConnections) {
  const Port port;
  server.staple = answer({.until = 600});
  const auto is_resumed = [&] {
    TlsEnds ends(port.connect(), client, server);
    ends.shake_hands();
    const auto sent = pattern(100);
    EXPECT_EQ(carry(ends.server, ends.client, sent, 100), sent);  // the ticket is before them
    return ends.client.identity()->resumed;
  };
  EXPECT_FALSE(is_resumed());
  clock_is_ahead_by = 9min;
  EXPECT_TRUE(is_resumed());
  clock_is_ahead_by = 11min;
  EXPECT_FALSE(is_resumed()) << "a new response is wanted; clocks may differ by five minutes";
  clock_is_ahead_by = 0s;
}

// The CA renews its answers every few days.
TEST_F(TlsStaple, IsReadAgainWhenItsFileChanges) {
  client.staple_required = true;
  server.staple = answer({});
  EXPECT_FALSE(said());
  static_cast<void>(answer({.status = V_OCSP_CERTSTATUS_REVOKED, .until = 36'000}));
  EXPECT_EQ(said(), tls::of_verification(X509_V_ERR_CERT_REVOKED));
}

TEST_F(TlsStaple, WhatCannotBeUsed) {
  const auto refused = [](const Settings& settings) { return Context::load(settings).error().which; };
  keys.put("text.der", "no answer");
  EXPECT_EQ(refused({.certificate = keys.path("server.pem"), .staple = keys.path("text.der")}), Setting::kStaple);
  EXPECT_EQ(refused({.certificate = keys.path("server.pem"), .staple = keys.path("none.der")}), Setting::kStaple);
  EXPECT_EQ(refused({.ca = keys.path("ca.pem"), .staple = answer({})}), Setting::kStaple);
  EXPECT_EQ(refused({.staple_required = true}), Setting::kStapleRequired);
}

}  // namespace
}  // namespace weft::transport::test
