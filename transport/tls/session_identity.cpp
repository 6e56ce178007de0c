// SPDX-License-Identifier: Apache-2.0
// Who the peer has proved to be, in words.
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/shown_text.hpp"
#include "common/text.hpp"
#include "transport/endpoint.hpp"
#include "transport/tls/error_mark.hpp"
#include "transport/tls/session.hpp"

namespace weft::transport::tls {
namespace {

std::string shown_name(const ASN1_STRING* text) {
  return shown_text(
      {reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)), static_cast<std::size_t>(ASN1_STRING_length(text))});
}

std::string subject_of(const X509& certificate) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> text(BIO_new(BIO_s_mem()), BIO_free);
  if (!text || X509_NAME_print_ex(text.get(), X509_get_subject_name(&certificate), 0, XN_FLAG_RFC2253) < 0) return {};
  char* octets = nullptr;
  const long size = BIO_get_mem_data(text.get(), &octets);
  return shown_text({octets, static_cast<std::size_t>(std::max(size, 0L))});
}

std::string address_of(const ASN1_OCTET_STRING* octets) {
  const auto size = static_cast<std::size_t>(ASN1_STRING_length(octets));
  Address address{.family = size == 4 ? Family::kIpv4 : Family::kIpv6};
  if (size != 4 && size != address.octets.size()) return "?";
  const auto* const from = reinterpret_cast<const std::byte*>(ASN1_STRING_get0_data(octets));
  std::copy_n(from, size, address.octets.begin());
  return address.to_string();
}

std::optional<std::string> name_of(const GENERAL_NAME& name) {
  switch (name.type) {
    case GEN_DNS: return "dns:" + shown_name(name.d.dNSName);
    case GEN_URI: return "uri:" + shown_name(name.d.uniformResourceIdentifier);
    case GEN_IPADD: return "ip:" + address_of(name.d.iPAddress);
    default: return std::nullopt;
  }
}

std::vector<std::string> names_of(const X509& certificate) {
  std::vector<std::string> made;
  const std::unique_ptr<GENERAL_NAMES, decltype(&GENERAL_NAMES_free)> names(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(&certificate, NID_subject_alt_name, nullptr, nullptr)),
      GENERAL_NAMES_free);
  for (int i = 0; names && i < sk_GENERAL_NAME_num(names.get()); ++i) {
    if (auto name = name_of(*sk_GENERAL_NAME_value(names.get(), i))) made.push_back(std::move(*name));
  }
  return made;
}

std::string fingerprint_of(const X509& certificate) {
  Fingerprint print{};
  unsigned length = 0;
  if (X509_digest(&certificate, EVP_sha256(), print.data(), &length) != 1) return {};
  return "sha256:" + hex_digits(std::as_bytes(std::span(print)));
}

}  // namespace

PeerIdentity Session::identity() const {
  const ErrorMark others;
  PeerIdentity made{.cipher = SSL_get_cipher_name(ssl_.get()), .resumed = is_resumed()};
  const X509* const certificate = SSL_get0_peer_certificate(ssl_.get());
  if (certificate == nullptr) return made;
  made.subject = subject_of(*certificate);
  made.names = names_of(*certificate);
  made.fingerprint = fingerprint_of(*certificate);
  return made;
}

}  // namespace weft::transport::tls
