// SPDX-License-Identifier: Apache-2.0
// Text of any octets (file names, what a peer sent, comments) in the reports of weft audit and weft probe: JSON parses,
// XML is well formed, and what goes to a terminal moves no cursor.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "common/shown_text.hpp"
#include "tools/audit/writings.hpp"
#include "tools/probe/html_report.hpp"
#include "tools/probe/json_report.hpp"
#include "tools/probe/junit_report.hpp"
#include "tools/probe/text_report.hpp"

namespace {

using weft::tools::KnownFindings;
using weft::tools::Palette;

void require(bool condition) {
  if (!condition) std::abort();
}

// Each piece has its length before it.
std::vector<std::string> pieces_of(const std::uint8_t* data, std::size_t size) {
  std::vector<std::string> pieces;
  while (size > 0) {
    const std::size_t length = std::min<std::size_t>(data[0], size - 1);
    pieces.emplace_back(reinterpret_cast<const char*>(data) + 1, length);
    data += length + 1;
    size -= length + 1;
  }
  pieces.resize(6);
  return pieces;
}

// UTF-8 without the characters that XML 1.0 excludes (section 2.2), and without control characters but line feeds.
void require_text(const std::string& text) {
  static_cast<void>(nlohmann::json(text).dump());  // throws where it is no UTF-8
  for (const char c : text) require((static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) || c == '\n');
  require(text.find("\xEF\xBF\xBE") == std::string::npos && text.find("\xEF\xBF\xBF") == std::string::npos);
}

// Up to the quote, without "<", and with "&" in references only. The quote goes, too.
void take_value(std::string_view& text) {
  const std::size_t end = text.find('"');
  require(end != std::string_view::npos);
  const std::string_view value = text.substr(0, end);
  require(value.find('<') == std::string_view::npos);
  for (std::size_t at = value.find('&'); at != std::string_view::npos; at = value.find('&', at + 1)) {
    const std::size_t semicolon = value.find(';', at);
    require(semicolon != std::string_view::npos && semicolon - at <= 6);
  }
  text.remove_prefix(end + 1);
}

// Elements are closed in their order, attributes are quoted: what XML of this kind needs.
void require_xml(const std::string& all) {
  require_text(all);
  std::string_view text = all;
  require(text.starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"));
  text.remove_prefix(text.find('\n') + 1);
  std::vector<std::string> open;
  while (!text.empty()) {
    const std::size_t tag = std::min(text.find('<'), text.size());
    require(text.substr(0, tag).find('>') == std::string_view::npos);
    text.remove_prefix(tag);
    if (text.empty()) break;
    const bool closes = text.starts_with("</");
    text.remove_prefix(closes ? 2 : 1);
    const std::size_t end = text.find_first_of(" />");
    require(end != std::string_view::npos && end > 0);
    const std::string name(text.substr(0, end));
    text.remove_prefix(end);
    if (closes) {
      require(!open.empty() && open.back() == name && text.starts_with('>'));
      open.pop_back();
    } else {
      while (text.starts_with(' ')) {
        const std::size_t quote = text.find("=\"");
        require(quote != std::string_view::npos);
        text.remove_prefix(quote + 2);
        take_value(text);
      }
      if (text.starts_with('/'))
        text.remove_prefix(1);
      else
        open.push_back(name);
      require(text.starts_with('>'));
    }
    text.remove_prefix(1);
  }
  require(open.empty());
}

void require_json(const std::string& text) {
  require_text(text);
  require(nlohmann::json::accept(text));
}

void check_audit(const std::vector<std::string>& pieces) {
  using namespace weft::tools::audit;
  using weft::conformance::Direction;
  const auto* const rule = weft::conformance::all_rules().front();
  std::string reason = pieces[3];
  std::erase(reason, '\n');
  auto known = KnownFindings::parse(std::string(rule->clause) + " initiator #" + reason, pieces[4],
                                    [](std::string_view) { return true; });
  require(known.has_value());
  Report report{.file = weft::shown_text(pieces[0]), .packets = 1, .damage = weft::shown_text(pieces[1])};
  for (const Direction from : {Direction::kFromInitiator, Direction::kFromResponder}) {
    weft::conformance::ConnectionReport connection;
    connection.info.path = "VLAN 5";
    connection.findings.push_back({.rule = rule, .direction = from, .message = pieces[2]});
    report.connections.push_back(connection);
  }
  const auto all = [&] {
    const Known of_run{.findings = *known, .absent = known->absent([](std::string_view) { return true; })};
    const std::vector<Report> both{report, report};
    for (const std::span<const Report> reports : {std::span(both), std::span(both).first(1)}) {
      require_json(json_of(reports, of_run));
      require_xml(junit_of(reports, false, of_run));
    }
    require_text(head_of(report) + summary_of(report, false, Palette()) + text_of_absent(of_run));
  };
  all();
  for (auto& connection : report.connections) mark_known(connection, *known);
  all();
}

void check_probe(const std::vector<std::string>& pieces) {
  using namespace weft::tools::probing;
  static const Case one = weft::probe::all_cases().front();
  Report report{.target = pieces[0], .profile = pieces[1]};
  report.cases.push_back({.what = &one, .verdict = Verdict::kFail, .reason = pieces[2]});
  report.cases.push_back({.what = &one, .verdict = Verdict::kNotApplicable, .reason = pieces[3]});
  report.gone = weft::probe::PeerGone{.after = &one, .finished = 1, .reason = pieces[4]};
  require_json(json_of(report, true));
  require_xml(junit_of(report, true));
  require_text(text_of(report, true, Palette()));
  require_text(html_of(report, true));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto pieces = pieces_of(data, size);
  check_audit(pieces);
  check_probe(pieces);
  return 0;
}
