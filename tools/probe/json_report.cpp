// SPDX-License-Identifier: Apache-2.0
#include "tools/probe/json_report.hpp"

#include <algorithm>

#include "conformance/text.hpp"
#include "tools/cli/json.hpp"
#include "tools/cli/version.hpp"
#include "tools/probe/counts.hpp"
#include "tools/probe/outcome.hpp"
#include "tools/probe/spot.hpp"

namespace weft::tools::probing {
namespace {

// Of one exchange. The captures have all of it.
constexpr std::size_t kOctetsWritten = 64U << 10U;
constexpr std::size_t kPartsWritten = 1000;

// "not_applicable": names of members have no blanks.
std::string key_of(Verdict verdict) {
  std::string key(name(verdict));
  std::ranges::replace(key, ' ', '_');
  return key;
}

std::string_view word_of(const Report& report, bool strict) {
  switch (overall_of(report, strict)) {
    case Overall::kNoFailure: return "no_failure";
    case Overall::kNothing: return "nothing_judged";
    case Overall::kWarnings: return "warnings";
    case Overall::kPeerGone: return "peer_gone";
    case Overall::kFailures: return "failures";
  }
  return {};
}

void put_counts(JsonWriter& json, std::string_view key, const Counts& counts) {
  json.begin_object(key);
  for (const Verdict verdict : kVerdicts) json.integer(key_of(verdict), counts.of(verdict));
  json.end_object();
}

void put_clause(JsonWriter& json, std::string_view id) {
  json.text("clause", id);
  const ClauseText* const clause = find_clause(id);
  if (clause == nullptr) return;
  json.text("rfc", clause->rfc).text("section", clause->section).text("level", clause->level);
  json.text("demand", clause->sentence);
}

void put_part(JsonWriter& json, const Part& part, std::size_t room) {
  json.begin_object().text("from", part.from_peer ? "peer" : "prober");
  json.text("kind", part.kind == Part::kOctets ? "octets" : part.kind == Part::kFin ? "fin" : "reset");
  const auto at = std::chrono::duration_cast<std::chrono::microseconds>(part.at).count();
  json.integer("at_us", static_cast<std::uint64_t>(std::max<decltype(at)>(0, at)));
  if (part.kind == Part::kOctets) {
    const Bytes written = Bytes(part.octets).first(std::min(part.octets.size(), room));
    json.integer("size", part.octets.size()).text("octets", conformance::hex_digits(written));
  }
  json.end_object();
}

void put_exchange(JsonWriter& json, const Exchange& exchange) {
  json.begin_object().text("prober", exchange.prober.to_string()).text("peer", exchange.peer.to_string());
  json.text("opened_by", exchange.peer_opened ? "peer" : "prober");
  json.boolean("prober_breaks_startup", exchange.prober_breaks_startup).boolean("cut", exchange.cut);
  json.begin_array("parts");
  std::size_t room = kOctetsWritten;
  std::size_t parts = 0;
  for (const Part& part : exchange.parts) {
    if (parts++ == kPartsWritten) break;
    put_part(json, part, room);
    room -= std::min(room, part.octets.size());
  }
  json.end_array().integer("parts_left_out", exchange.parts.size() - std::min(exchange.parts.size(), kPartsWritten));
  json.end_object();
}

void put_spot(JsonWriter& json, const std::optional<Spot>& spot) {
  if (!spot) return;
  json.begin_object("about").integer("exchange", spot->exchange).text("from", spot->by_peer ? "peer" : "prober");
  json.integer("fpdu", spot->fpdu).integer("fpdu_offset", spot->begin).integer("octet", spot->octet).end_object();
}

// Of several runs, and of --known.
void put_marks(JsonWriter& json, const Verdicts& verdicts, const std::optional<std::string>& known) {
  if (known) json.text("known", *known);
  Counts counts;
  std::ranges::copy(verdicts, counts.by_verdict.begin());
  if (counts.all() == 0) return;
  json.boolean("flaky", probe::is_flaky(verdicts));
  put_counts(json, "verdicts", counts);
}

void put_case(JsonWriter& json, const Report& report, const CaseResult& one) {
  json.begin_object().text("name", one.what->name);
  put_clause(json, one.what->clause);
  json.texts("also", std::vector<std::string>(one.what->also.begin(), one.what->also.end()));
  json.text("what", one.what->what).text("verdict", key_of(one.verdict)).text("reason", one.reason);
  json.integer("took_ms", static_cast<std::uint64_t>(one.took.count())).text("again", again(report, one.what->name));
  if (one.what->planned) json.text("plan", probe::rule_of(*one.what));
  if (is_trouble(one.verdict)) put_spot(json, spot_of(one));
  put_marks(json, one.verdicts, one.known);
  json.begin_array("exchanges");
  for (const Exchange& exchange : one.exchanges) put_exchange(json, exchange);
  json.end_array().end_object();
}

void put_rule(JsonWriter& json, const Report& report, const RuleResult& rule) {
  json.begin_object().text("clause", rule.rule->clause).text("section", rule.rule->section);
  json.text("rule", rule.rule->sentence).text("verdict", key_of(rule.verdict)).integer("breaches", rule.breaches);
  put_marks(json, rule.verdicts, rule.known);
  if (const CaseResult* const one = case_of(report, rule); one != nullptr) {
    put_spot(json, spot_of(report, rule));
    json.begin_object("first").text("case", one->what->name).integer("exchange", rule.exchange_index);
    json.integer("stream_offset", rule.first->stream_offset).text("message", rule.first->message);
    json.end_object();
  }
  json.end_object();
}

}  // namespace

std::string json_of(const Report& report, bool strict) {
  JsonWriter json;
  json.text("target", report.target).text("profile", report.profile).text("role", role_of(report));
  json.integer("mpa_revision", report.revision).boolean("enhanced", report.enhanced);
  if (!report.title.empty()) json.text("title", report.title);
  json.text("depth", name(report.depth)).integer("runs", report.runs);
  json.integer("seed", report.seed).text("started", time_text(report.started)).text("version", version_text());
  json.integer("took_ms", static_cast<std::uint64_t>(report.took.count())).boolean("interrupted", report.interrupted);
  json.integer("round_trip_us", static_cast<std::uint64_t>(report.round_trip.count()));
  json.integer("quiet_ms", static_cast<std::uint64_t>(report.quiet.count()));
  json.boolean("strict", strict).text("verdict", word_of(report, strict));
  if (report.gone) {
    json.begin_object("peer_gone").text("after", report.gone->after == nullptr ? "" : report.gone->after->name);
    json.integer("cases_finished", report.gone->finished).text("reason", report.gone->reason).end_object();
  }
  put_counts(json, "case_counts", cases_of(report));
  put_counts(json, "rule_counts", rules_of(report));
  json.begin_object("level_counts");
  put_counts(json, "must", of_level(report, Level::kMust));
  put_counts(json, "should", of_level(report, Level::kShould));
  json.end_object();
  if (!report.known_absent.empty()) {
    json.begin_array("known_absent");
    for (const AbsentFinding& one : report.known_absent) {
      json.begin_object().text("id", one.id).text("end", one.end).text("reason", one.reason);
      json.integer("line", one.line).end_object();
    }
    json.end_array();
  }
  if (const auto rules = out_of_time(report); !rules.empty()) {
    json.begin_array("out_of_time");
    for (const OutOfTime& one : rules) {
      json.begin_object().text("plan", one.rule).integer("combinations", one.combinations);
      json.integer("not_run", one.not_run).end_object();
    }
    json.end_array();
  }
  json.begin_array("cases");
  for (const CaseResult& one : report.cases) put_case(json, report, one);
  json.end_array().begin_array("rules");
  for (const RuleResult& rule : report.rules) put_rule(json, report, rule);
  json.end_array();
  return json.finish();
}

}  // namespace weft::tools::probing
