// SPDX-License-Identifier: Apache-2.0
#include "explain/model/story.hpp"

#include <algorithm>
#include <utility>

#include "explain/model/arithmetic.hpp"
#include "explain/model/words.hpp"
#include "rdmap/control.hpp"

namespace weft::explain {
namespace {

std::vector<FieldAt> fields_of(const std::vector<conformance::Field>& fields, Glossary& glossary) {
  std::vector<FieldAt> out;
  out.reserve(fields.size());
  for (const auto& field : fields) out.push_back(glossary.add(field));
  return out;
}

Segment segment_of(const conformance::FpduSeen& fpdu) {
  Segment segment{.header = ddp::read(fpdu.ulpdu),
                  .opcode = rdmap::opcode_bits(ddp::TaggedLayout::RsvdUlp::get(fpdu.ulpdu))};
  const std::size_t header = ddp::header_size(segment.header);
  segment.payload = fpdu.ulpdu.size() - header;
  std::ranges::copy(fpdu.ulpdu.first(header), segment.quotable.begin());
  return segment;
}

// The end with this address.
Direction sender_of(const SynSeen& syn, const Story::Around& around) {
  const bool by_first =
      syn.source.port == around.info.first.port && in_words(syn.source.address) == around.info.first.address;
  const bool first_initiates = around.walk.initiator().value_or(conformance::End::kFirst) == conformance::End::kFirst;
  return by_first == first_initiates ? Direction::kFromInitiator : Direction::kFromResponder;
}

}  // namespace

void Story::take(const conformance::Seen& seen, const Around& around) {
  std::visit([&](const auto& one) { on(one, around); }, seen);
}

void Story::keep_head(const RawHead* head) {
  if (head != nullptr) heads_.try_emplace(head->number, *head);
}

// In front of the first row stand the SYNs.
void Story::open(const Around& around) {
  if (std::exchange(opened_, true)) return;
  for (const SynSeen& syn : around.heads.syns(around.info, around.info.last_packet)) {
    keep_head(&syn.head);
    add({.kind = RowKind::kTcp,
         .from = sender_of(syn, around),
         .packet = syn.head.number,
         .words = syn.answer ? "SYN, ACK" : "SYN"},
        syn.head.number, around);
  }
}

Row* Story::add(Row row, std::uint64_t first_packet, const Around& around) {
  open(around);
  if (around.budget.rows == 0) {
    around.budget.rows_cut = true;
    return nullptr;
  }
  --around.budget.rows;
  row.time = around.heads.time_of(row.packet);
  keep_head(around.heads.find(first_packet));
  first_packets_.push_back(first_packet);
  rows_.push_back(std::move(row));
  return &rows_.back();
}

Row* Story::add_piece(RowKind kind, const conformance::Piece& piece, std::string words, const Around& around) {
  Row* const row = add({.kind = kind, .from = piece.from, .packet = piece.last.packet, .words = std::move(words)},
                       piece.first.packet, around);
  if (row == nullptr) return nullptr;
  Budget& budget = around.budget;
  const std::size_t size = piece.octets.size();
  const std::size_t kept = size <= budget.octets ? size : std::min(size, kFront);
  budget.octets_cut = budget.octets_cut || kept < size;
  budget.octets -= std::min(budget.octets, kept);
  row->wire.size = size;
  row->wire.octets.assign(piece.octets.begin(), piece.octets.begin() + static_cast<std::ptrdiff_t>(kept));
  row->wire.stream_offset = piece.stream_offset;
  return row;
}

void Story::on(const conformance::StreamingSeen& streaming, const Around& around) {
  const std::uint64_t packet = around.info.first_packet;
  add({.kind = RowKind::kGap, .from = streaming.from, .packet = packet, .words = joined(words_of(streaming))}, 0,
      around);
}

void Story::on(const conformance::StartupSeen& startup, const Around& around) {
  joiner_.take(startup);
  Row* const row = add_piece(RowKind::kStartup, startup.piece, words_of(startup), around);
  if (startup.frame) {
    auto& kept = settled_.frames[index_of(startup.piece.from)];
    kept = StartupView{*startup.frame, {startup.frame->private_data.begin(), startup.frame->private_data.end()}};
    kept->frame.private_data = {};
  }
  if (row != nullptr) row->wire.fields = fields_of(conformance::dissect(startup), around.glossary);
}

void Story::on(const conformance::FpduSeen& fpdu, const Around& around) {
  const Direction from = fpdu.piece.from;
  settled_.crc = settled_.crc || fpdu.framing.crc;
  settled_.markers[index_of(from)] = fpdu.framing.markers;
  const bool taken = joiner_.take(fpdu);
  Row* const row = add_piece(RowKind::kFpdu, fpdu.piece, taken ? "" : joined(words_of_stray(fpdu)), around);
  if (row != nullptr) {
    row->wire.number = fpdu.number;
    row->wire.fields = fields_of(conformance::dissect(fpdu), around.glossary);
    row->wire.markers = markers_of(fpdu);
    row->wire.pad = pad_of(fpdu);
    row->wire.crc = crc_of(fpdu);
    if (taken) {
      row->segment = segment_of(fpdu);
      ungathered_[index_of(from)].push_back(rows_.size() - 1);
    }
  }
  gather();
}

void Story::on(const conformance::LostSeen& lost, const Around& around) {
  break_off(lost.from);
  add({.kind = RowKind::kGap, .from = lost.from, .packet = lost.place.packet, .words = joined(words_of(lost))},
      lost.place.packet, around);
}

void Story::on(const conformance::ResumedSeen& resumed, const Around& around) {
  break_off(resumed.from);
  add({.kind = RowKind::kGap, .from = resumed.from, .packet = resumed.place.packet, .words = joined(words_of(resumed))},
      resumed.place.packet, around);
}

// A reset ends both directions, and it is not told who sent it.
void Story::on(const conformance::EndSeen& end, const Around& around) {
  break_off(end.from);
  const bool reset = end.how == conformance::Closing::kReset;
  const bool again = reset && std::exchange(reset_, end.packet) == end.packet;
  if (again && end.unfinished == 0) return;
  add({.kind = RowKind::kTcp, .from = end.from, .packet = end.packet, .words = joined(words_of(end))}, end.packet,
      around);
}

void Story::on(const conformance::CaptureOver&, const Around&) {
  break_off(Direction::kFromInitiator);
  break_off(Direction::kFromResponder);
}

void Story::break_off(Direction from) {
  joiner_.break_off(from);
  gather();
}

void Story::finish(Connection& connection, Model& model) {
  std::map<std::uint64_t, std::size_t> known;
  for (auto& [number, head] : heads_) {
    known[number] = model.packets.size();
    model.packets.push_back(explained(head, model.glossary));
  }
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const auto found = known.find(first_packets_[i]);
    if (found != known.end()) rows_[i].head = found->second;
  }
  connection.rows = std::move(rows_);
  connection.messages = std::move(messages_);
  connection.settled = std::move(settled_);
}

}  // namespace weft::explain
