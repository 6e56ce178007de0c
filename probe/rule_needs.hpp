// SPDX-License-Identifier: Apache-2.0
// What a rule of conformance/ is about: only where the peer sent that was there something to judge.
#pragma once

#include "conformance/connection_audit.hpp"
#include "conformance/rule.hpp"

namespace weft::probe {

// True also for a rule of which nothing is known here: then any iWARP is something.
[[nodiscard]] bool had_something(const conformance::Rule& rule, const conformance::ConnectionAudit& audit,
                                 conformance::Direction peer);

}  // namespace weft::probe
