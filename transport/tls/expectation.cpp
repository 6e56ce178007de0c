// SPDX-License-Identifier: Apache-2.0
#include "transport/tls/expectation.hpp"

#include <openssl/evp.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <ranges>

#include "common/number.hpp"
#include "transport/endpoint.hpp"

namespace weft::transport::tls {
namespace {

constexpr std::string_view kForms = "takes names joined by +, each dns:NAME, ip:ADDRESS, uri:URI or sha256:FINGERPRINT";

// 64 hexadecimal digits, with or without the colons that openssl prints.
std::optional<Fingerprint> to_fingerprint(std::string_view text) {
  std::string digits(text);
  std::erase(digits, ':');
  Fingerprint print{};
  if (digits.size() != 2 * print.size()) return std::nullopt;
  for (std::size_t i = 0; i < print.size(); ++i) {
    const auto octet = parse_number<std::uint8_t>(std::string_view(digits).substr(2 * i, 2), 16);
    if (!octet) return std::nullopt;
    print[i] = *octet;
  }
  return print;
}

std::optional<Fingerprint> digest_of(const X509& certificate) noexcept {
  Fingerprint print{};
  unsigned length = 0;
  if (X509_digest(&certificate, EVP_sha256(), print.data(), &length) != 1 || length != print.size())
    return std::nullopt;
  return print;
}

}  // namespace

int judge_time_of(const X509& certificate) noexcept {
  if (X509_cmp_current_time(X509_get0_notBefore(&certificate)) >= 0) return X509_V_ERR_CERT_NOT_YET_VALID;
  if (X509_cmp_current_time(X509_get0_notAfter(&certificate)) <= 0) return X509_V_ERR_CERT_HAS_EXPIRED;
  return X509_V_OK;
}

std::expected<Expectation, std::string_view> Expectation::parse(std::string_view text) {
  Expectation made;
  if (text.empty()) return made;
  for (const auto entry : std::views::split(text, '+')) {
    if (const auto wrong = made.add(std::string_view(entry)); !wrong.empty()) return std::unexpected(wrong);
  }
  return made;
}

// What is wrong with it; empty: nothing.
std::string_view Expectation::add(std::string_view entry) {
  const std::size_t colon = entry.find(':');
  if (colon == std::string_view::npos || colon + 1 == entry.size()) return kForms;
  const std::string_view kind = entry.substr(0, colon), value = entry.substr(colon + 1);
  if (kind == "sha256") {
    const auto print = to_fingerprint(value);
    if (!print) return "sha256: takes 64 hexadecimal digits";
    fingerprints_.push_back(*print);
    return {};
  }
  if (kind == "ip" && (value.contains('%') || !Address::parse(std::string(value))))
    return "ip: takes an address of IPv4 or IPv6";
  if (kind == "dns" && value.starts_with('.')) return "dns: takes the whole name of a host";  // OpenSSL: any below it
  if (kind != "dns" && kind != "ip" && kind != "uri") return kForms;
  names_.push_back({kind == "dns" ? Kind::kDns : (kind == "ip" ? Kind::kIp : Kind::kUri), std::string(value)});
  return {};
}

bool Expectation::is_pinned(const X509& certificate) const noexcept {
  const auto print = digest_of(certificate);
  return print && std::ranges::find(fingerprints_, *print) != fingerprints_.end();
}

bool Expectation::is_met_by(const X509& certificate) const noexcept {
  return is_pinned(certificate) ||
         std::ranges::any_of(names_, [&](const Name& name) { return bears(certificate, name); });
}

// Wildcards stand in the certificate alone, for one whole label. Subjects are no names (RFC 6125).
bool Expectation::bears(const X509& certificate, const Name& name) noexcept {
  constexpr unsigned kHost = X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS;
  auto* const mutable_one = const_cast<X509*>(&certificate);  // OpenSSL caches extensions in there, with its own lock
  switch (name.kind) {
    case Kind::kDns: return X509_check_host(mutable_one, name.text.data(), name.text.size(), kHost, nullptr) == 1;
    case Kind::kIp: return X509_check_ip_asc(mutable_one, name.text.c_str(), 0) == 1;
    case Kind::kUri: break;
  }
  const std::unique_ptr<GENERAL_NAMES, decltype(&GENERAL_NAMES_free)> names(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(mutable_one, NID_subject_alt_name, nullptr, nullptr)),
      GENERAL_NAMES_free);
  for (int i = 0; names && i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* const one = sk_GENERAL_NAME_value(names.get(), i);
    if (one->type != GEN_URI) continue;
    const auto* const text = reinterpret_cast<const char*>(ASN1_STRING_get0_data(one->d.uniformResourceIdentifier));
    const auto size = static_cast<std::size_t>(ASN1_STRING_length(one->d.uniformResourceIdentifier));
    if (std::string_view(text, size) == name.text) return true;
  }
  return false;
}

}  // namespace weft::transport::tls
