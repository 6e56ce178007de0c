// SPDX-License-Identifier: Apache-2.0
// When the tickets of a connection end at the latest. A resumed connection checks no certificate, so what was checked
// in the whole handshake has to hold until then: certificates of the chain, revocation lists and OCSP responses. The
// time belongs to the session, and copies of the session have it: those that a resumed connection gets as well.
#pragma once

#include <ctime>
#include <optional>

struct asn1_string_st;
struct ssl_session_st;
struct ssl_st;
struct x509_store_ctx_st;

namespace weft::transport::tls {

// Called while the peer's certificate is verified. An earlier end stays.
void limit_tickets(ssl_st& ssl, const asn1_string_st& until) noexcept;
// By the certificates of a chain that was verified, and by the revocation lists of their issuers.
void limit_tickets(x509_store_ctx_st& chain) noexcept;
// Returns nothing if none was set.
[[nodiscard]] std::optional<std::time_t> end_of_tickets(const ssl_session_st& session) noexcept;

}  // namespace weft::transport::tls
