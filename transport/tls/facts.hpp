// SPDX-License-Identifier: Apache-2.0
// Counts for transport/tls_facts.hpp.
#pragma once

namespace weft::transport::tls {

void count_handshake(bool resumed) noexcept;

}  // namespace weft::transport::tls
