// SPDX-License-Identifier: Apache-2.0
// SSLKEYLOGFILE, as browsers and curl have it: a file that gets the secrets of each connection, with which Wireshark reads
// what crossed the wire.
#pragma once

struct ssl_ctx_st;

namespace weft::transport::tls {

// When the variable is set and the process does not run with the rights of others than its user.
void log_keys(ssl_ctx_st* context) noexcept;

}  // namespace weft::transport::tls
