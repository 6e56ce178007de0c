// SPDX-License-Identifier: Apache-2.0
// The kinds of values that keys of a policy have: how people write them, and which are in range.
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "verbs/policy.hpp"

namespace weft::verbs::detail {

struct PolicyWord {
  std::string_view text{};
  std::int64_t value{};
};

struct PolicyKind {
  std::string_view values{};   // what people may write: "on or off"
  std::string_view outside{};  // why a value out of range is refused
  std::int64_t least = 0;      // the range of a number, or of a time in milliseconds
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
  bool or_zero = false;                 // 0 is in range, too
  bool is_time = false;                 // has a unit: "500ms" or "10s"
  std::span<const PolicyWord> words{};  // of values that are words: all of them
  std::string_view empty = "none";      // of a text or a list: the word for an empty one
  bool names_file = false;
};

// The value that a text stands for; null if the kind has no such value. Values out of range are left to refusal().
[[nodiscard]] std::optional<std::int64_t> to_number(const PolicyKind& kind, std::string_view text) noexcept;
[[nodiscard]] std::string to_text(const PolicyKind& kind, std::int64_t number);
// Returns why the value is out of range; empty: it is not.
[[nodiscard]] std::string_view refusal(const PolicyKind& kind, std::int64_t number) noexcept;

[[nodiscard]] constexpr std::int64_t to_number(std::chrono::milliseconds value) noexcept { return value.count(); }
template <typename T>
  requires std::integral<T> || std::is_enum_v<T>
[[nodiscard]] constexpr std::int64_t to_number(T value) noexcept {
  return static_cast<std::int64_t>(value);
}
template <typename T>
concept PolicyNumber = requires(T value) { to_number(value); };

// Changes a value to what the text says; false: the kind has no such value, and nothing has changed.
bool set(const PolicyKind& kind, std::string& value, std::string_view text);
bool set(const PolicyKind& kind, RtrTypes& value, std::string_view text);
bool set(const PolicyKind& kind, AccessList& value, std::string_view text);
template <PolicyNumber T>
bool set(const PolicyKind& kind, T& value, std::string_view text) {
  const auto number = to_number(kind, text);
  if (!number || to_number(static_cast<T>(*number)) != *number) return false;
  value = static_cast<T>(*number);
  return true;
}

// The inverse of set().
[[nodiscard]] std::string to_text(const PolicyKind& kind, const std::string& value);
[[nodiscard]] std::string to_text(const PolicyKind& kind, const RtrTypes& value);
[[nodiscard]] std::string to_text(const PolicyKind& kind, const AccessList& value);
template <PolicyNumber T>
[[nodiscard]] std::string to_text(const PolicyKind& kind, T value) {
  return to_text(kind, to_number(value));
}

template <typename T>
[[nodiscard]] std::string_view refusal_of(const PolicyKind& kind, const T& value) noexcept {
  if constexpr (PolicyNumber<T>) return refusal(kind, to_number(value));
  return {};
}

}  // namespace weft::verbs::detail
