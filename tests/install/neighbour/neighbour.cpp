// SPDX-License-Identifier: Apache-2.0
// A program that has headers under the names of weft's, and both in its include path: each side gets its own.
#include <weft/conformance/connection_audit.hpp>
#include <weft/verbs/verbs.hpp>

#define ASKED_FOR_ITS_OWN
#include <common/wire.hpp>
#include <engine/engine.hpp>
#include <verbs/verbs.hpp>

static_assert(neighbour::kCommonIsMine && neighbour::kEngineIsMine && neighbour::kVerbsIsMine);

int main() {
  const bool opens = weft::verbs::Device::open("weft_lo").has_value();
  return opens && !weft::conformance::ConnectionAudit(0).iwarp() ? 0 : 1;
}
