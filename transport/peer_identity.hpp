// SPDX-License-Identifier: Apache-2.0
/// @file
/// The TLS properties of a connection: its cipher, and the authenticated identity of the peer.
#pragma once

#include <string>
#include <vector>

namespace weft::transport {

/// Describes how TLS protects a connection, and the certificate of its peer.
struct PeerIdentity {
  std::string cipher{};  ///< cipher suite: "TLS_AES_256_GCM_SHA384"
  /// Subject of the peer's certificate: "CN=node7,O=Example" (RFC 4514). Empty if the peer presented no certificate.
  std::string subject{};
  std::vector<std::string> names{};  ///< alternative names: "dns:node7.example", "ip:192.0.2.7", "uri:..."
  /// Fingerprint of the peer's certificate: "sha256:" and 64 hexadecimal digits. Empty if there is no certificate.
  std::string fingerprint{};
  bool resumed = false;  ///< authenticated in an earlier connection, resumed by a ticket (RFC 8446 section 2.2)
};

}  // namespace weft::transport
