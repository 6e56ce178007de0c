// SPDX-License-Identifier: Apache-2.0
// A certificate authority for a first try, and for tests: a key, and certificates that it signs. It keeps no list of
// them.
#pragma once

#include <chrono>
#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct evp_pkey_st;
struct x509_st;

namespace weft::transport::tls {

class Authority {
 public:
  using Days = std::chrono::days;
  struct Subject {
    std::string common_name{};
    std::vector<std::string> names{};  // "dns:node7.example", "ip:192.0.2.7", "uri:..."
    Days valid_from{0};                // relative to now
    Days valid_until{365};
  };
  struct Issued {  // in PEM
    std::string certificate{};
    std::string key{};
  };

  // Errors are in static storage.
  [[nodiscard]] static std::expected<Authority, std::string_view> make(const std::string& common_name, Days valid);
  [[nodiscard]] std::expected<Issued, std::string_view> issue(const Subject& subject) const;
  [[nodiscard]] std::string certificate() const;
  [[nodiscard]] std::string key() const;

 private:
  struct FreeKey {
    void operator()(evp_pkey_st* key) const noexcept;
  };
  struct FreeCertificate {
    void operator()(x509_st* certificate) const noexcept;
  };
  using Key = std::unique_ptr<evp_pkey_st, FreeKey>;
  using Certificate = std::unique_ptr<x509_st, FreeCertificate>;

  Authority() = default;
  [[nodiscard]] static Key make_key();
  [[nodiscard]] static std::string pem_of(const evp_pkey_st& key);
  [[nodiscard]] static std::string pem_of(const x509_st& certificate);
  [[nodiscard]] static Certificate blank(const std::string& common_name, evp_pkey_st& key, Days from, Days until);

  Key key_;
  Certificate certificate_;
};

}  // namespace weft::transport::tls
