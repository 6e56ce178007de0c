// SPDX-License-Identifier: Apache-2.0
#include "explain/model/json.hpp"

#include <fmt/format.h>

#include "conformance/rule.hpp"
#include "explain/model/clauses.hpp"
#include "explain/model/json_parts.hpp"

namespace weft::explain {
namespace {

// Up to nanoseconds, without the zeros at the end.
void put_time(JsonText& json, std::int64_t nanoseconds) {
  const bool negative = nanoseconds < 0;
  const auto size = static_cast<std::uint64_t>(negative ? -nanoseconds : nanoseconds);
  std::string text = fmt::format("{}{}.{:09}", negative ? "-" : "", size / 1'000'000'000, size % 1'000'000'000);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  json.key("time").raw(text);
}

void put_names(JsonText& json, const Glossary& glossary) {
  json.key("names").begin('[');
  for (const FieldInfo& info : glossary.names()) {
    json.begin('[').value(info.layer).value(info.name).begin('[');
    for (const auto clause : info.clauses()) json.value(clause);
    json.end(']').value(info.reference);
    if (!info.sentence.empty()) json.value(info.sentence);
    json.end(']');
  }
  json.end(']').key("strings").begin('[');
  for (const std::string& text : glossary.texts()) json.value(text);
  json.end(']');
}

void put_clauses(JsonText& json, const Model& model) {
  json.key("clauses").begin('{');
  for (const auto& [id, clause] : clauses_of(model)) {
    json.key(id).begin('{').key("rfc").raw(clause.rfc);
    json.put("section", clause.section).put("text", clause.text).end('}');
  }
  json.end('}');
}

void put_packets(JsonText& json, const std::vector<PacketHead>& packets) {
  json.key("packets").begin('[');
  for (const PacketHead& packet : packets) {
    json.begin('{').put("number", packet.number);
    put_hex(json, "octets", packet.octets);
    put_fields(json, packet.fields);
    json.end('}');
  }
  json.end(']');
}

void put_row(JsonText& json, const Row& row) {
  json.begin('{').put("kind", name(row.kind)).put("from", name(row.from));
  put_time(json, row.time);
  json.put("packet", row.packet).put("words", row.words).put("lower", row.head);
  if (row.kind == RowKind::kStartup || row.kind == RowKind::kFpdu) put_wire(json, row.wire);
  json.put("message", row.message);
  put_effect(json, row.effect);
  put_numbers(json, "findings", row.findings);
  json.end('}');
}

void put_messages(JsonText& json, const std::vector<MessageView>& messages) {
  json.key("messages").begin('[');
  for (const MessageView& message : messages) {
    json.begin('{').put("what", message.what).put("octets", message.octets);
    put_numbers(json, "rows", message.rows);
    json.put("answers", message.answers);
    if (message.rtr) json.put("rtr", true);
    json.end('}');
  }
  json.end(']');
}

void put_states(JsonText& json, const std::vector<EndState>& states) {
  json.key("states").begin('[');
  for (const EndState& state : states) {
    json.begin('{');
    put_numbers(json, "msn", state.msn);
    put_numbers(json, "mo", state.mo);
    json.put("ird", state.ird).put("ord", state.ord).put("state", state.state).end('}');
  }
  json.end(']');
}

void put_findings(JsonText& json, const std::vector<FindingView>& findings) {
  json.key("findings").begin('[');
  for (const FindingView& view : findings) {
    const auto& finding = view.finding;
    json.begin('{').put("clause", finding.rule->clause).put("severity", conformance::name(finding.rule->severity));
    json.put("sentence", finding.rule->sentence).put("message", finding.message).put("packet", finding.place.packet);
    if (finding.direction) json.put("from", name(*finding.direction));
    json.put("row", view.row);
    if (view.size != 0) json.put("at", view.at).put("size", view.size);
    json.end('}');
  }
  json.end(']');
}

void put_connection(JsonText& json, const Connection& connection) {
  json.begin('{').put("id", connection.id).put("initiator", connection.initiator);
  json.put("responder", connection.responder).put("roles_known", connection.roles_known);
  const auto& request = connection.settled.frame(Direction::kFromInitiator);
  const auto& reply = connection.settled.frame(Direction::kFromResponder);
  json.put("revision", reply ? reply->frame.revision : request ? request->frame.revision : 0);
  json.put("crc", connection.settled.crc).key("markers").begin('{');
  json.put("initiator", connection.settled.markers[0]).put("responder", connection.settled.markers[1]).end('}');
  json.key("rows").begin('[');
  for (const Row& row : connection.rows) put_row(json, row);
  json.end(']');
  put_messages(json, connection.messages);
  put_states(json, connection.states);
  put_memory(json, connection);
  put_findings(json, connection.findings);
  put_laboratory(json, connection);
  json.end('}');
}

}  // namespace

std::string to_json(const Model& model) {
  std::string out;
  JsonText json(out);
  json.begin('{').put("weft", WEFT_VERSION).put("source", model.source).key("notes").begin('[');
  for (const std::string& note : model.notes) json.value(note);
  json.end(']');
  put_names(json, model.glossary);
  put_clauses(json, model);
  put_packets(json, model.packets);
  json.key("connections").begin('[');
  for (const Connection& connection : model.connections) put_connection(json, connection);
  json.end(']').end('}');
  return out;
}

}  // namespace weft::explain
