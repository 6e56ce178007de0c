// SPDX-License-Identifier: Apache-2.0
// SSLKEYLOGFILE, as browsers and curl have it: a file that gets the secrets of each connection, with which Wireshark
// reads what crossed the wire.
#pragma once

#include <optional>
#include <string>

struct ssl_ctx_st;

namespace weft::transport::tls {

// Writes the secrets of this context's connections to the file that the variable names, unless the process runs with
// the rights of others than its user. The file is opened here, once, and has to be a regular one
// (transport/output_file.hpp).
void log_keys(ssl_ctx_st& context) noexcept;

// Returns why secrets are not written although the variable names a file, for the log: once for each such reason.
[[nodiscard]] std::optional<std::string> take_key_log_complaint();

}  // namespace weft::transport::tls
