// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/policy_option.hpp"

#include "verbs/policy_text.hpp"

namespace weft::tools {

void add_policy_option(CLI::App& command, std::string& text, const std::string& whose) {
  command
      .add_option("--policy", text,
                  whose + ": keys as in weft run --help; takes precedence over other options. For TLS see docs/tls.md")
      ->type_name("KEY=VALUE,...");
}

void add_policy_option_of_both_ends(CLI::App& command, std::string& text) {
  command
      .add_option("--policy", text,
                  "Policy for both ends: keys as in weft run --help; takes precedence over other options. tls=require "
                  "alone uses TLS with temporary keys (docs/tls.md). same-host=on selects shared memory, and "
                  "same-host=off TCP, within one host")
      ->type_name("KEY=VALUE,...");
}

Outcome<verbs::Policy> read_policy(const std::string& text, const verbs::Policy& base) {
  auto policy = verbs::parse_policy(text, base);
  if (!policy) return usage_error("--policy: " + policy.error().text + ".");
  return std::move(*policy);
}

Outcome<std::string> keys_for(const std::string& text, std::optional<KeysInMemory>& keys) {
  const auto policy = read_policy(text);
  if (!policy) return std::unexpected(policy.error());
  const bool named = !policy->tls.certificate.empty() || !policy->tls.ca.empty() || !policy->tls.expect.empty();
  if (policy->tls.mode == verbs::Tls::kOff || named) return std::string();
  auto made = KeysInMemory::make();
  if (!made) return std::unexpected(made.error());
  keys.emplace(std::move(*made));
  return ",tls-certificate=" + keys->certificate() + ",tls-ca=" + keys->ca();
}

}  // namespace weft::tools
