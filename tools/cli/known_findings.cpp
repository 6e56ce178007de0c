// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/known_findings.hpp"

#include <algorithm>
#include <array>

#include "conformance/rule.hpp"
#include "probe/case.hpp"
#include "probe/plan/plan.hpp"
#include "tools/cli/input_file.hpp"

namespace weft::tools {
namespace {

constexpr std::string_view kBlanks = " \t\r";

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(kBlanks), text.size());
  text.remove_prefix(begin);
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

// The first word of `text`, which is trimmed; the rest stays in it, trimmed.
std::string_view take_word(std::string_view& text) {
  const std::string_view word = text.substr(0, text.find_first_of(kBlanks));
  text = trimmed(text.substr(word.size()));
  return word;
}

bool is_end(std::string_view word) {
  constexpr std::array<std::string_view, 3> kEnds{"initiator", "responder", "both"};
  return std::ranges::find(kEnds, word) != kEnds.end();
}

// Returns an empty result where the line has no finding.
Outcome<KnownFinding> parse_line(std::string_view line) {
  const std::size_t comment = std::min(line.find('#'), line.size());
  std::string_view words = trimmed(line.substr(0, comment));
  KnownFinding known{.id = std::string(take_word(words)), .end = std::string(take_word(words))};
  if (comment < line.size()) known.reason = trimmed(line.substr(comment + 1));
  if (!words.empty()) return failure("'" + std::string(words) + "' follows the end: a comment begins with '#'");
  if (!known.end.empty() && !is_end(known.end))
    return failure("'" + known.end + "' is not one of initiator, responder, both");
  return known;
}

}  // namespace

Outcome<KnownFindings> KnownFindings::read(const std::string& path, const Exists& exists) {
  if (path.empty()) return KnownFindings();
  const auto text = read_input(path, kMostText, usage_error("--known: cannot read " + path + "."));
  if (!text) return std::unexpected(text.error());
  if (text->size() > kMostText)
    return usage_error("--known: " + path + " is longer than " + std::to_string(kMostText) + " octets.");
  return parse(*text, path, exists);
}

Outcome<KnownFindings> KnownFindings::parse(std::string_view text, const std::string& name, const Exists& exists) {
  KnownFindings all;
  all.name_ = name;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    auto known = parse_line(line);
    if (known && !known->id.empty() && !exists(known->id))
      known = failure("no rule of weft audit and no case of weft probe is called '" + known->id + "'");
    if (!known)
      return usage_error("--known: " + name + ", line " + std::to_string(number) + ": " + known.error().sentence + ".");
    if (known->id.empty()) continue;
    known->line = number;
    all.entries_.push_back(std::move(*known));
  }
  return all;
}

const KnownFinding* KnownFindings::covers(std::string_view id, std::string_view end) {
  const KnownFinding* first = nullptr;
  for (KnownFinding& one : entries_) {
    if (one.id != id || (!one.end.empty() && one.end != end)) continue;
    one.occurred = true;
    if (first == nullptr) first = &one;
  }
  return first;
}

std::vector<const KnownFinding*> KnownFindings::absent(const Exists& ran) const {
  std::vector<const KnownFinding*> result;
  for (const KnownFinding& one : entries_) {
    if (!one.occurred && ran(one.id)) result.push_back(&one);
  }
  return result;
}

bool is_rule_or_case(std::string_view id) {
  return std::ranges::any_of(conformance::all_rules(), [&](const auto* rule) { return rule->clause == id; }) ||
         std::ranges::any_of(probe::all_cases(), [&](const probe::Case& one) { return one.name == id; }) ||
         !probe::planned_cases_of(id).empty();
}

std::string in_words(const KnownFinding& known, const std::string& file) {
  const std::string by = known.end.empty() ? "" : known.end == "both" ? " by both ends" : " by the " + known.end;
  return known.id + by + " (line " + std::to_string(known.line) + " of " + file +
         (known.reason.empty() ? "" : ": " + known.reason) + ')';
}

}  // namespace weft::tools
