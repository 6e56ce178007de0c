// SPDX-License-Identifier: Apache-2.0
#include "tools/probe/html_page.hpp"

#include <fmt/format.h>

#include <iterator>

#include "tools/cli/markup.hpp"
#include "tools/cli/version.hpp"
#include "tools/probe/counts.hpp"
#include "tools/probe/html_style.hpp"
#include "tools/probe/outcome.hpp"

namespace weft::tools::probing {
namespace {

using PageOut = std::back_insert_iterator<std::string>;

void put_fact(PageOut out, std::string_view name, std::string_view value) {
  fmt::format_to(out, "<dt>{}</dt><dd>{}</dd>\n", name, escape(value));
}

void put_facts(PageOut out, const Report& report) {
  fmt::format_to(out, "<dl>\n");
  put_fact(out, "Target", report.target);
  put_fact(out, "Role of the target", fmt::format("MPA {}", role_of(report)));
  put_fact(out, "Startup of the target", startup_of(report));
  put_fact(out, "Profile", report.profile);
  put_fact(out, "Date", time_text(report.started));
  put_fact(out, "Duration", fmt::format("{}.{:03} s", report.took.count() / 1000, report.took.count() % 1000));
  put_fact(out, "Depth", name(report.depth));
  if (report.runs > 1) put_fact(out, "Runs", std::to_string(report.runs));
  put_fact(out, "Seed", std::to_string(report.seed));
  put_fact(out, "Prober", version_text());
  fmt::format_to(out, "</dl>\n");
}

void put_cells(PageOut out, const Counts& counts) {
  for (const Verdict verdict : kVerdicts) {
    const std::string_view kind = counts.of(verdict) == 0 ? std::string_view("none") : class_of(verdict);
    fmt::format_to(out, "<td class=\"{}\">{}</td>", kind, counts.of(verdict));
  }
  fmt::format_to(out, "</tr>\n");
}

void put_sections(PageOut out, const Report& report) {
  fmt::format_to(out,
                 "<table>\n<thead><tr><th>Cases by section</th><th>pass</th><th>warn</th><th>fail</th>"
                 "<th>not applicable</th></tr></thead>\n<tbody>\n");
  for (const auto& [group, counts] : by_section(report)) {
    fmt::format_to(out, "<tr><td><a href=\"#{}\">{}</a></td>", anchor_of(group), escape(name_of(group)));
    put_cells(out, counts);
  }
  for (const Level level : kLevels) {
    fmt::format_to(out, "<tr><td>Cases and rules of {}</td>", words_of(level));
    put_cells(out, of_level(report, level));
  }
  fmt::format_to(out, "<tr><td>All cases</td>");
  put_cells(out, cases_of(report));
  fmt::format_to(out, "<tr><td><a href=\"#rules\">Rules that the target's octets were held against</a></td>");
  put_cells(out, rules_of(report));
  fmt::format_to(out, "</tbody>\n</table>\n");
}

}  // namespace

std::string_view class_of(Verdict verdict) noexcept {
  return verdict == Verdict::kNotApplicable ? std::string_view("na") : name(verdict);
}

std::string badge(Verdict verdict) {
  return fmt::format("<b class=\"badge {}\">{}</b>", class_of(verdict), name(verdict));
}

std::string anchor_of(const SectionGroup& group) { return fmt::format("section-{}-{}", group.layer, group.section); }

std::string page_start(const Report& report, bool strict) {
  std::string text;
  PageOut out(text);
  const std::string title = escape(report.title.empty() ? "iWARP conformance of " + report.target : report.title);
  // A browser is told to load and to run nothing, whatever stands below.
  fmt::format_to(
      out,
      "<!DOCTYPE html>\n<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<title>{}</title>\n"
      "<style>\n{}</style>\n</head>\n<body>\n<main>\n<h1>{}</h1>\n",
      title, kStyle, title);
  put_facts(out, report);
  fmt::format_to(out, "<p class=\"verdict\">{}</p>\n", escape(overall_line(report, strict, Palette())));
  put_sections(out, report);
  return text;
}

}  // namespace weft::tools::probing
