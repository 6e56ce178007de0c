// SPDX-License-Identifier: Apache-2.0
// The files of docs/clauses/ that state what the RFCs ask for, one after the other (embed_clauses.cmake).
#pragma once

#include <span>

#include "tools/probe/names.hpp"

namespace weft::tools::probing {

[[nodiscard]] std::span<const unsigned char> clause_octets() noexcept;

}  // namespace weft::tools::probing
