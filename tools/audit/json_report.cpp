// SPDX-License-Identifier: Apache-2.0
#include "conformance/text.hpp"
#include "rdmap/text.hpp"
#include "tools/audit/writings.hpp"
#include "tools/cli/json.hpp"

namespace weft::tools::audit {

using conformance::ConnectionReport;
using conformance::Direction;
using conformance::Finding;
using conformance::hex_digits;
using conformance::Tally;

namespace {

void put_end(JsonWriter& json, std::string_view key, const conformance::ConnectionEnd& end) {
  json.begin_object(key).text("address", end.address).integer("port", end.port).end_object();
}

void put_no_frame(JsonWriter& json, std::string_view key, const conformance::NoFrame& none) {
  json.begin_object(key).text("why", conformance::name(none.why));
  if (none.packet != 0) json.integer("packet", none.packet);
  json.end_object();
}

void put_frame(JsonWriter& json, std::string_view key, const conformance::StartupFacts& frame) {
  json.begin_object(key).integer("packet", frame.packet).integer("revision", frame.revision);
  json.boolean("markers", frame.markers).boolean("crc", frame.crc).boolean("reject", frame.reject);
  json.integer("private_data", frame.private_data.size());
  if (!frame.private_data.empty()) json.text("private_data_octets", hex_digits(frame.private_data));
  if (frame.enhanced) {
    const auto& more = *frame.enhanced;
    json.integer("ird", more.ird).integer("ord", more.ord).boolean("peer_to_peer", more.peer_to_peer);
    json.boolean("rtr_send", more.rtr.send).boolean("rtr_write", more.rtr.write).boolean("rtr_read", more.rtr.read);
  }
  json.end_object();
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
    json.begin_object(who(from)).integer("fpdus", tally.fpdus).integer("bad_crcs", tally.bad_crcs);
    if (tally.framing) json.boolean("crc", tally.framing->crc).boolean("markers", tally.framing->markers);
    json.integer("streaming_octets", tally.streaming_octets).boolean("complete", !tally.mid_stream);
    json.integer("skipped_octets", tally.octets_skipped).end_object();
  }
  json.text("rtr", mpa::name(report.rtr)).end_object();
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
      json.integer("messages", count.messages)
          .integer("segments", count.segments)
          .integer("octets", count.octets)
          .end_object();
    }
    json.end_object();
  }
  json.end_object();
}

void put_finding(JsonWriter& json, const Finding& finding) {
  json.begin_object().text("clause", finding.rule->clause).text("severity", conformance::name(finding.rule->severity));
  json.text("layer", conformance::name(finding.rule->layer)).text("section", finding.rule->section);
  json.integer("connection", finding.connection).text("direction", who(finding.direction));
  json.integer("packet", finding.place.packet).integer("offset", finding.place.octet);
  json.integer("stream_offset", finding.stream_offset)
      .text("message", finding.message)
      .text("rule", finding.rule->sentence);
  if (finding.known) json.text("known", *finding.known);
  if (!finding.excerpt.octets.empty()) {
    json.begin_object("excerpt")
        .integer("stream_offset", finding.excerpt.stream_offset)
        .text("octets", hex_digits(finding.excerpt.octets));
    json.integer("mark", finding.excerpt.mark).integer("marked", finding.excerpt.marked).end_object();
  }
  json.end_object();
}

void put_left_out(JsonWriter& json, const LeftOut& left_out) {
  json.begin_object("left_out").integer("connections", left_out.connections).begin_array("findings");
  for (const Broken& one : left_out.broken) {
    json.begin_object().text("clause", one.rule->clause).text("severity", conformance::name(one.rule->severity));
    json.integer("count", one.count)
        .integer("known", one.known)
        .integer("connection", one.connection)
        .integer("packet", one.place.packet)
        .end_object();
  }
  json.end_array().end_object();
}

void put_tls(JsonWriter& json, const conformance::TlsFacts& facts) {
  json.begin_object("tls");
  if (!facts.cipher.empty()) json.text("cipher", facts.cipher);
  json.boolean("has_secrets", facts.keyed);
  if (!facts.hidden.empty()) json.text("not_decrypted", facts.hidden);
  json.end_object();
}

void put_without_iwarp(JsonWriter& json, const Report& report) {
  json.begin_object("tls_without_iwarp").integer("connections", report.tls_connections).begin_array("first");
  for (const conformance::TlsReport& one : report.tls) {
    json.begin_object().integer("id", one.info.number).begin_object("endpoints");
    put_end(json, "first", one.info.first);
    put_end(json, "second", one.info.second);
    json.end_object().integer("first_packet", one.info.first_packet).integer("last_packet", one.info.last_packet);
    put_tls(json, one.facts);
    json.end_object();
  }
  json.end_array().end_object();
}

void put_connection(JsonWriter& json, const ConnectionReport& connection) {
  json.begin_object().integer("id", connection.info.number);
  if (!connection.info.path.empty()) json.text("path", connection.info.path);
  json.begin_object("endpoints");
  put_end(json, "initiator", connection.end(Direction::kFromInitiator));
  put_end(json, "responder", connection.end(Direction::kFromResponder));
  json.end_object().boolean("roles_known", connection.roles_known);
  json.integer("first_packet", connection.info.first_packet).integer("last_packet", connection.info.last_packet);
  if (connection.tls) put_tls(json, *connection.tls);
  put_mpa(json, connection);
  put_messages(json, connection);
  json.begin_array("suppressed");
  for (const auto& more : connection.suppressed) {
    json.begin_object()
        .text("clause", more.rule->clause)
        .text("direction", who(more.direction))
        .integer("count", more.count)
        .boolean("known", more.known)
        .end_object();
  }
  json.end_array().end_object();
}

// Nothing without --known.
void put_absent(JsonWriter& json, const Known& known) {
  if (known.findings.empty()) return;
  json.begin_array("known_absent");
  for (const KnownFinding* one : known.absent) {
    json.begin_object().text("id", one->id);
    if (!one->end.empty()) json.text("end", one->end);
    json.text("reason", one->reason).integer("line", one->line).end_object();
  }
  json.end_array();
}

// The members of the object that the caller has opened.
void put_report(JsonWriter& json, const Report& report) {
  json.text("file", report.file).integer("packets", report.packets).integer("tcp_connections", report.tcp_connections);
  if (!report.damage.empty()) json.text("damage", report.damage);
  json.begin_array("connections");
  for (const ConnectionReport& connection : report.connections) put_connection(json, connection);
  json.end_array().begin_array("findings");
  for (const ConnectionReport& connection : report.connections) {
    for (const Finding& finding : connection.findings) put_finding(json, finding);
  }
  json.end_array();
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
    json.end_object();
  }
  json.end_array();
  put_absent(json, known);
  return json.finish();
}

}  // namespace weft::tools::audit
