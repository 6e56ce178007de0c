// SPDX-License-Identifier: Apache-2.0
/// @file
/// TLS in this process: the library, and the number of handshakes.
#pragma once

#include <cstdint>
#include <string>

namespace weft::transport {

/// Counts the completed TLS handshakes of this process, as client or server.
struct TlsCounts {
  std::uint64_t whole{};    ///< full handshakes, with certificates
  std::uint64_t resumed{};  ///< handshakes resumed by a ticket of an earlier connection (RFC 8446 section 2.2)
};

/// Returns the number of completed handshakes since the process started.
/// Thread-safe. The two counts may describe slightly different moments.
[[nodiscard]] TlsCounts tls_counts() noexcept;

/// Returns a description of the TLS library for people, such as "1.3 by OpenSSL 3.0.19 27 Jan 2026, in the process:
/// kernel TLS is not used". Thread-safe.
[[nodiscard]] std::string tls_library();

}  // namespace weft::transport
