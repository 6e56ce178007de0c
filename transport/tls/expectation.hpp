// SPDX-License-Identifier: Apache-2.0
// Which peers are the right ones: names of which a certificate has to bear one, or its own fingerprint.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

struct x509_st;

namespace weft::transport::tls {

using Fingerprint = std::array<unsigned char, 32>;  // SHA-256 of the certificate

// X509_V_OK: now is within the certificate's time.
[[nodiscard]] int judge_time_of(const x509_st& certificate) noexcept;

class Expectation {
 public:
  // "dns:node7.example+ip:192.0.2.7+uri:spiffe://example/node7+sha256:..."; an empty text expects nothing. The error
  // says what is wrong, in static storage.
  [[nodiscard]] static std::expected<Expectation, std::string_view> parse(std::string_view text);

  [[nodiscard]] bool empty() const noexcept { return names_.empty() && fingerprints_.empty(); }
  [[nodiscard]] bool has_fingerprints() const noexcept { return !fingerprints_.empty(); }
  [[nodiscard]] bool is_pinned(const x509_st& certificate) const noexcept;  // by a fingerprint
  [[nodiscard]] bool is_met_by(const x509_st& certificate) const noexcept;  // by a name, or a fingerprint

 private:
  enum class Kind : std::uint8_t { kDns, kIp, kUri };
  struct Name {
    Kind kind{};
    std::string text{};
  };
  [[nodiscard]] std::string_view add(std::string_view entry);
  [[nodiscard]] static bool bears(const x509_st& certificate, const Name& name) noexcept;

  std::vector<Name> names_;
  std::vector<Fingerprint> fingerprints_;
};

}  // namespace weft::transport::tls
