// SPDX-License-Identifier: Apache-2.0
#include "common/json.hpp"
#include "common/text.hpp"
#include "rdmap/text.hpp"
#include "tools/audit/writings.hpp"

namespace weft::tools::audit {

using conformance::ConnectionReport;
using conformance::Direction;
using conformance::Finding;
using conformance::Tally;

namespace {

void put_end(JsonWriter& json, std::string_view key, const conformance::ConnectionEnd& end) {
  json.begin_object(key).put("address", end.address).put("port", end.port).end();
}

void put_no_frame(JsonWriter& json, std::string_view key, const conformance::NoFrame& none) {
  json.begin_object(key).put("why", conformance::name(none.why));
  if (none.packet != 0) json.put("packet", none.packet);
  json.end();
}

void put_frame(JsonWriter& json, std::string_view key, const conformance::StartupFacts& frame) {
  json.begin_object(key).put("packet", frame.packet).put("revision", frame.revision);
  json.put("markers", frame.markers).put("crc", frame.crc).put("reject", frame.reject);
  json.put("private_data", frame.private_data.size());
  if (!frame.private_data.empty()) json.put("private_data_octets", frame.private_data);
  if (frame.enhanced) {
    const auto& more = *frame.enhanced;
    json.put("ird", more.ird).put("ord", more.ord).put("peer_to_peer", more.peer_to_peer);
    json.put("rtr_send", more.rtr.send).put("rtr_write", more.rtr.write).put("rtr_read", more.rtr.read);
  }
  json.end();
}

void put_mpa(JsonWriter& json, const ConnectionReport& report) {
  json.begin_object("mpa");
  const conformance::Facts& facts = report.facts;
  if (facts.request) put_frame(json, "request", *facts.request);
  if (!facts.request) put_no_frame(json, "no_request", facts.no_request);
  if (facts.reply) put_frame(json, "reply", *facts.reply);
  if (!facts.reply) put_no_frame(json, "no_reply", facts.no_reply);
  for (const Direction from : {Direction::kFromInitiator, Direction::kFromResponder}) {
    const Tally& tally = report.tally(from);
    json.begin_object(who(from)).put("fpdus", tally.fpdus).put("bad_crcs", tally.bad_crcs);
    if (tally.framing) json.put("crc", tally.framing->crc).put("markers", tally.framing->markers);
    json.put("streaming_octets", tally.streaming_octets)
        .put("complete", !tally.mid_stream && coverage_of(tally).whole());
    json.put("skipped_octets", tally.octets_skipped).put("missing_octets", tally.octets_missing);
    json.put("unchecked_octets", tally.octets_unread).end();
  }
  json.put("rtr", mpa::name(report.rtr)).end();
}

void put_messages(JsonWriter& json, const ConnectionReport& report) {
  json.begin_object("messages");
  for (const Direction from : {Direction::kFromInitiator, Direction::kFromResponder}) {
    json.begin_object(who(from));
    const Tally& tally = report.tally(from);
    for (std::size_t opcode = 0; opcode < tally.by_opcode.size(); ++opcode) {
      const auto& count = tally.by_opcode[opcode];
      if (count.segments == 0) continue;
      json.begin_object(rdmap::name(static_cast<std::uint8_t>(opcode)));
      json.put("messages", count.messages).put("segments", count.segments).put("octets", count.octets).end();
    }
    json.end();
  }
  json.end();
}

void put_finding(JsonWriter& json, const Finding& finding) {
  json.begin_object().put("clause", finding.rule->clause).put("severity", conformance::name(finding.rule->severity));
  json.put("layer", conformance::name(finding.rule->layer)).put("section", finding.rule->section);
  json.put("connection", finding.connection).put("direction", who(finding.direction));
  json.put("packet", finding.place.packet).put("offset", finding.place.octet);
  json.put("stream_offset", finding.stream_offset).put("message", finding.message).put("rule", finding.rule->sentence);
  json.put("known", finding.known);
  if (!finding.excerpt.octets.empty()) {
    json.begin_object("excerpt")
        .put("stream_offset", finding.excerpt.stream_offset)
        .put("octets", finding.excerpt.octets);
    json.put("mark", finding.excerpt.mark).put("marked", finding.excerpt.marked).end();
  }
  json.end();
}

void put_left_out(JsonWriter& json, const LeftOut& left_out) {
  json.begin_object("left_out").put("connections", left_out.connections);
  json.put("missing_octets", left_out.coverage.missing).put("unchecked_octets", left_out.coverage.unread);
  json.begin_array("findings");
  for (const Broken& one : left_out.broken) {
    json.begin_object().put("clause", one.rule->clause).put("severity", conformance::name(one.rule->severity));
    json.put("count", one.count)
        .put("known", one.known)
        .put("connection", one.connection)
        .put("packet", one.place.packet)
        .end();
  }
  json.end().end();
}

void put_tls(JsonWriter& json, const conformance::TlsFacts& facts) {
  json.begin_object("tls");
  if (!facts.cipher.empty()) json.put("cipher", facts.cipher);
  json.put("has_secrets", facts.keyed);
  if (!facts.hidden.empty()) json.put("not_decrypted", facts.hidden);
  json.end();
}

void put_without_iwarp(JsonWriter& json, const Report& report) {
  json.begin_object("tls_without_iwarp").put("connections", report.tls_connections).begin_array("first");
  for (const conformance::TlsReport& one : report.tls) {
    json.begin_object().put("id", one.info.number).begin_object("endpoints");
    put_end(json, "first", one.info.first);
    put_end(json, "second", one.info.second);
    json.end().put("first_packet", one.info.first_packet).put("last_packet", one.info.last_packet);
    put_tls(json, one.facts);
    json.end();
  }
  json.end().end();
}

void put_connection(JsonWriter& json, const ConnectionReport& connection) {
  json.begin_object().put("id", connection.info.number);
  if (!connection.info.path.empty()) json.put("path", connection.info.path);
  json.begin_object("endpoints");
  put_end(json, "initiator", connection.end(Direction::kFromInitiator));
  put_end(json, "responder", connection.end(Direction::kFromResponder));
  json.end().put("roles_known", connection.roles_known);
  json.put("first_packet", connection.info.first_packet).put("last_packet", connection.info.last_packet);
  if (connection.tls) put_tls(json, *connection.tls);
  put_mpa(json, connection);
  put_messages(json, connection);
  json.begin_array("suppressed");
  for (const auto& more : connection.suppressed) {
    json.begin_object()
        .put("clause", more.rule->clause)
        .put("direction", who(more.direction))
        .put("count", more.count)
        .put("known", more.known)
        .end();
  }
  json.end().end();
}

// Nothing without --known.
void put_absent(JsonWriter& json, const Known& known) {
  if (known.findings.empty()) return;
  json.begin_array("known_absent");
  for (const KnownFinding* one : known.absent) {
    json.begin_object().put("id", one->id);
    if (!one->end.empty()) json.put("end", one->end);
    json.put("reason", one->reason).put("line", one->line).end();
  }
  json.end();
}

// The members of the object that the caller has opened.
void put_report(JsonWriter& json, const Report& report) {
  json.put("file", report.file).put("packets", report.packets).put("tcp_connections", report.tcp_connections);
  if (!report.damage.empty()) json.put("damage", report.damage);
  json.begin_array("connections");
  for (const ConnectionReport& connection : report.connections) put_connection(json, connection);
  json.end().begin_array("findings");
  for (const ConnectionReport& connection : report.connections) {
    for (const Finding& finding : connection.findings) put_finding(json, finding);
  }
  json.end();
  if (report.left_out.connections != 0) put_left_out(json, report.left_out);
  if (report.tls_connections != 0) put_without_iwarp(json, report);
}

}  // namespace

std::string json_of(std::span<const Report> reports, const Known& known) {
  JsonWriter json;
  if (reports.size() == 1) {
    put_report(json, reports.front());
    put_absent(json, known);
    return json.finish();
  }
  json.begin_array("captures");
  for (const Report& report : reports) {
    json.begin_object();
    put_report(json, report);
    json.end();
  }
  json.end();
  put_absent(json, known);
  return json.finish();
}

}  // namespace weft::tools::audit
