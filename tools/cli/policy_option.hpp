// SPDX-License-Identifier: Apache-2.0
// --policy of the subcommands that make connections, and what it takes to try TLS with one word of it.
#pragma once

#include <optional>
#include <string>

#include "tools/cli/command.hpp"
#include "tools/cli/keys_in_memory.hpp"
#include "verbs/policy.hpp"

namespace weft::tools {

// `whose` policy it is stands first in the help text.
void add_policy_option(CLI::App& command, std::string& text, const std::string& whose);
// The same for a command that has both ends, and calls keys_for().
void add_policy_option_of_both_ends(CLI::App& command, std::string& text);

// `base`, changed as the option's text says; or what is wrong with it.
[[nodiscard]] Outcome<verbs::Policy> read_policy(const std::string& text, const verbs::Policy& base = {});

// For both ends on this machine, after `text`: TLS that names no file and no peer gets `keys`, which have to outlive
// its use. Empty where it needs none.
[[nodiscard]] Outcome<std::string> keys_for(const std::string& text, std::optional<KeysInMemory>& keys);

}  // namespace weft::tools
