// SPDX-License-Identifier: Apache-2.0
#include "explain/model/model.hpp"

namespace weft::explain {

std::string_view name(RowKind kind) noexcept {
  switch (kind) {
    case RowKind::kTcp: return "tcp";
    case RowKind::kStartup: return "startup";
    case RowKind::kFpdu: return "fpdu";
    case RowKind::kGap: return "gap";
  }
  return {};
}

std::string_view name(Direction from) noexcept { return from == Direction::kFromInitiator ? "initiator" : "responder"; }

}  // namespace weft::explain
