// SPDX-License-Identifier: Apache-2.0
#include "explain/model/json_parts.hpp"

#include <algorithm>

#include "common/text.hpp"

namespace weft::explain {
namespace {

std::string_view word(conformance::CrcVerdict verdict) {
  switch (verdict) {
    case conformance::CrcVerdict::kGood: return "good";
    case conformance::CrcVerdict::kBad: return "bad";
    case conformance::CrcVerdict::kNotInUse: return "not in use";
  }
  return {};
}

void put_markers(JsonWriter& json, const std::vector<MarkerAt>& markers) {
  if (markers.empty()) return;
  json.begin_array("markers");
  for (const MarkerAt& marker : markers)
    json.begin_object().put("at", marker.at).put("pointer", marker.pointer).put("points_at", marker.points_at).end();
  json.end();
}

void put_regions(JsonWriter& json, const std::vector<Region>& regions, bool content = false) {
  json.begin_array("regions");
  for (const Region& region : regions) {
    json.begin_object().put("stag", hex(region.stag)).put("begin", hex(region.begin)).put("octets", region.octets);
    json.begin_array("rights");
    if (region.rights.write) json.value("remote write");
    if (region.rights.read) json.value("remote read");
    if (region.rights.atomic) json.value("remote atomic");
    if (region.rights.sink) json.value("sink of reads");
    json.end().put("why", region.why);
    if (content && !region.content.empty()) json.put("content", region.content);
    json.end();
  }
  json.end();
}

void put_atomic(JsonWriter& json, const rdmap::AtomicRequest& request) {
  const rdmap::AtomicOperation& operation = request.operation;
  const bool swap = operation.kind == rdmap::AtomicOperation::Kind::kCmpSwap;
  json.put("what", "atomic").put("source_stag", hex(request.stag.value)).put("source_to", hex(request.offset.value));
  json.put("octets", 8).begin_object("atomic").put("what", swap ? "CmpSwap" : "FetchAdd");
  json.put("request_id", hex(request.request_id));
  json.put("data", hex(operation.add_or_swap)).put("mask", hex(operation.add_or_swap_mask));
  json.put("compare", hex(operation.compare)).put("compare_mask", hex(operation.compare_mask)).end();
}

void put_read(JsonWriter& json, const rdmap::ReadRequest& request) {
  json.put("what", "read")
      .put("sink_stag", hex(request.sink_stag.value))
      .put("sink_to", hex(request.sink_offset.value));
  json.put("source_stag", hex(request.source_stag.value)).put("source_to", hex(request.source_offset.value));
  json.put("octets", request.size);
}

void put_posts(JsonWriter& json, const std::vector<ScriptPost>& posts) {
  json.begin_array("posts");
  for (const ScriptPost& post : posts) {
    json.begin_object().put("before_row", post.before_row);
    if (post.atomic) {
      put_atomic(json, *post.atomic);
    } else {
      put_read(json, post.read);
    }
    json.end();
  }
  json.end();
}

// An engine knows each STag once: registrations one after the other become one.
std::vector<Region> one_of_each(const std::vector<Region>& regions) {
  std::vector<Region> out;
  for (const Region& region : regions) {
    const auto same = std::ranges::find(out, region.stag, &Region::stag);
    if (same == out.end()) {
      out.push_back(region);
      continue;
    }
    if (region.begin < same->begin) same->content.clear();
    if (region.octets != 0) same->cover(region.begin, region.octets);
    same->rights = same->rights | region.rights;
  }
  return out;
}

void put_rtr(JsonWriter& json, const LaboratoryScript& script) {
  const mpa::RtrTypes& types = script.rtr_types;
  json.begin_array("rtr");
  if (types.send) json.value(mpa::name(mpa::Rtr::kSend));
  if (types.write) json.value(mpa::name(mpa::Rtr::kWrite));
  if (types.read) json.value(mpa::name(mpa::Rtr::kRead));
  json.end();
}

void put_script(JsonWriter& json, const LaboratoryScript& script, const EndMemory& memory) {
  json.begin_object().put("role", script.initiator ? "initiator" : "responder").put("crc", script.crc);
  json.put("markers", script.markers).put("revision", script.revision).put("enhanced", script.enhanced);
  json.put("ird", script.ird).put("ord", script.ord);
  json.put("private_data", script.private_data);
  json.put("peer_to_peer", script.peer_to_peer);
  put_rtr(json, script);
  if (script.rejects) json.put("reject", true);
  if (script.refuses_sends) json.put("no_receive", "terminate");
  put_regions(json, one_of_each(memory.regions), true);
  json.begin_array("receives");
  for (const Receive& receive : memory.receives) json.value(receive.octets);
  json.end();
  put_posts(json, script.posts);
  json.end();
}

}  // namespace

void put_fields(JsonWriter& json, const std::vector<FieldAt>& fields) {
  json.begin_array("fields");
  for (const FieldAt& field : fields) {
    json.begin_array().value(field.at).value(field.size).value(field.name).value(field.value);
    if (field.meaning) json.value(*field.meaning);
    json.end();
  }
  json.end();
}

void put_wire(JsonWriter& json, const Wire& wire) {
  json.put("size", wire.size);
  json.put("octets", wire.octets);
  json.put("stream_offset", wire.stream_offset);
  if (wire.number != 0) json.put("number", wire.number);
  put_fields(json, wire.fields);
  put_markers(json, wire.markers);
  if (wire.pad) json.begin_object("pad").put("octets", wire.pad->octets).put("words", wire.pad->words).end();
  if (!wire.crc) return;
  json.begin_object("crc").put("field", hex(wire.crc->field)).put("computed", hex(wire.crc->computed));
  json.put("verdict", word(wire.crc->verdict));
  if (!wire.crc->words.empty()) json.put("words", wire.crc->words);
  json.end();
}

void put_effect(JsonWriter& json, const Effect& effect) {
  if (const auto& placed = effect.placed) {
    const bool region = placed->where == Placed::Where::kRegion;
    json.begin_object("placed").put(region ? "region" : "receive", placed->index);
    json.put("offset", placed->offset).put("octets", placed->octets).end();
  }
  if (const auto& touched = effect.touched) {
    json.begin_object("touches").put("region", touched->region).put("offset", touched->offset);
    json.put("octets", touched->octets).put("how", name(touched->how)).end();
  }
  json.put("takes", effect.taken)
      .put("refused", effect.refused)
      .put("before", effect.before)
      .put("after", effect.after);
}

void put_memory(JsonWriter& json, const Connection& connection) {
  json.begin_object("memory");
  for (const Direction end : {Direction::kFromInitiator, Direction::kFromResponder}) {
    const EndMemory& memory = connection.memory[index_of(end)];
    json.begin_object(name(end));
    put_regions(json, memory.regions);
    json.begin_array("receives");
    for (const Receive& receive : memory.receives)
      json.begin_object().put("queue", 0).put("msn", receive.msn).put("octets", receive.octets).end();
    json.end().end();
  }
  json.end();
}

void put_laboratory(JsonWriter& json, const Connection& connection) {
  json.begin_object("lab");
  for (const Direction end : {Direction::kFromInitiator, Direction::kFromResponder}) {
    const auto& script = connection.lab[index_of(end)];
    if (!script) continue;
    json.key(name(end));
    put_script(json, *script, connection.memory[index_of(end)]);
  }
  json.end();
}

}  // namespace weft::explain
