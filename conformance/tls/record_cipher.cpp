// SPDX-License-Identifier: Apache-2.0
#include "conformance/tls/record_cipher.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <utility>

namespace weft::conformance::tls {
namespace {

const EVP_CIPHER* cipher_of(const Suite& suite) noexcept {
  switch (suite.cipher) {
    case Suite::Cipher::kAes128Gcm: return EVP_aes_128_gcm();
    case Suite::Cipher::kAes256Gcm: return EVP_aes_256_gcm();
    case Suite::Cipher::kChaCha20Poly1305: return EVP_chacha20_poly1305();
  }
  return nullptr;
}

const unsigned char* octets_of(Bytes octets) noexcept { return reinterpret_cast<const unsigned char*>(octets.data()); }

}  // namespace

void RecordCipher::Free::operator()(EVP_CIPHER_CTX* context) const noexcept { EVP_CIPHER_CTX_free(context); }

std::optional<RecordCipher> RecordCipher::make(const Suite& suite, Bytes secret) {
  RecordCipher made;
  made.suite_ = &suite;
  made.context_.reset(EVP_CIPHER_CTX_new());
  if (!made.context_ || !made.begin({secret.begin(), secret.end()})) return std::nullopt;
  return made;
}

bool RecordCipher::begin(std::vector<std::byte> secret) {
  const auto key = expand_label(*suite_, secret, "key", suite_->key_size);
  const auto iv = expand_label(*suite_, secret, "iv", kIvSize);
  if (!key || !iv) return false;
  std::ranges::copy(*iv, iv_.begin());
  secret_ = std::move(secret);
  sequence_ = 0;
  return EVP_DecryptInit_ex(context_.get(), cipher_of(*suite_), nullptr, octets_of(*key), nullptr) == 1;
}

bool RecordCipher::update() {
  auto next = expand_label(*suite_, secret_, "traffic upd", suite_->secret_size);
  return next && begin(std::move(*next));
}

// The content has its type after it, and zeros after that.
std::optional<Opened> RecordCipher::open(Bytes record) {
  if (record.size() < kHeaderSize + kTagSize || !decrypt(record)) return std::nullopt;
  ++sequence_;
  while (!clear_.empty() && clear_.back() == std::byte{0}) clear_.pop_back();
  if (clear_.empty()) return std::nullopt;
  return Opened{static_cast<ContentType>(clear_.back()), Bytes(clear_).first(clear_.size() - 1)};
}

bool RecordCipher::decrypt(Bytes record) {
  EVP_CIPHER_CTX* const context = context_.get();
  std::array<std::byte, kIvSize> nonce = iv_;
  for (std::size_t at = 0; at < sizeof sequence_; ++at) nonce[kIvSize - 1 - at] ^= std::byte(sequence_ >> (8 * at));
  const Bytes header = record.first(kHeaderSize);
  const Bytes hidden = record.subspan(kHeaderSize, record.size() - kHeaderSize - kTagSize);
  std::array<std::byte, kTagSize> tag{};
  std::ranges::copy(record.last(kTagSize), tag.begin());
  clear_.resize(hidden.size());
  auto* const into = reinterpret_cast<unsigned char*>(clear_.data());
  int size = 0;
  return EVP_DecryptInit_ex(context, nullptr, nullptr, nullptr, octets_of(nonce)) == 1 &&
         EVP_DecryptUpdate(context, nullptr, &size, octets_of(header), static_cast<int>(header.size())) == 1 &&
         EVP_DecryptUpdate(context, into, &size, octets_of(hidden), static_cast<int>(hidden.size())) == 1 &&
         EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, kTagSize, tag.data()) == 1 &&
         EVP_DecryptFinal_ex(context, into + hidden.size(), &size) == 1;
}

}  // namespace weft::conformance::tls
