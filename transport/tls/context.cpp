// SPDX-License-Identifier: Apache-2.0
#include "transport/tls/context.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <cerrno>
#include <utility>

#include "transport/cancellation.hpp"
#include "transport/input_file.hpp"
#include "transport/tls/error_mark.hpp"
#include "transport/tls/key_log.hpp"
#include "transport/tls/ticket_end.hpp"

namespace weft::transport::tls {
namespace {

// OpenSSL would tear itself down while exit() runs, beside threads that still use it.
void begin_library() noexcept {
  [[maybe_unused]] static const int done = OPENSSL_init_ssl(OPENSSL_INIT_NO_ATEXIT, nullptr);
}

std::unique_ptr<SSL_CTX, Context::Free> make_context() {
  begin_library();
  std::unique_ptr<SSL_CTX, Context::Free> made(SSL_CTX_new(TLS_method()));
  SSL_CTX* const context = made.get();
  if (context == nullptr || SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) != 1) return nullptr;
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(context, 0);  // unless Tickets::serve says otherwise
  SSL_CTX_set_options(context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
  // An idle connection holds no buffers; and what is sent is what the file has, not the CA as well.
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_NO_AUTO_CHAIN);
  log_keys(*context);
  return made;
}

Refusal unreadable(Setting which, const FileRefusal& refusal) noexcept {
  return {which, refusal.why.empty() ? "cannot be read" : "is not a regular file", refusal.os_error};
}

std::optional<Refusal> unreadable(Setting which, const std::string& path) {
  const auto refusal = why_unreadable(path);
  if (!refusal) return std::nullopt;
  return unreadable(which, *refusal);
}

int ask(X509_STORE_CTX* chain, void* context) { return static_cast<const Context*>(context)->accepts(*chain) ? 1 : 0; }

}  // namespace

void Context::Free::operator()(SSL_CTX* context) const noexcept { SSL_CTX_free(context); }

std::expected<std::shared_ptr<const Context>, Refusal> Context::load(const Settings& settings) {
  const NoCancellation here;
  const ErrorMark others;
  std::shared_ptr<Context> made(new Context());
  auto expectation = Expectation::parse(settings.expect);
  if (!expectation) return std::unexpected(Refusal{Setting::kExpect, expectation.error(), 0});
  made->expectation_ = std::move(*expectation);
  made->context_ = make_context();
  if (!made->context_) return std::unexpected(Refusal{Setting::kCertificate, "OpenSSL cannot begin", ENOMEM});
  if (const auto wrong = made->take_algorithms(settings)) return std::unexpected(*wrong);
  if (const auto wrong = made->take_certificate(settings)) return std::unexpected(*wrong);
  if (const auto wrong = made->take_authorities(settings)) return std::unexpected(*wrong);
  if (const auto wrong = made->take_staple(settings)) return std::unexpected(*wrong);
  SSL_CTX_set_cert_verify_callback(made->get(), ask, made.get());
  if (!settings.resumption) {
    SSL_CTX_set_options(made->get(), SSL_OP_NO_TICKET);
    return made;
  }
  made->tickets_ = std::make_unique<Tickets>();
  made->tickets_->serve(*made->get());
  return made;
}

std::optional<Refusal> Context::take_algorithms(const Settings& settings) {
  if (!settings.ciphers.empty() && SSL_CTX_set_ciphersuites(get(), settings.ciphers.c_str()) != 1)
    return Refusal{Setting::kCiphers, "takes OpenSSL's names of TLS 1.3 cipher suites, joined by :", 0};
  if (!settings.groups.empty() && SSL_CTX_set1_groups_list(get(), settings.groups.c_str()) != 1)
    return Refusal{Setting::kGroups, "takes OpenSSL's names of groups, joined by :", 0};
  return std::nullopt;
}

