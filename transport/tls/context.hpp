// SPDX-License-Identifier: Apache-2.0
// What the connections of one policy have in common: our certificate and key, and which peers are trusted. Files are
// read once, and again when they change: connections that run keep what they began with.
#pragma once

#include <compare>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "transport/tls/expectation.hpp"
#include "transport/tls/staple.hpp"
#include "transport/tls/tickets.hpp"

struct ssl_ctx_st;
struct x509_store_ctx_st;

namespace weft::transport::tls {

// Files in PEM, but for the staple; an empty name: there is none.
struct Settings {
  std::string certificate{};     // ours first, then those up to the CA's
  std::string key{};             // empty: it is in the certificate's file
  std::string ca{};              // whose certificates are trusted
  std::string crl{};             // what these have revoked
  std::string expect{};          // Expectation
  std::string staple{};          // OCSP's answer about our certificate, in DER: a listener shows it
  bool staple_required = false;  // of listeners that this end connects to
  bool resumption = true;        // Tickets
  std::string ciphers{};         // of TLS 1.3, joined by ":", the best first; empty: those of OpenSSL
  std::string groups{};          // the same of the key exchange
  auto operator<=>(const Settings&) const = default;
};

enum class Setting : std::uint8_t {
  kCertificate,
  kKey,
  kCa,
  kCrl,
  kExpect,
  kStaple,
  kStapleRequired,
  kCiphers,
  kGroups
};

struct Refusal {
  Setting which{};
  std::string_view why{};  // static storage
  int os_error{};          // errno, when the system is the cause
};

class Context {
 public:
  struct Found;
  // From the process's memory, unless a file has changed since. Safe for threads. May wait for the disk.
  [[nodiscard]] static std::expected<Found, Refusal> find(const Settings& settings);
  // Anew, from the files.
  [[nodiscard]] static std::expected<std::shared_ptr<const Context>, Refusal> load(const Settings& settings);

  [[nodiscard]] ssl_ctx_st* get() const noexcept { return context_.get(); }
  [[nodiscard]] bool has_certificate() const noexcept { return has_certificate_; }
  // Returns whether a peer has to show a certificate: there is something to hold it against.
  [[nodiscard]] bool judges_peers() const noexcept { return has_ca_ || expectation_.has_fingerprints(); }
  [[nodiscard]] bool has_ca() const noexcept { return has_ca_; }
  [[nodiscard]] Tickets* tickets() const noexcept { return tickets_.get(); }  // null: there is no resumption
  // OpenSSL asks this of a peer's chain.
  [[nodiscard]] bool accepts(x509_store_ctx_st& chain) const noexcept;

  struct Free {
    void operator()(ssl_ctx_st* context) const noexcept;
  };

 private:
  Context() = default;
  std::optional<Refusal> take_algorithms(const Settings& settings);
  std::optional<Refusal> take_certificate(const Settings& settings);
  std::optional<Refusal> take_authorities(const Settings& settings);
  std::optional<Refusal> take_staple(const Settings& settings);

  std::unique_ptr<Tickets> tickets_;
  Staple staple_;
  std::unique_ptr<ssl_ctx_st, Free> context_;
  Expectation expectation_;
  bool has_certificate_ = false;
  bool has_ca_ = false;
};

struct Context::Found {
  std::shared_ptr<const Context> context{};
  std::optional<Refusal> stale{};  // the files have changed and cannot be used: the context is that of before
};

}  // namespace weft::transport::tls
