// SPDX-License-Identifier: Apache-2.0
// A policy written as text, "mpa-rev=1,crc=off,connect-timeout=500ms", for command lines, variables and files.
#pragma once

#include <expected>
#include <span>
#include <string>
#include <string_view>

#include "verbs/policy.hpp"

namespace weft::verbs {

// One sentence that names the key, or the value, at fault.
struct PolicyTextError {
  std::string text{};  // "crc=maybe: 'crc' takes on or off"
};

// `base`, changed as `text` says. Spaces around keys and values do not matter; where a key stands twice the last
// counts. What ConnectionId::set_policy would refuse is an error here too. An empty text changes nothing.
[[nodiscard]] std::expected<Policy, PolicyTextError> parse_policy(std::string_view text, const Policy& base = {});

// What --help and the documents say about each key, in the order of Policy.
// One key; all of it has static storage.
struct PolicyKey {
  std::string_view name{};     // "connect-timeout"
  std::string_view values{};   // what it takes: "a time such as 500ms or 10s"
  std::string_view meaning{};  // a sentence
  bool names_file = false;     // its value is the name of a file
};
[[nodiscard]] std::span<const PolicyKey> policy_keys() noexcept;  // static storage

// The same text, with the names of its files from the root: for a process that may be in another folder when it opens them.
[[nodiscard]] std::string with_absolute_files(std::string_view text);

}  // namespace weft::verbs
