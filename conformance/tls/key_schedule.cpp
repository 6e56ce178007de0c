// SPDX-License-Identifier: Apache-2.0
#include "conformance/tls/key_schedule.hpp"

#include <openssl/core_names.h>
#include <openssl/kdf.h>
#include <openssl/params.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>

namespace weft::conformance::tls {
namespace {

constexpr std::array kSuites{
    Suite{0x1301, "TLS_AES_128_GCM_SHA256", Suite::Cipher::kAes128Gcm, "SHA256", 32, 16},
    Suite{0x1302, "TLS_AES_256_GCM_SHA384", Suite::Cipher::kAes256Gcm, "SHA384", 48, 32},
    Suite{0x1303, "TLS_CHACHA20_POLY1305_SHA256", Suite::Cipher::kChaCha20Poly1305, "SHA256", 32, 32}};

struct Free {
  void operator()(EVP_KDF* kdf) const noexcept { EVP_KDF_free(kdf); }
  void operator()(EVP_KDF_CTX* context) const noexcept { EVP_KDF_CTX_free(context); }
};

// struct HkdfLabel: length, "tls13 " and the label, no context.
std::string hkdf_label(std::string_view label, std::size_t size) {
  const std::string whole = "tls13 " + std::string(label);
  return std::string{static_cast<char>(size >> 8), static_cast<char>(size), static_cast<char>(whole.size())} + whole +
         '\0';
}

}  // namespace

const Suite* find_suite(std::uint16_t number) noexcept {
  const auto* const found = std::ranges::find(kSuites, number, &Suite::number);
  return found == kSuites.end() ? nullptr : found;
}

std::optional<std::vector<std::byte>> expand_label(const Suite& suite, Bytes secret, std::string_view label,
                                                   std::size_t size) {
  const std::unique_ptr<EVP_KDF, Free> hkdf(EVP_KDF_fetch(nullptr, "HKDF", nullptr));
  const std::unique_ptr<EVP_KDF_CTX, Free> context(hkdf ? EVP_KDF_CTX_new(hkdf.get()) : nullptr);
  std::string hash(suite.hash), info = hkdf_label(label, size);
  std::vector<std::byte> key(secret.begin(), secret.end()), out(size);
  int mode = EVP_KDF_HKDF_MODE_EXPAND_ONLY;
  const std::array parameters{OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, hash.data(), 0),
                              OSSL_PARAM_construct_int(OSSL_KDF_PARAM_MODE, &mode),
                              OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, key.data(), key.size()),
                              OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, info.data(), info.size()),
                              OSSL_PARAM_construct_end()};
  auto* const into = reinterpret_cast<unsigned char*>(out.data());
  if (!context || EVP_KDF_derive(context.get(), into, out.size(), parameters.data()) != 1) return std::nullopt;
  return out;
}

}  // namespace weft::conformance::tls
