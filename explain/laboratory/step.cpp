// SPDX-License-Identifier: Apache-2.0
#include "explain/laboratory/step.hpp"

#include "explain/laboratory/json.hpp"

namespace weft::explain::laboratory {
namespace {

template <typename List, typename F>
void list(JsonWriter& json, std::string_view key, const List& all, F&& write) {
  json.key(key).array([&] {
    for (const auto& one : all) json.object([&] { write(one); });
  });
}

// [[at, size, layer, name, value, meaning], ...]
void fields(JsonWriter& json, const std::vector<conformance::Field>& all) {
  json.key("fields").array([&] {
    for (const conformance::Field& field : all) {
      json.array([&] {
        json.number(field.at);
        json.number(field.size);
        json.text(field.info->layer);
        json.text(field.info->name);
        json.text(field.value);
        json.text(field.meaning);
      });
    }
  });
}

void put(JsonWriter& json, const Placed& placed) {
  json.key(placed.where == Placed::Where::kRegion ? "region" : "receive").number(placed.index);
  json.key("offset").number(placed.offset);
  json.key("octets").number(placed.octets.size());
  json.key("hex").octets(placed.octets);
}

void put(JsonWriter& json, const Arrived& arrived) {
  json.key("at").number(arrived.at);
  json.key("octets").number(arrived.size);
  json.key("accepted").truth(arrived.accepted);
  json.key("words").text(arrived.words);
  fields(json, arrived.fields);
}

void put(JsonWriter& json, const Frame& frame) {
  json.key("octets").octets(frame.octets);
  json.key("words").text(frame.words);
  fields(json, frame.fields);
}

void put(JsonWriter& json, const Refused& refused) {
  const engine::ErrorReport& report = refused.report;
  json.key("layer").number(std::to_underlying(report.layer));
  json.key("type").number(report.type);
  json.key("code").number(report.code);
  json.key("sentence").text(report.sentence);
  json.key("clause").text(report.clause);
  json.key("remote").truth(refused.remote);
  json.key("stream_offset").number(report.stream_offset);
  if (report.startup_octet) json.key("startup_octet").number(*report.startup_octet);
}

void put(JsonWriter& json, const Queues& queues) {
  const auto each = [&](std::string_view key, const std::array<std::uint32_t, 4>& all) {
    json.key(key).array([&] {
      for (const std::uint32_t one : all) json.number(one);
    });
  };
  each("msn", queues.msn);
  each("mo", queues.mo);
  json.key("ird").number(queues.ird);
  json.key("ord").number(queues.ord);
}

void put(JsonWriter& json, const Step& step) {
  json.key("consumed").number(step.consumed);
  json.key("held").number(step.held);
  json.key("state").text(name(step.state));
  json.key("waiting").text(step.waiting);
  list(json, "events", step.events, [&](const Told& told) {
    json.key("what").text(told.what);
    json.key("words").text(told.words);
  });
  list(json, "in", step.in, [&](const Arrived& arrived) { put(json, arrived); });
  list(json, "placed", step.placed, [&](const Placed& placed) { put(json, placed); });
  if (step.error) json.key("error").object([&] { put(json, *step.error); });
  list(json, "out", step.out, [&](const Frame& frame) { put(json, frame); });
  if (step.more) json.key("more").truth(true);
  json.key("queues").object([&] { put(json, step.queues); });
  if (!step.refused.empty()) json.key("refused").text(step.refused);
}

}  // namespace

std::string_view name(State state) noexcept {
  switch (state) {
    case State::kStartup: return "start-up";
    case State::kRdmaMode: return "RDMA mode";
    case State::kTerminating: return "terminating";
    case State::kClosed: return "closed";
  }
  return {};
}

std::string to_json(const Step& step) {
  JsonWriter json;
  json.object([&] { put(json, step); });
  return json.take();
}

}  // namespace weft::explain::laboratory
