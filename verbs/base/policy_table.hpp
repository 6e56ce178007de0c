// SPDX-License-Identifier: Apache-2.0
// The table of policy keys. A key is one row: name, member, kind and range of its values, and a sentence. From the rows
// follow the policy's text, the check of set_policy(), the keys in `weft run --help`, and the tables in docs/drop-in.md
// and docs/man/weft-run.1.
#pragma once

#include <span>
#include <string_view>

#include "verbs/policy_text.hpp"

namespace weft::verbs::detail {

struct PolicyRow {
  PolicyKey key{};              // without a name: only programs can set the member
  std::string_view argument{};  // the member, as errors name it: "policy.timeouts.connect"
  // Changes the member; false: the text is no value of the key.
  bool (*set)(Policy& policy, std::string_view text){};
  // Why the member is out of range; empty: it is not.
  std::string_view (*refusal)(const Policy& policy){};
};

[[nodiscard]] std::span<const PolicyRow> policy_rows() noexcept;

}  // namespace weft::verbs::detail
