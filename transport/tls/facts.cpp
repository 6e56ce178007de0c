// SPDX-License-Identifier: Apache-2.0
#include "transport/tls/facts.hpp"

#include <openssl/crypto.h>

#include <atomic>

#include "transport/tls_facts.hpp"

namespace weft::transport {
namespace {

std::atomic<std::uint64_t> whole{0}, resumed{0};

}  // namespace

void tls::count_handshake(bool by_ticket) noexcept {
  (by_ticket ? resumed : whole).fetch_add(1, std::memory_order_relaxed);
}

TlsCounts tls_counts() noexcept {
  return {.whole = whole.load(std::memory_order_relaxed), .resumed = resumed.load(std::memory_order_relaxed)};
}

// Describes the TLS library. Kernel TLS is not used: see decision 0026.
std::string tls_library() {
  return std::string("1.3 by ") + ::OpenSSL_version(OPENSSL_VERSION) + ", in the process: kernel TLS is not used";
}

}  // namespace weft::transport