std::optional<Refusal> Context::take_certificate(const Settings& settings) {
  if (settings.certificate.empty()) {
    if (!settings.key.empty()) return Refusal{Setting::kKey, "needs a certificate (tls-certificate)", 0};
    return std::nullopt;
  }
  if (const auto wrong = unreadable(Setting::kCertificate, settings.certificate)) return wrong;
  if (SSL_CTX_use_certificate_chain_file(get(), settings.certificate.c_str()) != 1)
    return Refusal{Setting::kCertificate, "does not begin with a certificate in PEM", 0};
  const std::string& key = settings.key.empty() ? settings.certificate : settings.key;
  if (const auto wrong = unreadable(Setting::kKey, key)) return wrong;
  if (SSL_CTX_use_PrivateKey_file(get(), key.c_str(), SSL_FILETYPE_PEM) != 1)
    return Refusal{Setting::kKey, "has no private key in PEM without a password that matches the certificate", 0};
  has_certificate_ = true;
  return std::nullopt;
}

std::optional<Refusal> Context::take_authorities(const Settings& settings) {
  if (!settings.ca.empty()) {
    if (const auto wrong = unreadable(Setting::kCa, settings.ca)) return wrong;
    if (SSL_CTX_load_verify_file(get(), settings.ca.c_str()) != 1)
      return Refusal{Setting::kCa, "has no certificate in PEM", 0};
    has_ca_ = true;
  }
  if (!has_ca_ && !expectation_.empty() && !expectation_.has_fingerprints())
    return Refusal{Setting::kExpect, "needs a CA (tls-ca) to check names", 0};
  if (settings.crl.empty()) return std::nullopt;
  if (!has_ca_) return Refusal{Setting::kCrl, "needs the CA (tls-ca) that issued it", 0};
  if (const auto wrong = unreadable(Setting::kCrl, settings.crl)) return wrong;
  X509_STORE* const store = SSL_CTX_get_cert_store(get());
  X509_LOOKUP* const lookup = X509_STORE_add_lookup(store, X509_LOOKUP_file());
  if (lookup == nullptr || X509_load_crl_file(lookup, settings.crl.c_str(), X509_FILETYPE_PEM) < 1)
    return Refusal{Setting::kCrl, "has no revocation list in PEM", 0};
  X509_STORE_set_flags(store, X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL);  // intermediate CAs as well
  return std::nullopt;
}

std::optional<Refusal> Context::take_staple(const Settings& settings) {
  if (settings.staple_required && !has_ca_)
    return Refusal{Setting::kStapleRequired, "needs a CA (tls-ca) to check OCSP responses", 0};
  staple_.require(settings.staple_required);
  staple_.serve(*get());
  if (settings.staple.empty()) return std::nullopt;
  if (!has_certificate_) return Refusal{Setting::kStaple, "needs a certificate (tls-certificate)", 0};
  constexpr std::size_t kMostOctets = 65536;
  const auto octets = read_file(settings.staple, kMostOctets);
  if (!octets) return unreadable(Setting::kStaple, octets.error());
  if (!staple_.take(*octets)) return Refusal{Setting::kStaple, "has no OCSP response in DER", 0};
  return std::nullopt;
}

// A certificate that is pinned by its fingerprint needs no CA; its time counts all the same.
bool Context::accepts(X509_STORE_CTX& chain) const noexcept {
  const X509* const leaf = X509_STORE_CTX_get0_cert(&chain);
  if (leaf == nullptr) return false;
  if (has_ca_) {
    if (X509_verify_cert(&chain) != 1) return false;  // the reason is set
    limit_tickets(chain);
    if (expectation_.empty() || expectation_.is_met_by(*leaf)) return true;
    return X509_STORE_CTX_set_error(&chain, X509_V_ERR_HOSTNAME_MISMATCH), false;
  }
  const int found = expectation_.is_pinned(*leaf) ? judge_time_of(*leaf) : X509_V_ERR_CERT_UNTRUSTED;
  X509_STORE_CTX_set_error(&chain, found);
  return found == X509_V_OK;
}

}  // namespace weft::transport::tls
