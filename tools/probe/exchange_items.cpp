// SPDX-License-Identifier: Apache-2.0
#include "tools/probe/exchange_items.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "conformance/walk.hpp"
#include "mpa/text.hpp"
#include "probe/exchange_events.hpp"
#include "rdmap/control.hpp"
#include "rdmap/text.hpp"

namespace weft::tools::probing {
namespace {

using conformance::Direction;
using conformance::FpduSeen;
using conformance::StartupSeen;

std::string words_of_fpdu(const FpduSeen& fpdu) {
  const Bytes ulpdu = fpdu.ulpdu;
  const std::string front = fmt::format("FPDU {}: ", fpdu.number);
  if (ulpdu.size() < ddp::TaggedLayout::kSize) return front + "too short for a DDP header";
  const std::uint8_t opcode = rdmap::opcode_bits(ddp::TaggedLayout::RsvdUlp::get(ulpdu));
  const std::string name = front + rdmap::name(opcode);
  if (opcode != std::to_underlying(rdmap::Opcode::kTerminate) || ulpdu.size() < ddp::UntaggedLayout::kSize) return name;
  const auto report = rdmap::parse_terminate(ulpdu.subspan(ddp::UntaggedLayout::kSize));
  return name + (report ? " " + rdmap::short_text(*report) : ", cut short");
}

std::string words_of_startup(const StartupSeen& seen) {
  if (!seen.frame) return fmt::format("MPA startup frame, malformed: {}", mpa::explain(seen.frame.error()).sentence);
  const bool rejects = seen.frame->reject && seen.frame->kind == mpa::FrameKind::kReply;
  return std::string(mpa::name(seen.frame->kind)) + (rejects ? ", rejected" : "");
}

class Items {
 public:
  Items(const Exchange& exchange, std::size_t most) : exchange_(exchange), most_(most) {}

  std::vector<ViewItem> all() && {
    for_each_event(exchange_, [this](const conformance::TcpEvent& event) {
      walk_.feed(event);
      drain();
    });
    walk_.finish();
    drain();
    frames_ = items_.size();
    for (const bool peer : {false, true}) put_loose(peer);
    std::ranges::sort(items_, {}, [](const ViewItem& item) {
      return std::tuple(item.part, item.from_peer, item.size == 0, item.offset);
    });
    return std::move(items_);
  }

 private:
  void drain() {
    while (const conformance::Seen* const seen = walk_.next()) {
      if (const auto* const startup = std::get_if<StartupSeen>(seen))
        put(startup->piece, words_of_startup(*startup), conformance::dissect(*startup));
      if (const auto* const fpdu = std::get_if<FpduSeen>(seen))
        put(fpdu->piece, words_of_fpdu(*fpdu), conformance::dissect(*fpdu));
    }
  }

  void put(const conformance::Piece& piece, std::string what, std::vector<conformance::Field> fields) {
    const auto initiator = walk_.initiator().value_or(conformance::End::kFirst);
    const auto from = piece.from == Direction::kFromInitiator ? initiator : conformance::opposite(initiator);
    ViewItem item{.from_peer = from == end_of(exchange_, true), .offset = piece.stream_offset, .what = std::move(what)};
    item.part = static_cast<std::size_t>(piece.last.packet) - 1;
    item.fields = std::move(fields);
    add(std::move(item), piece.octets);
  }

  void add(ViewItem item, Bytes octets) {
    item.at = exchange_.parts[item.part].at;
    item.size = octets.size();
    const Bytes kept = octets.first(std::min(octets.size(), most_));
    item.octets.assign(kept.begin(), kept.end());
    items_.push_back(std::move(item));
  }

  // The ranges of one direction's stream that the walk read as frames, ascending.
  struct Range {
    std::uint64_t begin{};
    std::uint64_t end{};
    auto operator<=>(const Range&) const = default;
  };
  [[nodiscard]] std::vector<Range> framed(bool peer) const {
    std::vector<Range> ranges;
    for (std::size_t i = 0; i < frames_; ++i) {
      const ViewItem& item = items_[i];
      if (item.from_peer == peer) ranges.push_back({item.offset, item.offset + item.size});
    }
    std::ranges::sort(ranges);
    return ranges;
  }

  // What the walk made no frame of, and the ends: part by part.
  void put_loose(bool peer) {
    const std::vector<Range> ranges = framed(peer);
    auto next = ranges.begin();
    std::uint64_t offset = 0;
    for (std::size_t i = 0; i < exchange_.parts.size(); ++i) {
      const Part& part = exchange_.parts[i];
      if (part.from_peer != peer) continue;
      if (part.kind != Part::kOctets)
        add({.from_peer = peer, .part = i, .offset = offset, .what = part.kind == Part::kFin ? "FIN" : "RST"}, {});
      const std::uint64_t end = offset + part.octets.size();
      for (std::uint64_t at = offset; at < end;) {
        while (next != ranges.end() && next->end <= at) ++next;
        const bool inside = next != ranges.end() && next->begin <= at;
        const std::uint64_t until = std::min(end, next == ranges.end() ? end : inside ? next->end : next->begin);
        if (!inside) add(loose(i, at), Bytes(part.octets).subspan(at - offset, until - at));
        at = until;
      }
      offset = end;
    }
  }
  [[nodiscard]] ViewItem loose(std::size_t part, std::uint64_t offset) const {
    return {.from_peer = exchange_.parts[part].from_peer,
            .part = part,
            .offset = offset,
            .what = "octets that make no frame"};
  }

  const Exchange& exchange_;
  std::size_t most_;
  conformance::Walk walk_{};
  std::vector<ViewItem> items_{};
  std::size_t frames_ = 0;  // of items_, which the walk has told
};

}  // namespace

std::vector<ViewItem> items_of(const Exchange& exchange, std::size_t most) { return Items(exchange, most).all(); }

}  // namespace weft::tools::probing
