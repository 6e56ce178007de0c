// SPDX-License-Identifier: Apache-2.0
#include "transport/tls/authority.hpp"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <array>
#include <cctype>
#include <cstdint>
#include <initializer_list>
#include <utility>

#include "transport/tls/error_mark.hpp"

namespace weft::transport::tls {
namespace {

constexpr std::string_view kFailed = "OpenSSL cannot make a certificate";

std::string contents(BIO* text) {
  char* octets = nullptr;
  const long size = BIO_get_mem_data(text, &octets);
  return {octets, static_cast<std::size_t>(size)};
}

std::unique_ptr<BIO, decltype(&BIO_free)> memory() { return {BIO_new(BIO_s_mem()), BIO_free}; }

bool extend(X509& certificate, X509* issuer, int which, const std::string& value) {
  X509V3_CTX context{};
  X509V3_set_ctx(&context, issuer, &certificate, nullptr, nullptr, 0);
  const std::unique_ptr<X509_EXTENSION, decltype(&X509_EXTENSION_free)> extension(
      X509V3_EXT_conf_nid(nullptr, &context, which, value.c_str()), X509_EXTENSION_free);
  return extension && X509_add_ext(&certificate, extension.get(), -1) == 1;
}

// "dns:a", "ip:b" -> "DNS:a,IP:b". A comma would begin another entry.
std::string alternative_names(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    const std::size_t colon = name.find(':');
    if (colon == std::string::npos || name.contains(',')) return {};
    if (!text.empty()) text += ',';
    for (const char c : name.substr(0, colon)) text += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    text += name.substr(colon);
  }
  return text;
}

}  // namespace

void Authority::FreeKey::operator()(EVP_PKEY* key) const noexcept { EVP_PKEY_free(key); }
void Authority::FreeCertificate::operator()(X509* certificate) const noexcept { X509_free(certificate); }

Authority::Key Authority::make_key() { return Key(EVP_EC_gen("P-256")); }

std::string Authority::pem_of(const EVP_PKEY& key) {
  const auto text = memory();
  PEM_write_bio_PKCS8PrivateKey(text.get(), const_cast<EVP_PKEY*>(&key), nullptr, nullptr, 0, nullptr, nullptr);
  return contents(text.get());
}

std::string Authority::pem_of(const X509& certificate) {
  const auto text = memory();
  PEM_write_bio_X509(text.get(), const_cast<X509*>(&certificate));
  return contents(text.get());
}

// Version, serial number, times, subject and key; no extensions, issuer or signature.
Authority::Certificate Authority::blank(const std::string& common_name, EVP_PKEY& key, Days from, Days until) {
  Certificate made(X509_new());
  X509* const it = made.get();
  std::array<unsigned char, 15> serial{};
  const auto seconds = [](Days days) { return static_cast<long>(std::chrono::seconds(days).count()); };
  const std::unique_ptr<BIGNUM, decltype(&BN_free)> number(
      RAND_bytes(serial.data(), serial.size()) == 1 ? BN_bin2bn(serial.data(), serial.size(), nullptr) : nullptr,
      BN_free);
  const auto* const words = reinterpret_cast<const unsigned char*>(common_name.c_str());
  const bool good = it != nullptr && number && X509_set_version(it, X509_VERSION_3) == 1 &&
                    BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(it)) != nullptr &&
                    X509_gmtime_adj(X509_getm_notBefore(it), seconds(from)) != nullptr &&
                    X509_gmtime_adj(X509_getm_notAfter(it), seconds(until)) != nullptr &&
                    X509_NAME_add_entry_by_txt(X509_get_subject_name(it), "CN", MBSTRING_UTF8, words, -1, -1, 0) == 1 &&
                    X509_set_pubkey(it, &key) == 1;
  return good ? std::move(made) : nullptr;
}

std::expected<Authority, std::string_view> Authority::make(const std::string& common_name, Days valid) {
  const ErrorMark others;
  Authority made;
  made.key_ = make_key();
  if (!made.key_) return std::unexpected(kFailed);
  made.certificate_ = blank(common_name, *made.key_, Days(0), valid);
  X509* const it = made.certificate_.get();
  const bool good = it != nullptr && X509_set_issuer_name(it, X509_get_subject_name(it)) == 1 &&
                    extend(*it, it, NID_basic_constraints, "critical,CA:TRUE") &&
                    extend(*it, it, NID_key_usage, "critical,keyCertSign,cRLSign") &&
                    extend(*it, it, NID_subject_key_identifier, "hash") &&
                    X509_sign(it, made.key_.get(), EVP_sha256()) != 0;
  if (!good) return std::unexpected(kFailed);
  return made;
}

// For either end: a node of a cluster listens and connects.
std::expected<Authority::Issued, std::string_view> Authority::issue(const Subject& subject) const {
  const ErrorMark others;
  const Key key = make_key();
  if (!key) return std::unexpected(kFailed);
  const Certificate made = blank(subject.common_name, *key, subject.valid_from, subject.valid_until);
  X509* const it = made.get();
  const bool good = it != nullptr && X509_set_issuer_name(it, X509_get_subject_name(certificate_.get())) == 1 &&
                    extend(*it, certificate_.get(), NID_basic_constraints, "critical,CA:FALSE") &&
                    extend(*it, certificate_.get(), NID_authority_key_identifier, "keyid:always") &&
                    extend(*it, certificate_.get(), NID_key_usage, "critical,digitalSignature") &&
                    extend(*it, certificate_.get(), NID_ext_key_usage, "serverAuth,clientAuth");
  if (!good) return std::unexpected(kFailed);
  if (!subject.names.empty() &&
      !extend(*it, certificate_.get(), NID_subject_alt_name, alternative_names(subject.names)))
    return std::unexpected("a name is neither dns:NAME nor ip:ADDRESS nor uri:URI");
  if (X509_sign(it, key_.get(), EVP_sha256()) == 0) return std::unexpected(kFailed);
  return Issued{pem_of(*made), pem_of(*key)};
}

std::string Authority::certificate() const { return pem_of(*certificate_); }
std::string Authority::key() const { return pem_of(*key_); }

}  // namespace weft::transport::tls
