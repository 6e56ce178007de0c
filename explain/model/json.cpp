// SPDX-License-Identifier: Apache-2.0
#include "explain/model/json.hpp"

#include <fmt/format.h>

#include "conformance/rule.hpp"
#include "explain/model/clauses.hpp"
#include "explain/model/json_parts.hpp"

namespace weft::explain {
namespace {

// Up to nanoseconds, without the zeros at the end.
void put_time(JsonWriter& json, std::int64_t nanoseconds) {
  const bool negative = nanoseconds < 0;
  const auto size = static_cast<std::uint64_t>(negative ? -nanoseconds : nanoseconds);
  std::string text = fmt::format("{}{}.{:09}", negative ? "-" : "", size / 1'000'000'000, size % 1'000'000'000);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  json.key("time").raw(text);
}

void put_names(JsonWriter& json, const Glossary& glossary) {
  json.begin_array("names");
  for (const FieldInfo& info : glossary.names()) {
    json.begin_array().value(info.layer).value(info.name).begin_array();
    for (const auto clause : info.clauses()) json.value(clause);
    json.end().value(info.reference);
    if (!info.sentence.empty()) json.value(info.sentence);
    json.end();
  }
  json.end().begin_array("strings");
  for (const std::string& text : glossary.texts()) json.value(text);
  json.end();
}

void put_clauses(JsonWriter& json, const Model& model) {
  json.begin_object("clauses");
  for (const auto& [id, clause] : clauses_of(model)) {
    json.begin_object(id).key("rfc").raw(clause.rfc);
    json.put("section", clause.section).put("text", clause.text).end();
  }
  json.end();
}

void put_packets(JsonWriter& json, const std::vector<PacketHead>& packets) {
  json.begin_array("packets");
  for (const PacketHead& packet : packets) {
    json.begin_object().put("number", packet.number);
    json.put("octets", packet.octets);
    put_fields(json, packet.fields);
    json.end();
  }
  json.end();
}

void put_row(JsonWriter& json, const Row& row) {
  json.begin_object().put("kind", name(row.kind)).put("from", name(row.from));
  put_time(json, row.time);
  json.put("packet", row.packet).put("words", row.words).put("lower", row.head);
  if (row.kind == RowKind::kStartup || row.kind == RowKind::kFpdu) put_wire(json, row.wire);
  json.put("message", row.message);
  put_effect(json, row.effect);
  put_numbers(json, "findings", row.findings);
  json.end();
}

void put_messages(JsonWriter& json, const std::vector<MessageView>& messages) {
  json.begin_array("messages");
  for (const MessageView& message : messages) {
    json.begin_object().put("what", message.what).put("octets", message.octets);
    put_numbers(json, "rows", message.rows);
    json.put("answers", message.answers);
    if (message.rtr) json.put("rtr", true);
    json.end();
  }
  json.end();
}

void put_states(JsonWriter& json, const std::vector<EndState>& states) {
  json.begin_array("states");
  for (const EndState& state : states) {
    json.begin_object();
    put_numbers(json, "msn", state.msn);
    put_numbers(json, "mo", state.mo);
    json.put("ird", state.ird).put("ord", state.ord).put("state", state.state).end();
  }
  json.end();
}

void put_findings(JsonWriter& json, const std::vector<FindingView>& findings) {
  json.begin_array("findings");
  for (const FindingView& view : findings) {
    const auto& finding = view.finding;
    json.begin_object().put("clause", finding.rule->clause).put("severity", conformance::name(finding.rule->severity));
    json.put("sentence", finding.rule->sentence).put("message", finding.message).put("packet", finding.place.packet);
    if (finding.direction) json.put("from", name(*finding.direction));
    json.put("row", view.row);
    if (view.size != 0) json.put("at", view.at).put("size", view.size);
    json.end();
  }
  json.end();
}

void put_connection(JsonWriter& json, const Connection& connection) {
  json.begin_object().put("id", connection.id).put("initiator", connection.initiator);
  json.put("responder", connection.responder).put("roles_known", connection.roles_known);
  const auto& request = connection.settled.frame(Direction::kFromInitiator);
  const auto& reply = connection.settled.frame(Direction::kFromResponder);
  json.put("revision", reply ? reply->frame.revision : request ? request->frame.revision : 0);
  json.put("crc", connection.settled.crc).begin_object("markers");
  json.put("initiator", connection.settled.markers[0]).put("responder", connection.settled.markers[1]).end();
  json.begin_array("rows");
  for (const Row& row : connection.rows) put_row(json, row);
  json.end();
  put_messages(json, connection.messages);
  put_states(json, connection.states);
  put_memory(json, connection);
  put_findings(json, connection.findings);
  put_laboratory(json, connection);
  json.end();
}

}  // namespace

std::string to_json(const Model& model) {
  JsonWriter json(JsonForm::kInScript);
  json.put("weft", WEFT_VERSION).put("source", model.source).begin_array("notes");
  for (const std::string& note : model.notes) json.value(note);
  json.end();
  put_names(json, model.glossary);
  put_clauses(json, model);
  put_packets(json, model.packets);
  json.begin_array("connections");
  for (const Connection& connection : model.connections) put_connection(json, connection);
  return json.finish();
}

}  // namespace weft::explain
