// SPDX-License-Identifier: Apache-2.0
// What reports say of connections that speak TLS.
#pragma once

#include <string>

#include "conformance/capture_audit.hpp"

namespace weft::tools::audit {

// "TLS 1.3, TLS_AES_256_GCM_SHA384, not decrypted: WHY"; `iwarp`: it was found in it.
[[nodiscard]] std::string in_words(const conformance::TlsFacts& facts, bool iwarp);
// "connection 3: 10.0.0.1:4000 -> 10.0.0.2:7174, packets 1 to 40"
[[nodiscard]] std::string head_of(const conformance::ConnectionInfo& info);

}  // namespace weft::tools::audit
