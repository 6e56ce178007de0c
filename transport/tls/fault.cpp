// SPDX-License-Identifier: Apache-2.0
#include "transport/tls/fault.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>

#include <string>
#include <utility>

namespace weft::transport::tls {
namespace {

// The numbers of other lists follow ours: alerts, results of verification, OpenSSL's reasons.
constexpr int kAlert = 0x1000;
constexpr int kVerification = 0x2000;
constexpr int kLibrary = 0x10000;

Reason ours(Fault fault) noexcept {
  switch (fault) {
    case Fault::kTruncated: return {"the peer", "FIN without close_notify: data may be truncated"};
    case Fault::kEndedEarly: return {"the peer", "closed during the TLS handshake (perhaps it does not support TLS)"};
    case Fault::kSpeaksNoTls: return {"the peer", "does not use TLS, and this end has tls=require"};
    case Fault::kTooManyMessages: return {"the peer", "sends too many key updates or tickets of TLS"};
    case Fault::kHelloTooLong: return {"the peer", "sent a ClientHello of more than 16 KiB"};
    case Fault::kNoMemory: return {"memory", "none left for TLS"};
  }
  return {"TLS", "failed"};
}

// What an administrator can act on, of the alerts that a refused certificate causes.
std::string_view words_of_alert(int description) noexcept {
  switch (description) {
    case SSL_AD_BAD_CERTIFICATE: return "it rejected our certificate: bad certificate, or not the name it expects";
    case SSL_AD_CERTIFICATE_EXPIRED: return "it rejected our certificate: certificate has expired";
    case SSL_AD_CERTIFICATE_REVOKED: return "it rejected our certificate: certificate revoked";
    case SSL_AD_CERTIFICATE_UNKNOWN: return "it rejected our certificate";
    case SSL_AD_UNKNOWN_CA: return "it rejected our certificate: it does not know the CA";
    case SSL_AD_BAD_CERTIFICATE_STATUS_RESPONSE:
      return "it rejected our certificate: OCSP's answer about it (tls-staple) is missing, wrong, or \"revoked\"";
    case TLS13_AD_CERTIFICATE_REQUIRED:
      return "it requires a certificate of this end (tls-certificate), and there is none";
    case SSL_AD_PROTOCOL_VERSION: return "it does not support this version of TLS";
    case SSL_AD_HANDSHAKE_FAILURE: return "it rejected the handshake";
    default: return SSL_alert_desc_string_long(description);
  }
}

std::string_view words_of_library(int reason) noexcept {
  const char* const words = ERR_reason_error_string(ERR_PACK(ERR_LIB_SSL, 0, static_cast<unsigned long>(reason)));
  return words == nullptr ? std::string_view("failed") : std::string_view(words);
}

Reason reason(int code) noexcept {
  if (code >= kLibrary) return {"TLS", words_of_library(code - kLibrary)};
  if (code >= kVerification) return {"the peer's certificate", X509_verify_cert_error_string(code - kVerification)};
  if (code >= kAlert) return {"the peer", words_of_alert(code - kAlert)};
  return ours(static_cast<Fault>(code));
}

class Category final : public std::error_category {
 public:
  [[nodiscard]] const char* name() const noexcept override { return "weft.tls"; }
  [[nodiscard]] std::string message(int code) const override {
    const auto [what, why] = reason(code);
    return std::string(what).append(": ").append(why);
  }
};

const std::error_category& category() noexcept {
  static const Category one;
  return one;
}

}  // namespace

std::error_code make_error_code(Fault fault) noexcept { return {std::to_underlying(fault), category()}; }
std::error_code of_alert(int description) noexcept { return {kAlert + description, category()}; }
std::error_code of_verification(long result) noexcept { return {kVerification + static_cast<int>(result), category()}; }

// OpenSSL's reasons from 1000 on are the peer's alerts.
std::error_code of_library(unsigned long error) noexcept {
  const int said = ERR_GET_LIB(error) == ERR_LIB_SSL ? ERR_GET_REASON(error) : 0;
  constexpr int kMostAlerts = 256;
  if (said >= SSL_AD_REASON_OFFSET && said < SSL_AD_REASON_OFFSET + kMostAlerts)
    return of_alert(said - SSL_AD_REASON_OFFSET);
  return {kLibrary + said, category()};
}

bool looks_like_tls(Bytes first) noexcept {
  constexpr std::byte kAlertRecord{0x15}, kHandshakeRecord{0x16}, kMajorVersion{3};
  return first.size() >= 2 && (first[0] == kAlertRecord || first[0] == kHandshakeRecord) && first[1] == kMajorVersion;
}

std::optional<Reason> reason_of(const std::error_code& error) noexcept {
  if (error.category() != category()) return std::nullopt;
  return reason(error.value());
}

}  // namespace weft::transport::tls
