// SPDX-License-Identifier: Apache-2.0
#include "verbs/base/policy_kinds.hpp"

#include <algorithm>
#include <ranges>
#include <utility>
#include <vector>

#include "common/number.hpp"

namespace weft::verbs::detail {

namespace {

constexpr std::pair<std::string_view, bool RtrTypes::*> kRtrWords[] = {
    {"send", &RtrTypes::send}, {"write", &RtrTypes::write}, {"read", &RtrTypes::read}};

void join(std::string& list, std::string_view word) {
  if (!list.empty()) list += '+';
  list += word;
}

}  // namespace

// A time without a unit could mean either, and is none; but 0 is 0.
std::optional<std::int64_t> to_number(const PolicyKind& kind, std::string_view text) noexcept {
  const auto word = std::ranges::find(kind.words, text, &PolicyWord::text);
  if (word != kind.words.end()) return word->value;
  if (!kind.words.empty()) return std::nullopt;
  const bool plain = !kind.is_time || text == "0", fine = text.ends_with("ms");
  if (!plain && !text.ends_with('s')) return std::nullopt;
  if (!plain) text.remove_suffix(fine ? 2 : 1);
  const auto number = parse_number<std::uint32_t>(text);
  if (!number) return std::nullopt;
  return std::int64_t{*number} * (plain || fine ? 1 : 1000);
}

std::string to_text(const PolicyKind& kind, std::int64_t number) {
  const auto word = std::ranges::find(kind.words, number, &PolicyWord::value);
  if (word != kind.words.end()) return std::string(word->text);
  if (!kind.is_time || number == 0) return std::to_string(number);
  return number % 1000 == 0 ? std::to_string(number / 1000) + 's' : std::to_string(number) + "ms";
}

std::string_view refusal(const PolicyKind& kind, std::int64_t number) noexcept {
  const bool good = kind.words.empty() ? (number >= kind.least && number <= kind.most) || (kind.or_zero && number == 0)
                                       : std::ranges::find(kind.words, number, &PolicyWord::value) != kind.words.end();
  return good ? std::string_view() : kind.outside;
}

bool set(const PolicyKind& kind, std::string& value, std::string_view text) {
  if (text.empty()) return false;
  value = text == kind.empty ? "" : text;
  return true;
}

std::string to_text(const PolicyKind& kind, const std::string& value) {
  return value.empty() ? std::string(kind.empty) : value;
}

// "write+read".
bool set(const PolicyKind& kind, RtrTypes& value, std::string_view text) {
  if (text.empty()) return false;
  RtrTypes types{};
  for (const auto piece : std::views::split(text == kind.empty ? std::string_view() : text, '+')) {
    const auto word = std::ranges::find(kRtrWords, std::string_view(piece), [](const auto& one) { return one.first; });
    if (word == std::end(kRtrWords)) return false;
    types.*word->second = true;
  }
  value = types;
  return true;
}

std::string to_text(const PolicyKind& kind, const RtrTypes& value) {
  std::string list;
  for (const auto& [word, type] : kRtrWords)
    if (value.*type) join(list, word);
  return to_text(kind, list);
}

// "all" is no list of addresses to allow, and "none" an empty one.
bool set(const PolicyKind& kind, AccessList& value, std::string_view text) {
  const bool allows = kind.empty == "all";
  auto prefixes = text == kind.empty ? std::optional<std::vector<AddressPrefix>>(std::in_place) : parse_prefixes(text);
  if (!prefixes) return false;
  (allows ? value.allow : value.deny) = std::move(*prefixes);
  if (allows) value.only_allowed = text == "none";
  return true;
}

std::string to_text(const PolicyKind& kind, const AccessList& value) {
  const bool allows = kind.empty == "all";
  std::string list;
  for (const AddressPrefix& prefix : allows ? value.allow : value.deny) join(list, prefix.to_string());
  return list.empty() && allows && value.only_allowed ? "none" : to_text(kind, list);
}

}  // namespace weft::verbs::detail
