// SPDX-License-Identifier: Apache-2.0
// TLS in this process: who does it, and how many connections it has secured, at either end.
#pragma once

#include <cstdint>
#include <string>

namespace weft::transport {

// Handshakes that were completed.
struct TlsCounts {
  std::uint64_t whole{};    // handshakes with certificates
  std::uint64_t resumed{};  // by a ticket of an earlier connection (RFC 8446 section 2.2)
};

// Since the process began. Safe for threads; the two numbers need not be of one instant.
[[nodiscard]] TlsCounts tls_counts() noexcept;

// "1.3 by OpenSSL 3.0.19 27 Jan 2026, in the process: kernel TLS is not used". Safe for threads.
[[nodiscard]] std::string tls_library();

}  // namespace weft::transport
