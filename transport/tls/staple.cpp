// SPDX-License-Identifier: Apache-2.0
#include "transport/tls/staple.hpp"

#include <openssl/ocsp.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <memory>

#include "transport/tls/ticket_end.hpp"

namespace weft::transport::tls {
namespace {

template <auto Free>
struct Freed {
  template <typename One>
  void operator()(One* one) const noexcept {
    Free(one);
  }
};
using Response = std::unique_ptr<OCSP_RESPONSE, Freed<OCSP_RESPONSE_free>>;
using Basic = std::unique_ptr<OCSP_BASICRESP, Freed<OCSP_BASICRESP_free>>;
using CertificateId = std::unique_ptr<OCSP_CERTID, Freed<OCSP_CERTID_free>>;
using Features = std::unique_ptr<TLS_FEATURE, Freed<TLS_FEATURE_free>>;

constexpr long kClocksDiffer = 300;  // seconds
constexpr long kStatusRequest = 5;   // RFC 7633: the TLS extension that the certificate promises

Basic parse(const unsigned char* octets, std::size_t size) noexcept {
  const Response response(d2i_OCSP_RESPONSE(nullptr, &octets, static_cast<long>(size)));
  if (!response || OCSP_response_status(response.get()) != OCSP_RESPONSE_STATUS_SUCCESSFUL) return nullptr;
  return Basic(OCSP_response_get1_basic(response.get()));
}

bool promises_one(const X509& certificate) noexcept {
  const Features all(static_cast<TLS_FEATURE*>(X509_get_ext_d2i(&certificate, NID_tlsfeature, nullptr, nullptr)));
  for (int i = 0; all && i < sk_ASN1_INTEGER_num(all.get()); ++i) {
    if (ASN1_INTEGER_get(sk_ASN1_INTEGER_value(all.get(), i)) == kStatusRequest) return true;
  }
  return false;
}

// The responder has hashed the issuer as it likes.
bool is_about(const OCSP_SINGLERESP& one, const X509& leaf, const X509& issuer) noexcept {
  auto* const id = const_cast<OCSP_CERTID*>(OCSP_SINGLERESP_get0_id(&one));
  ASN1_OBJECT* hash = nullptr;
  OCSP_id_get0_info(nullptr, &hash, nullptr, nullptr, id);
  const EVP_MD* const digest = EVP_get_digestbyobj(hash);
  const CertificateId wanted(digest == nullptr ? nullptr : OCSP_cert_to_id(digest, &leaf, &issuer));
  return wanted && OCSP_id_cmp(wanted.get(), id) == 0;
}

// X509_V_OK: it says of the leaf, now, that it is good.
int verdict_of(OCSP_SINGLERESP& one, SSL& ssl) noexcept {
  ASN1_GENERALIZEDTIME* from = nullptr;
  ASN1_GENERALIZEDTIME* until = nullptr;
  const int status = OCSP_single_get0_status(&one, nullptr, nullptr, &from, &until);
  if (OCSP_check_validity(from, until, kClocksDiffer, -1) != 1) return X509_V_ERR_OCSP_VERIFY_FAILED;
  if (status == V_OCSP_CERTSTATUS_REVOKED) return X509_V_ERR_CERT_REVOKED;
  if (until != nullptr) limit_tickets(ssl, *until);
  return status == V_OCSP_CERTSTATUS_GOOD ? X509_V_OK : X509_V_ERR_OCSP_CERT_UNKNOWN;
}

int judge_answer(Basic answer, SSL& ssl) noexcept {
  STACK_OF(X509)* const chain = SSL_get0_verified_chain(&ssl);
  if (!answer || sk_X509_num(chain) == 0) return X509_V_ERR_OCSP_VERIFY_FAILED;
  X509_STORE* const trusted = SSL_CTX_get_cert_store(SSL_get_SSL_CTX(&ssl));
  if (OCSP_basic_verify(answer.get(), chain, trusted, 0) != 1) return X509_V_ERR_OCSP_VERIFY_FAILED;
  const X509& leaf = *sk_X509_value(chain, 0);
  const X509& issuer = *sk_X509_value(chain, std::min(1, sk_X509_num(chain) - 1));
  for (int i = 0; i < OCSP_resp_count(answer.get()); ++i) {
    OCSP_SINGLERESP* const one = OCSP_resp_get0(answer.get(), i);
    if (is_about(*one, leaf, issuer)) return verdict_of(*one, ssl);
  }
  return X509_V_ERR_OCSP_CERT_UNKNOWN;
}

}  // namespace

bool Staple::take(std::string_view octets) {
  answer_.assign(octets.begin(), octets.end());
  return parse(answer_.data(), answer_.size()) != nullptr;
}

void Staple::serve(SSL_CTX& context) noexcept {
  SSL_CTX_set_tlsext_status_cb(&context, see);
  SSL_CTX_set_tlsext_status_arg(&context, this);
}

void Staple::ask(SSL& ssl) noexcept { SSL_set_tlsext_status_type(&ssl, TLSEXT_STATUSTYPE_ocsp); }

int Staple::see(SSL* ssl, void* self) noexcept {
  const auto& staple = *static_cast<const Staple*>(self);
  return SSL_is_server(ssl) == 1 ? staple.show(*ssl) : staple.judge(*ssl);
}

int Staple::show(SSL& ssl) const noexcept {
  auto* const copy = answer_.empty() ? nullptr : OPENSSL_memdup(answer_.data(), answer_.size());  // OpenSSL frees it
  if (copy == nullptr) return SSL_TLSEXT_ERR_NOACK;
  SSL_set_tlsext_status_ocsp_resp(&ssl, static_cast<unsigned char*>(copy), static_cast<long>(answer_.size()));
  return SSL_TLSEXT_ERR_OK;
}

// 1: go on. 0: the alert bad_certificate_status_response.
int Staple::judge(SSL& ssl) const noexcept {
  const unsigned char* shown = nullptr;
  const long size = SSL_get_tlsext_status_ocsp_resp(&ssl, &shown);
  const X509* const leaf = SSL_get0_peer_certificate(&ssl);
  const bool none = shown == nullptr || size <= 0;
  if (none && !required_ && leaf != nullptr && !promises_one(*leaf)) return 1;
  const int found =
      none ? X509_V_ERR_OCSP_VERIFY_NEEDED : judge_answer(parse(shown, static_cast<std::size_t>(size)), ssl);
  if (found != X509_V_OK) SSL_set_verify_result(&ssl, found);
  return found == X509_V_OK ? 1 : 0;
}

}  // namespace weft::transport::tls
