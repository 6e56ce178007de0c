// SPDX-License-Identifier: Apache-2.0
#include "explain/model/clauses.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "conformance/rule.hpp"
#include "mpa/errors.hpp"
#include "rdmap/error_table.hpp"

namespace weft::explain {
namespace {

// The RFC for each first part of an id (docs/clauses/); longer ones first.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kRfcs{{{"RDMAP-IANA-", "6580"},
                                                                              {"RDMAPX-", "7306"},
                                                                              {"RDMAP-", "5040"},
                                                                              {"MPA2-", "6581"},
                                                                              {"MPA-", "5044"},
                                                                              {"DDP-", "5041"}}};

// "DDP-7.1-12" is the twelfth of RFC 5041 section 7.1.
ClauseText without_text(std::string_view id) {
  for (const auto& [front, rfc] : kRfcs) {
    if (!id.starts_with(front)) continue;
    const std::string_view rest = id.substr(front.size());
    return {rfc, rest.substr(0, rest.rfind('-')), {}};
  }
  return {};
}

std::set<std::string_view> named_in(const Model& model) {
  std::set<std::string_view> named;
  for (const FieldInfo& info : model.glossary.names()) named.insert(info.clauses().begin(), info.clauses().end());
  for (const Connection& connection : model.connections) {
    for (const FindingView& view : connection.findings) named.insert(view.finding.rule->clause);
  }
  return named;
}

class Clauses {
 public:
  void rule(const conformance::Rule& rule) {
    auto& clause = all_.try_emplace(rule.clause, without_text(rule.clause)).first->second;
    clause.text = rule.sentence;
  }
  // Several errors may have one clause.
  void error(std::string_view id, std::string_view sentence) {
    auto& clause = all_.try_emplace(id, without_text(id)).first->second;
    if (clause.text.find(sentence) != std::string::npos) return;
    clause.text += (clause.text.empty() ? "Broken when " : "; or when ") + std::string(sentence);
  }
  std::map<std::string_view, ClauseText> take() { return std::move(all_); }

 private:
  std::map<std::string_view, ClauseText> all_{};
};

}  // namespace

std::map<std::string_view, ClauseText> clauses_of(const Model& model) {
  const auto named = named_in(model);
  Clauses clauses;
  for (const auto& error : rdmap::kErrorTable) clauses.error(error.clause, error.sentence);
  for (const auto& fault : mpa::kFaults) clauses.error(fault.clause, fault.sentence);
  for (const conformance::Rule* const rule : conformance::all_rules()) {
    if (named.contains(rule->clause)) clauses.rule(*rule);
  }
  return clauses.take();
}

}  // namespace weft::explain
