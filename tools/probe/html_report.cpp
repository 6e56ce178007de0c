// SPDX-License-Identifier: Apache-2.0
#include "tools/probe/html_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "tools/cli/markup.hpp"
#include "tools/probe/counts.hpp"
#include "tools/probe/html_exchange.hpp"
#include "tools/probe/html_page.hpp"
#include "tools/probe/spot.hpp"

namespace weft::tools::probing {
namespace {

using HtmlOut = std::back_insert_iterator<std::string>;

// The cases of a clause, and the clauses of a section, each in the order of the first case.
struct OfClause {
  std::string_view clause{};
  std::vector<const CaseResult*> cases{};
};
using OfSection = std::vector<OfClause>;

std::map<SectionGroup, OfSection> in_sections(const Report& report) {
  std::map<SectionGroup, OfSection> sections;
  for (const CaseResult& one : report.cases) {
    OfSection& section = sections[group_of(one.what->clause)];
    auto clause = std::ranges::find(section, one.what->clause, &OfClause::clause);
    if (clause == section.end()) clause = section.insert(section.end(), {.clause = one.what->clause});
    clause->cases.push_back(&one);
  }
  return sections;
}

// The cases that are told in full: all but those of the plan that passed, or that are one failure of a rule too many.
std::set<const CaseResult*> in_full(const Report& report) {
  std::set<const CaseResult*> out;
  std::map<std::string_view, std::size_t> of_rule;
  for (const CaseResult& one : report.cases) {
    const std::string_view rule = probe::rule_of(*one.what);
    if (rule.empty() || (is_trouble(one.verdict) && ++of_rule[rule] <= kOfRule)) out.insert(&one);
  }
  return out;
}

// Where it is, in how many runs, and whether it is known.
template <typename One>
std::string marks_of(const One& one, const std::optional<Spot>& spot) {
  std::string text = spot ? "About " + in_words(*spot) + "." : std::string();
  const auto add = [&](const std::string& more) { text += (text.empty() ? "" : " ") + more; };
  if (const auto flaky = flaky_text(one.verdicts); !flaky.empty()) add("Unsteady: " + flaky + ".");
  if (one.known) add(one.known->empty() ? "Known." : "Known: " + *one.known + ".");
  return text;
}

std::string rows_of_trouble(const Report& report, Verdict verdict, Level level,
                            const std::set<const CaseResult*>& full) {
  std::string rows;
  const auto put = [&](const std::string& link, std::string_view clause, const std::string& reason,
                       const std::string& marks) {
    rows += fmt::format("<tr><td>{}</td><td>{}{}{}</td><td>{}{}{}</td></tr>\n", badge(verdict), link, escape(clause),
                        link.empty() ? "" : "</a>", escape(reason), marks.empty() ? "" : "<br/>", escape(marks));
  };
  for (const CaseResult& one : report.cases) {
    if (one.verdict != verdict || level_of(one.what->clause) != level) continue;
    const bool shown = full.contains(&one);
    put(shown ? fmt::format("<a href=\"#case-{}\">", escape(one.what->name)) : std::string(), one.what->clause,
        shown ? one.reason : fmt::format("{}: {}", one.what->name, one.reason),
        marks_of(one, shown ? spot_of(one) : std::nullopt));
  }
  for (const RuleResult& rule : report.rules) {
    if (rule.verdict != verdict || level_of(rule.rule->clause) != level) continue;
    put("<a href=\"#rules\">", rule.rule->clause, rule.first ? rule.first->message : std::string(),
        marks_of(rule, spot_of(report, rule)));
  }
  return rows;
}

void put_trouble(HtmlOut out, const Report& report, const std::set<const CaseResult*>& full) {
  fmt::format_to(out, "<h2 id=\"trouble\">Failures and warnings</h2>\n");
  bool none = true;
  for (const Verdict verdict : {Verdict::kFail, Verdict::kWarn}) {
    for (const Level level : kLevels) {
      const std::string rows = rows_of_trouble(report, verdict, level, full);
      if (rows.empty()) continue;
      none = false;
      fmt::format_to(out, "<h3>{} of {}</h3>\n<table>\n<tbody>\n{}</tbody>\n</table>\n",
                     verdict == Verdict::kFail ? "Failures" : "Warnings", words_of(level), rows);
    }
  }
  if (none) fmt::format_to(out, "<p>There are none.</p>\n");
  for (const AbsentFinding& one : report.known_absent)
    fmt::format_to(out, "<p>Known, but did not occur: {}</p>\n", escape(one.words));
}

void put_also(HtmlOut out, const Case& one) {
  if (one.also.empty()) return;
  fmt::format_to(out, "<p class=\"dim\">The same reaction shows");
  for (const std::string_view clause : one.also)
    fmt::format_to(out, "{} {}", clause == one.also.front() ? "" : ",", escape(clause));
  fmt::format_to(out, ".</p>\n");
}

// What a fold that is shut says of itself.
std::string head_of(const CaseResult& one) {
  std::string text = badge(one.verdict) + ' ' + escape(one.what->name);
  if (one.verdict == Verdict::kNotApplicable) return text + ": " + escape(one.reason);
  return text + fmt::format(" <span class=\"dim\">{} ms</span>", one.took.count());
}

void put_case(HtmlOut out, const Report& report, const CaseResult& one) {
  const bool open = is_trouble(one.verdict);
  fmt::format_to(out, "<details class=\"case {}\" id=\"case-{}\"{}><summary>{}</summary>\n<p>{}</p>\n",
                 class_of(one.verdict), escape(one.what->name), open ? " open=\"open\"" : "", head_of(one),
                 escape(one.what->what));
  if (!one.reason.empty() && one.verdict != Verdict::kNotApplicable)
    fmt::format_to(out, "<p class=\"reason\">{}</p>\n", escape(one.reason));
  put_also(out, *one.what);
  // What passed has its octets in the captures and in JSON.
  if (open) fmt::format_to(out, "<p class=\"dim\">{}</p>\n{}", escape(marks_of(one, spot_of(one))), exchanges_of(one));
  if (open) fmt::format_to(out, "<p class=\"dim\">Again: <code>{}</code></p>\n", escape(again(report, one.what->name)));
  fmt::format_to(out, "</details>\n");
}

// Combinations that are not told in full, rule by rule.
void put_combinations(HtmlOut out, const std::vector<const CaseResult*>& cases) {
  std::map<std::pair<std::string_view, Verdict>, std::vector<const CaseResult*>> rules;
  for (const CaseResult* const one : cases) rules[{probe::rule_of(*one->what), one->verdict}].push_back(one);
  for (const auto& [rule, of] : rules) {
    const std::string_view what = of.front()->what->what;
    fmt::format_to(
        out, "<details class=\"case {}\"><summary>{} {}: {} combination{}</summary>\n<p>{}</p>\n<p class=\"dim\">",
        class_of(rule.second), badge(rule.second), escape(rule.first), of.size(), of.size() == 1 ? "" : "s",
        escape(what.substr(0, what.rfind(": "))));
    for (const CaseResult* const one : of)
      fmt::format_to(out, "{} ",
                     escape(one->what->name.substr(std::min(one->what->name.size(), rule.first.size() + 1))));
    fmt::format_to(out, "</p>\n");
    if (rule.second == Verdict::kNotApplicable) fmt::format_to(out, "<p>{}</p>\n", escape(of.front()->reason));
    fmt::format_to(out, "</details>\n");
  }
}

void put_section(HtmlOut out, const Report& report, const SectionGroup& group, const OfSection& section,
                 const std::set<const CaseResult*>& full) {
  fmt::format_to(out, "<h2 id=\"{}\">{}</h2>\n", anchor_of(group), escape(name_of(group)));
  for (const OfClause& one : section) {
    fmt::format_to(out, "<h3>{} <span class=\"dim\">{}</span></h3>\n<p class=\"demand\">{}</p>\n", escape(one.clause),
                   escape(place_of_clause(one.clause)), escape(demand_of(one.clause)));
    std::vector<const CaseResult*> others;
    for (const CaseResult* const result : one.cases) {
      if (full.contains(result))
        put_case(out, report, *result);
      else
        others.push_back(result);
    }
    put_combinations(out, others);
  }
}

void put_rule(HtmlOut out, const Report& report, const RuleResult& rule) {
  fmt::format_to(out, "<tr><td>{}</td><td>{}</td><td>{}: {}", badge(rule.verdict), escape(rule.rule->clause),
                 escape(rule.rule->section), escape(rule.rule->sentence));
  if (const CaseResult* const one = case_of(report, rule); one != nullptr) {
    fmt::format_to(out, "<br/>Broken {} time{}, first in {}, {}: {}", rule.breaches, rule.breaches == 1 ? "" : "s",
                   escape(one->what->name), escape(marks_of(rule, spot_of(report, rule))), escape(rule.first->message));
    if (const Exchange* const exchange = exchange_of(report, rule); exchange != nullptr && !is_trouble(one->verdict))
      fmt::format_to(out, "{}", exchange_in_short(*exchange, rule.exchange_index + 1));
  }
  fmt::format_to(out, "</td></tr>\n");
}

void put_rules(HtmlOut out, const Report& report) {
  fmt::format_to(out, "<h2 id=\"rules\">Rules that the target's octets were held against</h2>\n");
  for (const Verdict verdict : {Verdict::kFail, Verdict::kWarn, Verdict::kPass, Verdict::kNotApplicable}) {
    if (rules_of(report).of(verdict) == 0) continue;
    const bool open = verdict == Verdict::kFail || verdict == Verdict::kWarn;
    fmt::format_to(out, "<details{}><summary>{} {}</summary>\n<table>\n<tbody>\n", open ? " open=\"open\"" : "",
                   badge(verdict), rules_of(report).of(verdict));
    for (const RuleResult& rule : report.rules) {
      if (rule.verdict == verdict) put_rule(out, report, rule);
    }
    fmt::format_to(out, "</tbody>\n</table>\n</details>\n");
  }
}

}  // namespace

std::string html_of(const Report& report, bool strict) {
  std::string text = page_start(report, strict);
  HtmlOut out(text);
  const auto full = in_full(report);
  put_trouble(out, report, full);
  for (const auto& [group, section] : in_sections(report)) put_section(out, report, group, section, full);
  put_rules(out, report);
  return text + std::string(kPageEnd);
}

}  // namespace weft::tools::probing
