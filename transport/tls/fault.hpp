// SPDX-License-Identifier: Apache-2.0
// Why TLS has ended a connection: an error code, so that it goes the way of the socket's own errors.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

#include "common/wire.hpp"

namespace weft::transport::tls {

enum class Fault : std::uint8_t {
  kTruncated = 1,    // the peer's FIN without a close_notify before it
  kEndedEarly,       // the peer's FIN within the handshake
  kSpeaksNoTls,      // its first octets are no TLS
  kTooManyMessages,  // key updates and tickets, and nothing else
  kHelloTooLong,     // a ClientHello of more than 16 KiB
  kNoMemory,
};

// Both in static storage.
struct Reason {
  std::string_view what{};  // "the peer's certificate"
  std::string_view why{};   // "certificate has expired"
};

[[nodiscard]] std::error_code make_error_code(Fault fault) noexcept;
[[nodiscard]] std::error_code of_alert(int description) noexcept;        // what the peer has sent (RFC 8446 section 6)
[[nodiscard]] std::error_code of_verification(long result) noexcept;     // OpenSSL's X509_V_ERR_...
[[nodiscard]] std::error_code of_library(unsigned long error) noexcept;  // anything else that OpenSSL says

// The first octets of a handshake or an alert: of a peer that speaks TLS to an end that does not.
[[nodiscard]] bool looks_like_tls(Bytes first) noexcept;

// Nothing of an error that is no fault of TLS.
[[nodiscard]] std::optional<Reason> reason_of(const std::error_code& error) noexcept;

}  // namespace weft::transport::tls
