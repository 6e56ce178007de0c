// SPDX-License-Identifier: Apache-2.0
// What stands on the ladder of a connection, in the words of the RFCs. The first part is the name, the others tell
// more.
#pragma once

#include "conformance/messages.hpp"
#include "conformance/words.hpp"
#include "tools/dissect/part.hpp"

namespace weft::tools::dissect {

// "RDMA Write", "Send with SE and Invalidate", "opcode 13": as short as RFC 5040 has it.
[[nodiscard]] std::string name_of(std::uint8_t opcode);

[[nodiscard]] Parts words_of(const conformance::Message& message);
[[nodiscard]] Parts words_of(const conformance::StartupSeen& startup);
// Words of conformance/words.hpp, the first part in another color than the rest.
[[nodiscard]] Parts coloured(conformance::Words words, Hue first, Hue rest);

}  // namespace weft::tools::dissect
