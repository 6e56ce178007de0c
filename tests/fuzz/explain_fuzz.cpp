// SPDX-License-Identifier: Apache-2.0
// A hostile capture, explained: the octets of a pcap or pcapng file become a model whose indices all name something, JSON,
// and text.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <variant>

#include "conformance/capture_reader.hpp"
#include "explain/model/json.hpp"
#include "explain/model/model_maker.hpp"
#include "explain/text/text.hpp"
#include "tests/fuzz/capture_input.hpp"

using namespace weft::explain;
using weft::fuzz::as_capture;
using weft::fuzz::require;

namespace {

constexpr std::size_t kMostPackets = 2000;

template <typename Index>
void require_below(const Index& index, std::size_t size) {
  require(!index || *index < size);
}

void require_sound(const Model& model, const Connection& connection, const Row& row) {
  const EndMemory& memory = connection.memory[index_of(opposite(row.from))];
  require_below(row.head, model.packets.size());
  require_below(row.message, connection.messages.size());
  require_below(row.effect.refused, connection.rows.size());
  require_below(row.effect.before, connection.states.size());
  require_below(row.effect.after, connection.states.size());
  for (const std::size_t finding : row.findings) require(finding < connection.findings.size());
  if (const auto& touched = row.effect.touched) require(touched->region < memory.regions.size());
  const auto& placed = row.effect.placed;
  if (!placed) return;
  const bool region = placed->where == Placed::Where::kRegion;
  require(placed->index < (region ? memory.regions.size() : memory.receives.size()));
  // Segments of a Send may claim any offset; what lies in a region made it as large as it is.
  if (region) require(placed->octets <= memory.regions[placed->index].octets - placed->offset);
}

void look_at(const Model& model) {
  for (const Connection& connection : model.connections) {
    static_cast<void>(heading_of(connection));
    static_cast<void>(memory_of(connection));
    for (std::size_t row = 0; row < connection.rows.size(); ++row) {
      require_sound(model, connection, connection.rows[row]);
      require(!connection.rows[row].words.empty());
      require(!lines_of(model, connection, row).empty());
    }
  }
  require(to_json(model).starts_with("{\"weft\":"));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto reader = weft::conformance::CaptureReader::open(as_capture(data, size));
  if (!reader) return 0;
  ModelMaker maker("capture");
  for (std::size_t packets = 0; packets < kMostPackets; ++packets) {
    const auto next = reader->next();
    const auto* packet = std::get_if<weft::conformance::Packet>(&next);
    if (packet == nullptr) break;
    maker.take(*packet);
  }
  maker.close();
  look_at(maker.finish());
  return 0;
}
