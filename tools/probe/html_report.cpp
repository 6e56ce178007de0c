// SPDX-License-Identifier: Apache-2.0
#include "tools/probe/html_report.hpp"

#include <fmt/format.h>

#include <iterator>
#include <map>
#include <vector>

#include "tools/cli/markup.hpp"
#include "tools/probe/counts.hpp"
#include "tools/probe/html_exchange.hpp"
#include "tools/probe/html_page.hpp"

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

void put_trouble(HtmlOut out, const Report& report) {
  fmt::format_to(out, "<h2 id=\"trouble\">Failures and warnings</h2>\n");
  std::size_t count = 0;
  std::string rows;
  for (const Verdict verdict : {Verdict::kFail, Verdict::kWarn}) {
    for (const CaseResult& one : report.cases) {
      if (one.verdict != verdict) continue;
      ++count;
      rows += fmt::format("<tr><td>{}</td><td><a href=\"#case-{}\">{}</a></td><td>{}</td></tr>\n", badge(verdict),
                          escape(one.what->name), escape(one.what->clause), escape(one.reason));
    }
    for (const RuleResult& rule : report.rules) {
      if (rule.verdict != verdict) continue;
      ++count;
      rows += fmt::format("<tr><td>{}</td><td><a href=\"#rules\">{}</a></td><td>{}</td></tr>\n", badge(verdict),
                          escape(rule.rule->clause), escape(rule.first ? rule.first->message : std::string()));
    }
  }
  if (count == 0) return void(fmt::format_to(out, "<p>There are none.</p>\n"));
  fmt::format_to(out, "<table>\n<tbody>\n{}</tbody>\n</table>\n", rows);
}

void put_also(HtmlOut out, const Case& one) {
  if (one.also.empty()) return;
  fmt::format_to(out, "<p class=\"dim\">The same reaction shows");
  for (const std::string_view clause : one.also)
    fmt::format_to(out, "{} <span title=\"{}\">{}</span>", clause == one.also.front() ? "" : ",",
                   escape(demand_of(clause)), escape(clause));
  fmt::format_to(out, ".</p>\n");
}

// What a fold that is shut says of itself.
std::string head_of(const CaseResult& one) {
  std::string text = badge(one.verdict) + ' ' + escape(one.what->name);
  if (one.verdict == Verdict::kNotApplicable) return text + ": " + escape(one.reason);
  return text + fmt::format(" <span class=\"dim\">{} ms</span>", one.took.count());
}

void put_case(HtmlOut out, const Report& report, const CaseResult& one) {
  const bool open = one.verdict == Verdict::kFail || one.verdict == Verdict::kWarn;
  fmt::format_to(out, "<details class=\"case {}\" id=\"case-{}\"{}><summary>{}</summary>\n<p>{}</p>\n",
                 class_of(one.verdict), escape(one.what->name), open ? " open=\"open\"" : "", head_of(one),
                 escape(one.what->what));
  if (!one.reason.empty() && one.verdict != Verdict::kNotApplicable)
    fmt::format_to(out, "<p class=\"reason\">{}</p>\n", escape(one.reason));
  put_also(out, *one.what);
  fmt::format_to(out, "{}", exchanges_of(one));
  if (open) fmt::format_to(out, "<p class=\"dim\">Again: <code>{}</code></p>\n", escape(again(report, one.what->name)));
  fmt::format_to(out, "</details>\n");
}

void put_section(HtmlOut out, const Report& report, const SectionGroup& group, const OfSection& section) {
  fmt::format_to(out, "<h2 id=\"{}\">{}</h2>\n", anchor_of(group), escape(name_of(group)));
  for (const OfClause& one : section) {
    fmt::format_to(out, "<h3>{} <span class=\"dim\">{}</span></h3>\n<p class=\"demand\">{}</p>\n", escape(one.clause),
                   escape(place_of_clause(one.clause)), escape(demand_of(one.clause)));
    for (const CaseResult* const result : one.cases) put_case(out, report, *result);
  }
}

void put_rule(HtmlOut out, const Report& report, const RuleResult& rule) {
  fmt::format_to(out, "<tr><td>{}</td><td>{}</td><td>{}: {}", badge(rule.verdict), escape(rule.rule->clause),
                 escape(rule.rule->section), escape(rule.rule->sentence));
  if (const CaseResult* const one = case_of(report, rule); one != nullptr) {
    fmt::format_to(out, "<br/>Broken {} time{}, first in <a href=\"#case-{}\">{}</a>, connection {}: {}", rule.breaches,
                   rule.breaches == 1 ? "" : "s", escape(one->what->name), escape(one->what->name),
                   rule.exchange_index + 1, escape(rule.first->message));
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
  put_trouble(out, report);
  for (const auto& [group, section] : in_sections(report)) put_section(out, report, group, section);
  put_rules(out, report);
  return text + std::string(kPageEnd);
}

}  // namespace weft::tools::probing
