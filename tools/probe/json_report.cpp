// SPDX-License-Identifier: Apache-2.0
#include "tools/probe/json_report.hpp"

#include <algorithm>

#include "common/json.hpp"
#include "common/text.hpp"
#include "tools/cli/version.hpp"
#include "tools/probe/counts.hpp"
#include "tools/probe/outcome.hpp"
#include "tools/probe/spot.hpp"

namespace weft::tools::probing {
namespace {

// Limits of one exchange; the captures contain all of it.
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
  for (const Verdict verdict : kVerdicts) json.put(key_of(verdict), counts.of(verdict));
  json.end();
}

void put_clause(JsonWriter& json, std::string_view id) {
  json.put("clause", id);
  const ClauseText* const clause = find_clause(id);
  if (clause == nullptr) return;
  json.put("rfc", clause->rfc).put("section", clause->section).put("level", clause->level);
  json.put("demand", clause->sentence);
}

void put_part(JsonWriter& json, const Part& part, std::size_t room) {
  json.begin_object().put("from", part.from_peer ? "peer" : "prober");
  json.put("kind", part.kind == Part::kOctets ? "octets" : part.kind == Part::kFin ? "fin" : "reset");
  const auto at = std::chrono::duration_cast<std::chrono::microseconds>(part.at).count();
  json.put("at_us", std::max<decltype(at)>(0, at));
  if (part.kind == Part::kOctets) {
    const Bytes written = Bytes(part.octets).first(std::min(part.octets.size(), room));
    json.put("size", part.octets.size()).put("octets", written);
  }
  json.end();
}

void put_exchange(JsonWriter& json, const Exchange& exchange) {
  json.begin_object().put("prober", exchange.prober.to_string()).put("peer", exchange.peer.to_string());
  json.put("opened_by", exchange.peer_opened ? "peer" : "prober");
  json.put("prober_breaks_startup", exchange.prober_breaks_startup).put("cut", exchange.cut);
  json.begin_array("parts");
  std::size_t room = kOctetsWritten;
  std::size_t parts = 0;
  for (const Part& part : exchange.parts) {
    if (parts++ == kPartsWritten) break;
    put_part(json, part, room);
    room -= std::min(room, part.octets.size());
  }
  json.end().put("parts_left_out", exchange.parts.size() - std::min(exchange.parts.size(), kPartsWritten));
  json.end();
}

void put_spot(JsonWriter& json, const std::optional<Spot>& spot) {
  if (!spot) return;
  json.begin_object("about").put("exchange", spot->exchange).put("from", spot->by_peer ? "peer" : "prober");
  json.put("fpdu", spot->fpdu).put("fpdu_offset", spot->begin).put("octet", spot->octet).end();
}

// Writes the marks of several runs, and of --known.
void put_marks(JsonWriter& json, const Verdicts& verdicts, const std::optional<std::string>& known) {
  json.put("known", known);
  Counts counts;
  std::ranges::copy(verdicts, counts.by_verdict.begin());
  if (counts.all() == 0) return;
  json.put("flaky", probe::is_flaky(verdicts));
  put_counts(json, "verdicts", counts);
}

void put_case(JsonWriter& json, const Report& report, const CaseResult& one) {
  json.begin_object().put("name", one.what->name);
  put_clause(json, one.what->clause);
  json.put("also", one.what->also);
  json.put("what", one.what->what).put("verdict", key_of(one.verdict)).put("reason", one.reason);
  json.put("took_ms", one.took.count()).put("again", again(report, one.what->name));
  if (one.what->planned) json.put("plan", probe::rule_of(*one.what));
  if (is_trouble(one.verdict)) put_spot(json, spot_of(one));
  put_marks(json, one.verdicts, one.known);
  json.begin_array("exchanges");
  for (const Exchange& exchange : one.exchanges) put_exchange(json, exchange);
  json.end().end();
}

void put_rule(JsonWriter& json, const Report& report, const RuleResult& rule) {
  json.begin_object().put("clause", rule.rule->clause).put("section", rule.rule->section);
  json.put("rule", rule.rule->sentence).put("verdict", key_of(rule.verdict)).put("breaches", rule.breaches);
  put_marks(json, rule.verdicts, rule.known);
  if (const CaseResult* const one = case_of(report, rule); one != nullptr) {
    put_spot(json, spot_of(report, rule));
    json.begin_object("first").put("case", one->what->name).put("exchange", rule.exchange_index);
    json.put("stream_offset", rule.first->stream_offset).put("message", rule.first->message);
    json.end();
  }
  json.end();
}

}  // namespace

std::string json_of(const Report& report, bool strict) {
  JsonWriter json;
  json.put("target", report.target).put("profile", report.profile).put("role", role_of(report));
  json.put("mpa_revision", report.revision).put("enhanced", report.enhanced);
  json.put("one_at_a_time", report.one_at_a_time);
  if (!report.title.empty()) json.put("title", report.title);
  json.put("depth", name(report.depth)).put("runs", report.runs);
  json.put("seed", report.seed).put("started", time_text(report.started)).put("version", version_text());
  json.put("took_ms", report.took.count()).put("interrupted", report.interrupted);
  json.put("round_trip_us", report.round_trip.count());
  json.put("quiet_ms", report.quiet.count());
  json.put("strict", strict).put("verdict", word_of(report, strict));
  if (report.gone) {
    json.begin_object("peer_gone").put("after", report.gone->after == nullptr ? "" : report.gone->after->name);
    json.put("cases_finished", report.gone->finished).put("reason", report.gone->reason).end();
  }
  put_counts(json, "case_counts", cases_of(report));
  put_counts(json, "rule_counts", rules_of(report));
  json.begin_object("level_counts");
  put_counts(json, "must", of_level(report, Level::kMust));
  put_counts(json, "should", of_level(report, Level::kShould));
  json.end();
  if (!report.known_absent.empty()) {
    json.begin_array("known_absent");
    for (const AbsentFinding& one : report.known_absent) {
      json.begin_object().put("id", one.id).put("end", one.end).put("reason", one.reason);
      json.put("line", one.line).end();
    }
    json.end();
  }
  if (const auto rules = out_of_time(report); !rules.empty()) {
    json.begin_array("out_of_time");
    for (const OutOfTime& one : rules) {
      json.begin_object().put("plan", one.rule).put("combinations", one.combinations);
      json.put("not_run", one.not_run).end();
    }
    json.end();
  }
  json.begin_array("cases");
  for (const CaseResult& one : report.cases) put_case(json, report, one);
  json.end().begin_array("rules");
  for (const RuleResult& rule : report.rules) put_rule(json, report, rule);
  json.end();
  return json.finish();
}

}  // namespace weft::tools::probing
