// SPDX-License-Identifier: Apache-2.0
// Certificates and keys in PEM, as OpenSSL's objects; and the clock of OpenSSL in this program, which is a test's.
#pragma once

#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

namespace weft::transport::test {

// tls_tickets_test.cpp has the time() that OpenSSL asks.
inline std::chrono::seconds clock_is_ahead_by{0};

template <typename One, void (*Free)(One*)>
struct Freed {
  void operator()(One* one) const { Free(one); }
};
using Bio = std::unique_ptr<BIO, Freed<BIO, BIO_free_all>>;
using Certificate = std::unique_ptr<X509, Freed<X509, X509_free>>;
using Extension = std::unique_ptr<X509_EXTENSION, Freed<X509_EXTENSION, X509_EXTENSION_free>>;
using Key = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY, EVP_PKEY_free>>;

inline Certificate certificate_in(const std::string& pem) {
  const Bio text(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  return Certificate(PEM_read_bio_X509(text.get(), nullptr, nullptr, nullptr));
}
inline Key key_in(const std::string& pem) {
  const Bio text(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  return Key(PEM_read_bio_PrivateKey(text.get(), nullptr, nullptr, nullptr));
}
inline std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace weft::transport::test
