// SPDX-License-Identifier: Apache-2.0
#include "tools/probe/clause_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <map>
#include <vector>

#include "tools/probe/clause_octets.hpp"

namespace weft::tools::probing {
namespace {

// Takes a line of comma-separated values from the front of `text`. In quotes a comma is a letter, and two quotes are
// one.
std::vector<std::string> take_row(std::string_view& text) {
  std::vector<std::string> row(1);
  bool quoted = false;
  std::size_t at = 0;
  for (; at < text.size() && (quoted || text[at] != '\n'); ++at) {
    const char c = text[at];
    if (c == '"' && quoted && at + 1 < text.size() && text[at + 1] == '"') {
      row.back() += text[++at];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      row.emplace_back();
    } else if (c != '\r') {
      row.back() += c;
    }
  }
  text.remove_prefix(std::min(at + 1, text.size()));
  return row;
}

using ClauseTable = std::map<std::string, ClauseText, std::less<>>;

ClauseTable read_catalogue() {
  const auto octets = clause_octets();
  const std::string all(octets.begin(), octets.end());
  std::string_view text(all);
  ClauseTable table;
  while (!text.empty()) {
    // id,rfc,section,level,party,layer,requirement,...
    const auto row = take_row(text);
    if (row.size() < 7 || row[0] == "id") continue;
    table.emplace(row[0], ClauseText{row[0], row[1], row[2], row[3], row[6]});
  }
  return table;
}

struct RfcName {
  std::string_view rfc{};
  std::string_view layer{};
};
// In the order of the stack.
constexpr std::array<RfcName, 7> kRfcNames{{{"5044", "MPA"},
                                            {"6581", "enhanced startup of MPA"},
                                            {"5041", "DDP"},
                                            {"5040", "RDMAP"},
                                            {"7306", "RDMAP extensions"},
                                            {"6580", "registries"},
                                            {"5042", "security"}}};
constexpr SectionGroup kNoGroup{kRfcNames.size(), 0};

}  // namespace

const ClauseText* find_clause(std::string_view id) {
  static const ClauseTable table = read_catalogue();
  const auto found = table.find(id);
  return found == table.end() ? nullptr : &found->second;
}

std::string place_of_clause(std::string_view id) {
  const ClauseText* const clause = find_clause(id);
  if (clause == nullptr) return "no clause of the catalogue";
  return fmt::format("RFC {} section {}, {}", clause->rfc, clause->section, clause->level);
}

std::string_view demand_of(std::string_view id) {
  const ClauseText* const clause = find_clause(id);
  return clause == nullptr ? std::string_view() : std::string_view(clause->sentence);
}

SectionGroup group_of(std::string_view id) {
  const ClauseText* const clause = find_clause(id);
  if (clause == nullptr) return kNoGroup;
  const auto row = std::ranges::find(kRfcNames, std::string_view(clause->rfc), &RfcName::rfc);
  SectionGroup group{static_cast<unsigned>(row - kRfcNames.begin()), 0};
  const std::string& section = clause->section;
  std::from_chars(section.data(), section.data() + section.size(), group.section);
  return group;
}

std::string name_of(const SectionGroup& group) {
  if (group.layer >= kRfcNames.size()) return "no clause of the catalogue";
  const RfcName& row = kRfcNames[group.layer];
  if (group.section == 0) return fmt::format("{}, appendices of RFC {}", row.layer, row.rfc);
  return fmt::format("{}, RFC {} section {}", row.layer, row.rfc, group.section);
}

}  // namespace weft::tools::probing
