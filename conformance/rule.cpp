// SPDX-License-Identifier: Apache-2.0
#include "conformance/rule.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include "conformance/rules/rule_group.hpp"

namespace weft::conformance {
namespace {

// The RFCs in the order of all_rules(): RFC 5044, 6581, 5041, 5040 with the registries, 7306.
constexpr std::array<std::string_view, 6> kPrefixes{"MPA", "MPA2", "DDP", "RDMAP", "RDMAP-IANA", "RDMAPX"};

std::size_t rank(std::string_view clause) noexcept {
  const std::string_view prefix = clause.substr(0, clause.find_first_of("0123456789", clause.find('-')) - 1);
  return static_cast<std::size_t>(std::ranges::find(kPrefixes, prefix) - kPrefixes.begin());
}

// The numbers of an id in order: "MPA-4.3-05" is 4, 3, 5.
std::vector<unsigned> numbers(std::string_view clause) {
  std::vector<unsigned> result;
  clause.remove_prefix(std::min(clause.size(), clause.find('-')));
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  for (auto at = clause.begin(); at != clause.end();) {
    at = std::find_if(at, clause.end(), is_digit);
    const auto end = std::find_if_not(at, clause.end(), is_digit);
    if (at == end) break;
    unsigned value = 0;
    std::from_chars(&*at, &*at + (end - at), value);
    result.push_back(value);
    at = end;
  }
  return result;
}

bool before(const Rule* a, const Rule* b) {
  const std::size_t left = rank(a->clause);
  const std::size_t right = rank(b->clause);
  return left != right ? left < right : numbers(a->clause) < numbers(b->clause);
}

std::vector<const Rule*> collect() {
  std::vector<const Rule*> rules;
  for (const RuleGroup* group = RuleGroup::first(); group != nullptr; group = group->next())
    rules.insert(rules.end(), group->rules().begin(), group->rules().end());
  std::ranges::sort(rules, before);
  return rules;
}

}  // namespace

std::string_view name(Severity severity) noexcept {
  switch (severity) {
    case Severity::kNote: return "note";
    case Severity::kWarning: return "warning";
    case Severity::kViolation: return "violation";
  }
  return {};
}

std::string_view name(Layer layer) noexcept {
  switch (layer) {
    case Layer::kConnection: return "connection";
    case Layer::kMpa: return "mpa";
    case Layer::kDdp: return "ddp";
    case Layer::kRdmap: return "rdmap";
  }
  return {};
}

std::span<const Rule* const> all_rules() noexcept {
  static const std::vector<const Rule*> rules = collect();
  return rules;
}

}  // namespace weft::conformance
