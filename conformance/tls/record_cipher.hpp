// SPDX-License-Identifier: Apache-2.0
// Opens the protected records of one direction, in their order (RFC 8446 section 5.2 and 5.3).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "conformance/tls/key_schedule.hpp"

struct evp_cipher_ctx_st;

namespace weft::conformance::tls {

inline constexpr std::size_t kHeaderSize = 5;
inline constexpr std::size_t kTagSize = 16;
inline constexpr std::size_t kMostFragment = (std::size_t{1} << 14) + 256;

enum class ContentType : std::uint8_t { kChangeCipherSpec = 20, kAlert = 21, kHandshake = 22, kApplicationData = 23 };

struct Opened {
  ContentType type{};
  Bytes content{};  // without padding; its octets lie in the record as they lie here, after the header
};

class RecordCipher {
 public:
  // The secret has the suite's size. Nothing when OpenSSL cannot do it.
  [[nodiscard]] static std::optional<RecordCipher> make(const Suite& suite, Bytes secret);

  // The next record, its header included. Nothing when its tag does not verify, or nothing stands in it. What it gives
  // is valid until the next call.
  [[nodiscard]] std::optional<Opened> open(Bytes record);
  // After a KeyUpdate: the next secret (section 7.2). False when OpenSSL cannot do it.
  [[nodiscard]] bool update();

 private:
  struct Free {
    void operator()(evp_cipher_ctx_st* context) const noexcept;
  };

  RecordCipher() = default;
  [[nodiscard]] bool begin(std::vector<std::byte> secret);
  [[nodiscard]] bool decrypt(Bytes record);

  const Suite* suite_ = nullptr;
  std::vector<std::byte> secret_{};
  std::unique_ptr<evp_cipher_ctx_st, Free> context_{};
  std::array<std::byte, kIvSize> iv_{};
  std::uint64_t sequence_ = 0;
  std::vector<std::byte> clear_{};
};

}  // namespace weft::conformance::tls
