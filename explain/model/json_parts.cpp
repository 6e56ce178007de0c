// SPDX-License-Identifier: Apache-2.0
#include "explain/model/json_parts.hpp"

#include <algorithm>

#include "conformance/text.hpp"

namespace weft::explain {
namespace {

using conformance::hex;

std::string_view word(conformance::CrcVerdict verdict) {
  switch (verdict) {
    case conformance::CrcVerdict::kGood: return "good";
    case conformance::CrcVerdict::kBad: return "bad";
    case conformance::CrcVerdict::kNotInUse: return "not in use";
  }
  return {};
}

void put_markers(JsonText& json, const std::vector<MarkerAt>& markers) {
  if (markers.empty()) return;
  json.key("markers").begin('[');
  for (const MarkerAt& marker : markers)
    json.begin('{').put("at", marker.at).put("pointer", marker.pointer).put("points_at", marker.points_at).end('}');
  json.end(']');
}

void put_regions(JsonText& json, const std::vector<Region>& regions, bool content = false) {
  json.key("regions").begin('[');
  for (const Region& region : regions) {
    json.begin('{').put("stag", hex(region.stag)).put("begin", hex(region.begin)).put("octets", region.octets);
    json.key("rights").begin('[');
    if (region.rights.write) json.value("remote write");
    if (region.rights.read) json.value("remote read");
    if (region.rights.atomic) json.value("remote atomic");
    if (region.rights.sink) json.value("sink of reads");
    json.end(']').put("why", region.why);
    if (content && !region.content.empty()) put_hex(json, "content", region.content);
    json.end('}');
  }
  json.end(']');
}

void put_atomic(JsonText& json, const rdmap::AtomicRequest& request) {
  const rdmap::AtomicOperation& operation = request.operation;
  const bool swap = operation.kind == rdmap::AtomicOperation::Kind::kCmpSwap;
  json.put("what", "atomic").put("source_stag", hex(request.stag.value)).put("source_to", hex(request.offset.value));
  json.put("octets", 8).key("atomic").begin('{').put("what", swap ? "CmpSwap" : "FetchAdd");
  json.put("id", hex(request.request_id));
  json.put("data", hex(operation.add_or_swap)).put("mask", hex(operation.add_or_swap_mask));
  json.put("compare", hex(operation.compare)).put("compare_mask", hex(operation.compare_mask)).end('}');
}

void put_read(JsonText& json, const rdmap::ReadRequest& request) {
  json.put("what", "read")
      .put("sink_stag", hex(request.sink_stag.value))
      .put("sink_to", hex(request.sink_offset.value));
  json.put("source_stag", hex(request.source_stag.value)).put("source_to", hex(request.source_offset.value));
  json.put("octets", request.size);
}

void put_posts(JsonText& json, const std::vector<ScriptPost>& posts) {
  json.key("posts").begin('[');
  for (const ScriptPost& post : posts) {
    json.begin('{').put("before_row", post.before_row);
    if (post.atomic) {
      put_atomic(json, *post.atomic);
    } else {
      put_read(json, post.read);
    }
    json.end('}');
  }
  json.end(']');
}

// An engine knows each STag once: registrations one behind the other become one.
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

// That which was sent; else those that the end would have taken.
void put_rtr(JsonText& json, const LaboratoryScript& script) {
  if (script.rtr || !script.peer_to_peer || !script.rtr_types.any()) {
    json.put("rtr", mpa::name(script.rtr));
    return;
  }
  json.key("rtr").begin('[');
  if (script.rtr_types.send) json.value(mpa::name(mpa::Rtr::kSend));
  if (script.rtr_types.write) json.value(mpa::name(mpa::Rtr::kWrite));
  if (script.rtr_types.read) json.value(mpa::name(mpa::Rtr::kRead));
  json.end(']');
}

void put_script(JsonText& json, const LaboratoryScript& script, const EndMemory& memory) {
  json.begin('{').put("role", script.initiator ? "initiator" : "responder").put("crc", script.crc);
  json.put("markers", script.markers).put("revision", script.revision).put("enhanced", script.enhanced);
  json.put("ird", script.ird).put("ord", script.ord);
  put_hex(json, "private_data", script.private_data);
  json.put("peer_to_peer", script.peer_to_peer);
  put_rtr(json, script);
  if (script.rejects) json.put("reject", true);
  if (script.refuses_sends) json.put("no_receive", "terminate");
  put_regions(json, one_of_each(memory.regions), true);
  json.key("receives").begin('[');
  for (const Receive& receive : memory.receives) json.value(receive.octets);
  json.end(']');
  put_posts(json, script.posts);
  json.end('}');
}

}  // namespace

void put_hex(JsonText& json, std::string_view key, Bytes octets) {
  json.key(key).raw('"' + conformance::hex_digits(octets) + '"');
}

void put_fields(JsonText& json, const std::vector<FieldAt>& fields) {
  json.key("fields").begin('[');
  for (const FieldAt& field : fields) {
    json.begin('[').value(field.at).value(field.size).value(field.name).value(field.value);
    if (field.meaning) json.value(*field.meaning);
    json.end(']');
  }
  json.end(']');
}

void put_wire(JsonText& json, const Wire& wire) {
  json.put("size", wire.size);
  put_hex(json, "octets", wire.octets);
  json.put("stream_offset", wire.stream_offset);
  if (wire.number != 0) json.put("number", wire.number);
  put_fields(json, wire.fields);
  put_markers(json, wire.markers);
  if (wire.pad) json.key("pad").begin('{').put("octets", wire.pad->octets).put("words", wire.pad->words).end('}');
  if (!wire.crc) return;
  json.key("crc").begin('{').put("field", hex(wire.crc->field)).put("computed", hex(wire.crc->computed));
  json.put("verdict", word(wire.crc->verdict));
  if (!wire.crc->words.empty()) json.put("words", wire.crc->words);
  json.end('}');
}

void put_effect(JsonText& json, const Effect& effect) {
  if (const auto& placed = effect.placed) {
    const bool region = placed->where == Placed::Where::kRegion;
    json.key("placed").begin('{').put(region ? "region" : "receive", placed->index);
    json.put("offset", placed->offset).put("octets", placed->octets).end('}');
  }
  if (const auto& touched = effect.touched) {
    json.key("touches").begin('{').put("region", touched->region).put("offset", touched->offset);
    json.put("octets", touched->octets).put("how", name(touched->how)).end('}');
  }
  json.put("refused", effect.refused).put("before", effect.before).put("after", effect.after);
}

void put_memory(JsonText& json, const Connection& connection) {
  json.key("memory").begin('{');
  for (const Direction end : {Direction::kFromInitiator, Direction::kFromResponder}) {
    const EndMemory& memory = connection.memory[index_of(end)];
    json.key(name(end)).begin('{');
    put_regions(json, memory.regions);
    json.key("receives").begin('[');
    for (const Receive& receive : memory.receives)
      json.begin('{').put("queue", 0).put("msn", receive.msn).put("octets", receive.octets).end('}');
    json.end(']').end('}');
  }
  json.end('}');
}

void put_laboratory(JsonText& json, const Connection& connection) {
  json.key("lab").begin('{');
  for (const Direction end : {Direction::kFromInitiator, Direction::kFromResponder}) {
    const auto& script = connection.lab[index_of(end)];
    if (!script) continue;
    json.key(name(end));
    put_script(json, *script, connection.memory[index_of(end)]);
  }
  json.end('}');
}

}  // namespace weft::explain
