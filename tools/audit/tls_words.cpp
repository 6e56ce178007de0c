// SPDX-License-Identifier: Apache-2.0
#include "tools/audit/tls_words.hpp"

#include <fmt/format.h>

#include "tools/audit/text_finding.hpp"

namespace weft::tools::audit {

std::string in_words(const conformance::TlsFacts& facts, bool iwarp) {
  const std::string name = facts.cipher.empty() ? "TLS" : fmt::format("TLS 1.3, {}", facts.cipher);
  const std::string_view found = iwarp ? "" : ", and no iWARP in it";
  if (facts.hidden.empty()) return name + std::string(found);
  return fmt::format("{}, not decrypted{}: {}", name, facts.keyed ? " to its end" : "", facts.hidden);
}

std::string head_of(const conformance::ConnectionInfo& info) {
  return fmt::format("connection {}: {} -> {}, packets {} to {}{}", info.number, address_of(info.first),
                     address_of(info.second), info.first_packet, info.last_packet, path_of(info));
}

}  // namespace weft::tools::audit
