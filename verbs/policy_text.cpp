// SPDX-License-Identifier: Apache-2.0
#include "verbs/policy_text.hpp"

#include <algorithm>
#include <filesystem>
#include <ranges>
#include <system_error>
#include <utility>

#include "verbs/base/policy_table.hpp"
#include "verbs/log/text.hpp"
#include "verbs/objects/argument_checks.hpp"

namespace weft::verbs {

namespace {

using detail::PolicyRow;
using detail::trimmed;
constexpr std::string_view kNone = "none";

std::string known_keys() {
  std::string names;
  for (const PolicyKey& key : policy_keys()) names += (names.empty() ? "" : ", ") + std::string(key.name);
  return names;
}

std::unexpected<PolicyTextError> wrong(std::string text) { return std::unexpected(PolicyTextError{std::move(text)}); }

constexpr std::string_view name_of(const PolicyRow& row) noexcept { return row.key.name; }

std::expected<void, PolicyTextError> apply(Policy& policy, std::string_view entry) {
  const std::size_t equals = entry.find('=');
  const std::string name(trimmed(entry.substr(0, equals)));
  const auto row = std::ranges::find(detail::policy_rows(), name, name_of);
  if (name.empty() || row == detail::policy_rows().end())
    return wrong("unknown key '" + name + "'; the keys are " + known_keys());
  const std::string values(row->key.values);
  if (equals == std::string_view::npos) return wrong("'" + name + "' has no value; it takes " + values);
  const std::string value(trimmed(entry.substr(equals + 1)));
  if (!row->set(policy, value)) return wrong(name + "=" + value + ": '" + name + "' takes " + values);
  return {};
}

// The checks name members of Policy: "policy.startup.max_ulpdu".
std::string_view key_of(std::string_view argument) {
  const auto row = std::ranges::find(detail::policy_rows(), argument, &PolicyRow::argument);
  return row == detail::policy_rows().end() || row->key.name.empty() ? argument : row->key.name;
}

// "tls-ca=keys/ca.pem" -> "tls-ca=/home/me/keys/ca.pem".
std::string with_absolute_file(std::string_view entry) {
  const std::size_t equals = entry.find('=');
  const auto key = std::ranges::find(policy_keys(), trimmed(entry.substr(0, equals)), &PolicyKey::name);
  const bool names_file = equals != std::string_view::npos && key != policy_keys().end() && key->names_file;
  const std::string_view value = names_file ? trimmed(entry.substr(equals + 1)) : std::string_view();
  std::error_code error;
  const auto whole = std::filesystem::absolute(value, error);
  if (value.empty() || value == kNone || error) return std::string(entry);
  return std::string(key->name) + '=' + whole.string();
}

}  // namespace

std::expected<Policy, PolicyTextError> parse_policy(std::string_view text, const Policy& base) {
  Policy policy = base;
  for (const auto piece : std::views::split(text, ',')) {
    const std::string_view entry = trimmed(std::string_view(piece));
    if (entry.empty()) continue;
    if (auto done = apply(policy, entry); !done) return std::unexpected(done.error());
  }
  if (const auto good = detail::check(policy); !good) {
    return wrong(std::string(key_of(good.error().argument)) + ": " + std::string(good.error().reason));
  }
  return policy;
}

std::string with_absolute_files(std::string_view text) {
  std::string whole;
  for (const auto piece : std::views::split(text, ',')) {
    if (!whole.empty()) whole += ',';
    whole += with_absolute_file(std::string_view(piece));
  }
  return whole;
}

}  // namespace weft::verbs
