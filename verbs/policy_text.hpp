// SPDX-License-Identifier: Apache-2.0
/// @file
/// The text form of a policy, "mpa-rev=1,crc=off,connect-timeout=500ms", for command lines, variables and files.
#pragma once

#include <expected>
#include <span>
#include <string>
#include <string_view>

#include "verbs/policy.hpp"

namespace weft::verbs {

/// Describes why a policy's text is invalid.
struct PolicyTextError {
  std::string text{};  ///< one sentence that names the key or value at fault: "crc=maybe: 'crc' takes on or off"
};

/// Returns `base` with the changes that `text` specifies. An empty text changes nothing.
/// Spaces around keys and values are ignored. If a key occurs twice, the last value counts.
/// Also fails if ConnectionId::set_policy() would reject the result.
[[nodiscard]] std::expected<Policy, PolicyTextError> parse_policy(std::string_view text, const Policy& base = {});

/// Describes one key of a policy's text. All strings have static storage.
struct PolicyKey {
  std::string_view name{};     ///< name of the key: "connect-timeout"
  std::string_view values{};   ///< accepted values: "a time such as 500ms or 10s"
  std::string_view meaning{};  ///< one sentence for people
  bool names_file = false;     ///< true if the value is the path of a file
  /// Returns the value that a policy has, in the form that parse_policy() accepts: "10s".
  std::string (*text)(const Policy& policy) = nullptr;
};
/// Returns all keys in a fixed order, for --help and the documentation; static storage.
[[nodiscard]] std::span<const PolicyKey> policy_keys() noexcept;

/// Returns `text` with absolute file paths, for a process that changes its working directory before it opens them.
[[nodiscard]] std::string with_absolute_files(std::string_view text);

}  // namespace weft::verbs
