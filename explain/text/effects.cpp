// SPDX-License-Identifier: Apache-2.0
#include "explain/text/effects.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/text.hpp"

namespace weft::explain {
namespace {

std::string region_text(const Region& region) {
  return fmt::format("STag {}, {} octets from {}", hex(region.stag), region.octets, hex(region.begin));
}

std::string placed_text(const EndMemory& memory, const Placed& placed) {
  const std::string what = fmt::format("{} octets at offset {} of ", placed.octets, placed.offset);
  if (placed.where == Placed::Where::kRegion) return what + region_text(memory.regions[placed.index]);
  const Receive& receive = memory.receives[placed.index];
  return what + fmt::format("the receive that MSN {} took", receive.msn);
}

std::string touched_text(const EndMemory& memory, const Touched& touched) {
  const std::string region = region_text(memory.regions[touched.region]);
  switch (touched.how) {
    case Touched::How::kRead:
      return fmt::format("{} octets at offset {} of {} are read", touched.octets, touched.offset, region);
    case Touched::How::kAtomic:
      return fmt::format("{} octets at offset {} of {} are changed in one step", touched.octets, touched.offset,
                         region);
    case Touched::How::kInvalidate: return fmt::format("{} is invalidated: the peer can no longer use it", region);
  }
  return {};
}

std::string state_text(const EndState& state) {
  return fmt::format("{}, next MSN of queues 0 to 3: {}, next MO: {}, to answer: {}, unanswered: {}", state.state,
                     fmt::join(state.msn, " "), fmt::join(state.mo, " "), state.ird, state.ord);
}

}  // namespace

void tell_effects(std::vector<Line>& lines, const Connection& connection, const Row& row) {
  const Effect& effect = row.effect;
  const EndMemory& memory = connection.memory[index_of(opposite(row.from))];
  const auto put = [&](Hue hue, std::string_view what, const std::string& words) {
    lines.push_back({{hue, fmt::format("  {:18}", what)}, {Hue::kPlain, words}});
  };
  if (effect.placed) put(Hue::kDdp, "placed", placed_text(memory, *effect.placed));
  if (effect.touched) put(Hue::kRdmap, "touches", touched_text(memory, *effect.touched));
  if (effect.taken)
    put(Hue::kDdp, "takes",
        fmt::format("the receive of MSN {}: its buffer does not change, because the completion carries the data",
                    memory.receives[*effect.taken].msn));
  if (effect.refused)
    put(Hue::kTerminate, "refused",
        "by the Terminate in packet " + std::to_string(connection.rows[*effect.refused].packet));
  if (effect.before && effect.before != effect.after) {
    const std::string end(name(opposite(row.from)));
    put(Hue::kQuiet, end + " before", state_text(connection.states[*effect.before]));
    put(Hue::kQuiet, end + " after", state_text(connection.states[*effect.after]));
  }
}

std::vector<Line> memory_of(const Connection& connection) {
  std::vector<Line> lines;
  for (const Direction end : {Direction::kFromInitiator, Direction::kFromResponder}) {
    const EndMemory& memory = connection.memory[index_of(end)];
    lines.push_back({{Hue::kHeading, fmt::format("memory of the {}, as its peer's messages show it", name(end))}});
    for (const Region& region : memory.regions)
      lines.push_back({{Hue::kDdp, "  " + region_text(region)}, {Hue::kPlain, ": " + region.why}});
    lines.push_back({{Hue::kDdp, fmt::format("  receives used: {}", memory.receives.size())}});
  }
  return lines;
}

}  // namespace weft::explain
