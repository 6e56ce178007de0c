// SPDX-License-Identifier: Apache-2.0
#include "tools/dissect/ladder.hpp"

#include <algorithm>
#include <utility>

#include "tools/dissect/words.hpp"

namespace weft::tools::dissect {
namespace {

Entry entry_of(Note note, const PacketTimes& times) {
  const std::int64_t time = times.since_first(note.packet);
  return {.what = std::move(note), .time = time};
}

}  // namespace

void Ladder::take(const conformance::Seen& seen, const PacketTimes& times, const Put& put) {
  const Output out{times, put};
  std::visit([&](const auto& one) { on(one, out); }, seen);
}

void Ladder::on(const conformance::StreamingSeen& streaming, const Output&) {
  octets_before_mpa_[static_cast<std::size_t>(streaming.from)] = streaming.octets;
}

void Ladder::on(const conformance::StartupSeen& startup, const Output& out) {
  const auto from = startup.piece.from;
  const auto half = static_cast<std::size_t>(from);
  if (const std::uint64_t octets = std::exchange(octets_before_mpa_[half], 0); octets != 0)
    out.put(entry_of({from, startup.piece.first.packet, false,
                      coloured(words_of(conformance::StreamingSeen{from, octets}), Hue::kTcp, Hue::kTcp)},
                     out.times));
  joiner_.take(startup);
  out.put(entry_of({from, startup.piece.last.packet, true, words_of(startup)}, out.times));
}

void Ladder::on(const conformance::FpduSeen& fpdu, const Output& out) {
  const bool joined = joiner_.take(fpdu);
  put_messages(out);
  if (!joined)
    out.put(entry_of(
        {fpdu.piece.from, fpdu.piece.last.packet, true, coloured(words_of_stray(fpdu), Hue::kTerminate, Hue::kMpa)},
        out.times));
}

void Ladder::on(const conformance::LostSeen& lost, const Output& out) {
  break_off(lost.from, out);
  out.put(
      entry_of({lost.from, lost.place.packet, false, coloured(words_of(lost), Hue::kRemark, Hue::kRemark)}, out.times));
}

void Ladder::on(const conformance::ResumedSeen& resumed, const Output& out) {
  break_off(resumed.from, out);
  out.put(entry_of({resumed.from, resumed.place.packet, false, coloured(words_of(resumed), Hue::kRemark, Hue::kRemark)},
                   out.times));
}

// A reset ends both directions, and it is not told who sent it.
void Ladder::on(const conformance::EndSeen& end, const Output& out) {
  break_off(end.from, out);
  const bool reset = end.how == conformance::Closing::kReset;
  const bool again = reset && std::exchange(reset_, end.packet) == end.packet;
  if (again && end.unfinished == 0) return;
  out.put(entry_of({end.from, end.packet, !reset, coloured(words_of(end), Hue::kTcp, Hue::kRemark)}, out.times));
}

void Ladder::on(const conformance::CaptureOver&, const Output& out) {
  for (const auto from : {conformance::Direction::kFromInitiator, conformance::Direction::kFromResponder})
    break_off(from, out);
}

void Ladder::break_off(conformance::Direction from, const Output& out) {
  joiner_.break_off(from);
  put_messages(out);
}

void Ladder::put_messages(const Output& out) {
  while (auto message = joiner_.next())
    out.put({.what = *message, .time = out.times.since_first(message->last_packet)});
}

}  // namespace weft::tools::dissect
