// SPDX-License-Identifier: Apache-2.0
// The subject of each rule of conformance/: a rule is only applicable if the peer sent something that it judges.
#pragma once

#include "conformance/connection_audit.hpp"
#include "conformance/rule.hpp"

namespace weft::probe {

// Also true for rules that are not listed here: any iWARP counts then.
[[nodiscard]] bool had_something(const conformance::Rule& rule, const conformance::ConnectionAudit& audit,
                                 conformance::Direction peer);

}  // namespace weft::probe
