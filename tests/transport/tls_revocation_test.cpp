// SPDX-License-Identifier: Apache-2.0
// Revocation lists, for each certificate of a chain; and tickets, which end with the first of what was checked. The CA
// and the lists are made here.
#include <gtest/gtest.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>

#include <chrono>
#include <string>
#include <vector>

#include "tls_ends.hpp"
#include "tls_pem.hpp"
#include "transport/tls/tickets.hpp"

namespace weft::transport::test {
namespace {

using std::chrono::seconds;
using tls::Settings;

using List = std::unique_ptr<X509_CRL, Freed<X509_CRL, X509_CRL_free>>;

long count(seconds time) { return static_cast<long>(time.count()); }

struct Signer {
  Certificate certificate{};
  Key key{};
};

std::string pem(const X509& certificate) {
  const Bio text(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509(text.get(), const_cast<X509*>(&certificate));
  char* octets = nullptr;
  const long size = BIO_get_mem_data(text.get(), &octets);
  return {octets, static_cast<std::size_t>(size)};
}

std::string pem(const EVP_PKEY& key) {
  const Bio text(BIO_new(BIO_s_mem()));
  PEM_write_bio_PrivateKey(text.get(), &key, nullptr, nullptr, 0, nullptr, nullptr);
  char* octets = nullptr;
  const long size = BIO_get_mem_data(text.get(), &octets);
  return {octets, static_cast<std::size_t>(size)};
}

Signer issue(const Signer& issuer, const char* name, bool is_ca, seconds valid) {
  static long serial = 1000;
  Signer made{Certificate(X509_new()), Key(EVP_EC_gen("P-256"))};
  X509* const it = made.certificate.get();
  X509_set_version(it, X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(it), ++serial);
  X509_gmtime_adj(X509_getm_notBefore(it), -3600);
  X509_gmtime_adj(X509_getm_notAfter(it), count(valid));
  const auto* const words = reinterpret_cast<const unsigned char*>(name);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(it), "CN", MBSTRING_UTF8, words, -1, -1, 0);
  X509_set_issuer_name(it, X509_get_subject_name(issuer.certificate.get()));
  X509_set_pubkey(it, made.key.get());
  const Extension kind(
      X509V3_EXT_conf_nid(nullptr, nullptr, NID_basic_constraints, is_ca ? "critical,CA:TRUE" : "critical,CA:FALSE"));
  X509_add_ext(it, kind.get(), -1);
  EXPECT_GT(X509_sign(it, issuer.key.get(), EVP_sha256()), 0);
  return made;
}

std::string list(const Signer& issuer, const std::vector<const X509*>& revoked, seconds valid = 24h) {
  const List made(X509_CRL_new());
  X509_CRL_set_version(made.get(), X509_CRL_VERSION_2);
  X509_CRL_set_issuer_name(made.get(), X509_get_subject_name(issuer.certificate.get()));
  ASN1_TIME* const from = X509_gmtime_adj(nullptr, -3600);
  ASN1_TIME* const until = X509_gmtime_adj(nullptr, count(valid));
  X509_CRL_set1_lastUpdate(made.get(), from);
  X509_CRL_set1_nextUpdate(made.get(), until);
  for (const X509* const one : revoked) {
    X509_REVOKED* const entry = X509_REVOKED_new();
    X509_REVOKED_set_serialNumber(entry, const_cast<ASN1_INTEGER*>(X509_get0_serialNumber(one)));
    X509_REVOKED_set_revocationDate(entry, from);
    X509_CRL_add0_revoked(made.get(), entry);
  }
  ASN1_TIME_free(from);
  ASN1_TIME_free(until);
  EXPECT_GT(X509_CRL_sign(made.get(), issuer.key.get(), EVP_sha256()), 0);
  const Bio text(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509_CRL(text.get(), made.get());
  char* octets = nullptr;
  const long size = BIO_get_mem_data(text.get(), &octets);
  return {octets, static_cast<std::size_t>(size)};
}

// A client and a server whose certificate an intermediate CA has signed.
struct TlsRevocation : testing::Test {
  ~TlsRevocation() override { clock_is_ahead_by = 0s; }

  const TlsKeys keys{};
  const Port port{};
  const Signer root{certificate_in(keys.ca().certificate()), key_in(keys.ca().key())};
  Signer between{issue(root, "between", true, 24h)};
  Signer leaf{issue(between, "leaf", false, 24h)};
  Settings client{keys.client()};
  Settings server{keys.server()};

  void SetUp() override { put_chain(); }
  void put_chain() {
    keys.put("chain.pem", pem(*leaf.certificate) + pem(*between.certificate) + pem(*leaf.key));
    server.certificate = keys.path("chain.pem");
  }
  void put_lists(const std::string& text) {
    keys.put("lists.pem", text);
    client.crl = keys.path("lists.pem");
  }
  // What the client says of the server.
  std::error_code said() {
    TlsEnds ends(client, server);
    return ends.try_to_shake_hands().first.error;
  }
  bool is_resumed() {
    TlsEnds ends(port.connect(), client, server);
    ends.shake_hands();
    const auto sent = pattern(100);
    EXPECT_EQ(carry(ends.server, ends.client, sent, 100), sent);  // the ticket is before them
    return ends.client.identity()->resumed;
  }
};

TEST_F(TlsRevocation, OfALeaf) {
  put_lists(list(root, {}) + list(between, {}));
  EXPECT_FALSE(said()) << said().message();
  put_lists(list(root, {}) + list(between, {leaf.certificate.get()}));
  EXPECT_EQ(said(), tls::of_verification(X509_V_ERR_CERT_REVOKED)) << said().message();
}

TEST_F(TlsRevocation, OfAnIntermediateCa) {
  put_lists(list(root, {between.certificate.get()}) + list(between, {}));
  EXPECT_EQ(said(), tls::of_verification(X509_V_ERR_CERT_REVOKED)) << said().message();
}

TEST_F(TlsRevocation, NeedsTheListOfEachCa) {
  for (const auto& text : {list(root, {}), list(between, {})}) {
    put_lists(text);
    EXPECT_EQ(said(), tls::of_verification(X509_V_ERR_UNABLE_TO_GET_CRL)) << said().message();
  }
  put_lists(list(root, {}) + list(between, {}, -1min));
  EXPECT_EQ(said(), tls::of_verification(X509_V_ERR_CRL_HAS_EXPIRED)) << said().message();
}

// --- Tickets: what ends first ends them, and not what it was when a ticket was used before

// The client holds three tickets in turn: each is used once, and brings the next.
struct TlsTicketEnd : TlsRevocation {
  void expect_end(seconds end) {
    EXPECT_FALSE(is_resumed());
    for (const seconds before : {end / 2, end - 1min}) {
      clock_is_ahead_by = before;
      EXPECT_TRUE(is_resumed()) << before.count();
    }
    clock_is_ahead_by = end + 1s;
    TlsEnds ends(port.connect(), client, server);
    const auto [at_client, at_server] = ends.try_to_shake_hands();
    EXPECT_TRUE(at_client.error || !ends.client.identity()->resumed) << "checked again";
  }
};

TEST_F(TlsTicketEnd, IsThatOfARevocationList) {
  put_lists(list(root, {}) + list(between, {}, 10min));
  expect_end(10min);
}

TEST_F(TlsTicketEnd, IsThatOfTheNewestListOfACa) {
  put_lists(list(root, {}, 10min) + list(between, {}, -1min) + list(between, {}, 20min));
  expect_end(10min);
}

TEST_F(TlsTicketEnd, IsThatOfAnIntermediateCa) {
  between = issue(root, "between", true, 10min);
  leaf = issue(between, "leaf", false, 24h);
  put_chain();
  expect_end(10min);
}

// At the listener, too: it keeps what its tickets stand for.
TEST_F(TlsTicketEnd, IsThatOfTheClientsChain) {
  between = issue(root, "between", true, 10min);
  leaf = issue(between, "leaf", false, 24h);
  put_chain();
  std::swap(client.certificate, server.certificate);
  expect_end(10min);
}

}  // namespace
}  // namespace weft::transport::test
