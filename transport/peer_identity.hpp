// SPDX-License-Identifier: Apache-2.0
// What TLS tells of a connection: how it is protected, and who the peer has proved to be.
#pragma once

#include <string>
#include <vector>

namespace weft::transport {

// How one connection is protected, and who its peer is.
struct PeerIdentity {
  std::string cipher{};   // "TLS_AES_256_GCM_SHA384"
  std::string subject{};  // of the peer's certificate, "CN=node7,O=Example" (RFC 4514); empty: it showed none
  std::vector<std::string> names{};  // its alternative names: "dns:node7.example", "ip:192.0.2.7", "uri:..."
  std::string fingerprint{};         // "sha256:" and 64 hexadecimal digits; empty: it showed none
  bool resumed = false;  // it proved so in an earlier connection, whose ticket this one has (RFC 8446 section 2.2)
};

}  // namespace weft::transport
