// SPDX-License-Identifier: Apache-2.0
#include "explain/laboratory/step.hpp"

#include "common/json.hpp"

namespace weft::explain::laboratory {
namespace {

template <typename List, typename F>
void list(JsonWriter& json, std::string_view key, const List& all, F&& write) {
  json.begin_array(key);
  for (const auto& one : all) {
    json.begin_object();
    write(one);
    json.end();
  }
  json.end();
}

// [[at, size, layer, name, value, meaning], ...]
void fields(JsonWriter& json, const std::vector<conformance::Field>& all) {
  json.begin_array("fields");
  for (const conformance::Field& field : all) {
    json.begin_array().value(field.at).value(field.size).value(field.info->layer).value(field.info->name);
    json.value(field.value).value(field.meaning).end();
  }
  json.end();
}

void put(JsonWriter& json, const Placed& placed) {
  json.put(placed.where == Placed::Where::kRegion ? "region" : "receive", placed.index).put("offset", placed.offset);
  json.put("octets", placed.octets.size()).put("hex", placed.octets);
}

void put(JsonWriter& json, const Arrived& arrived) {
  json.put("at", arrived.at).put("octets", arrived.size).put("accepted", arrived.accepted).put("words", arrived.words);
  fields(json, arrived.fields);
}

void put(JsonWriter& json, const Frame& frame) {
  json.put("octets", frame.octets).put("words", frame.words);
  fields(json, frame.fields);
}

void put(JsonWriter& json, const Refused& refused) {
  const engine::ErrorReport& report = refused.report;
  json.put("layer", std::to_underlying(report.layer)).put("type", report.type).put("code", report.code);
  json.put("sentence", report.sentence).put("clause", report.clause).put("remote", refused.remote);
  json.put("stream_offset", report.stream_offset).put("startup_octet", report.startup_octet);
}

void put(JsonWriter& json, const Step& step) {
  json.put("consumed", step.consumed).put("held", step.held).put("state", name(step.state));
  json.put("waiting", step.waiting);
  list(json, "events", step.events, [&](const Told& told) { json.put("what", told.what).put("words", told.words); });
  list(json, "in", step.in, [&](const Arrived& arrived) { put(json, arrived); });
  list(json, "placed", step.placed, [&](const Placed& placed) { put(json, placed); });
  if (step.error) {
    json.begin_object("error");
    put(json, *step.error);
    json.end();
  }
  list(json, "out", step.out, [&](const Frame& frame) { put(json, frame); });
  if (step.more) json.put("more", true);
  json.begin_object("queues").put("msn", step.queues.msn).put("mo", step.queues.mo);
  json.put("ird", step.queues.ird).put("ord", step.queues.ord).end();
  if (!step.refused.empty()) json.put("refused", step.refused);
}

}  // namespace

std::string_view name(State state) noexcept {
  switch (state) {
    case State::kStartup: return "startup";
    case State::kRdmaMode: return "RDMA mode";
    case State::kTerminating: return "terminating";
    case State::kClosed: return "closed";
  }
  return {};
}

std::string to_json(const Step& step) {
  JsonWriter json(JsonForm::kCompact);
  put(json, step);
  return json.finish();
}

}  // namespace weft::explain::laboratory
