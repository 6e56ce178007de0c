// SPDX-License-Identifier: Apache-2.0
// How many connections of this process TLS has secured, at either end.
#pragma once

#include <cstdint>

namespace weft::transport {

struct TlsCounts {
  std::uint64_t whole{};    // handshakes with certificates
  std::uint64_t resumed{};  // by a ticket of an earlier connection (RFC 8446 section 2.2)
};

// Since the process began. Safe for threads; the two numbers need not be of one instant.
[[nodiscard]] TlsCounts tls_counts() noexcept;

}  // namespace weft::transport
