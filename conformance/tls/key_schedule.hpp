// SPDX-License-Identifier: Apache-2.0
// From a secret of the key log to the key and IV of records (RFC 8446 section 7.3), and to the secret after a KeyUpdate
// (section 7.2). The cipher suites are those of appendix B.4 that OpenSSL offers unasked.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "common/wire.hpp"

namespace weft::conformance::tls {

struct Suite {
  enum class Cipher : std::uint8_t { kAes128Gcm, kAes256Gcm, kChaCha20Poly1305 };
  std::uint16_t number{};
  std::string_view name{};
  Cipher cipher{};
  const char* hash{};  // as OpenSSL calls it
  std::size_t secret_size{};
  std::size_t key_size{};
};
// Returns null if weft does not read this suite. Static storage.
[[nodiscard]] const Suite* find_suite(std::uint16_t number) noexcept;

// HKDF-Expand-Label with an empty context (section 7.1). Nothing when OpenSSL cannot do it, for want of memory say.
[[nodiscard]] std::optional<std::vector<std::byte>> expand_label(const Suite& suite, Bytes secret,
                                                                 std::string_view label, std::size_t size);

inline constexpr std::size_t kIvSize = 12;

}  // namespace weft::conformance::tls
