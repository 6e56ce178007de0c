// SPDX-License-Identifier: Apache-2.0
#include "tests/explain/laboratory/played.hpp"

#include <algorithm>
#include <map>
#include <sstream>
#include <stdexcept>

#include "engine/observer.hpp"
#include "tests/explain/laboratory/by_hand.hpp"

namespace weft::explain::laboratory::test {
namespace {

using engine::Direction;

struct Region {
  std::uint64_t begin = UINT64_MAX;
  std::uint64_t end = 0;
  std::string rights{};
  void cover(std::uint64_t offset, std::uint64_t size, char right) {
    begin = std::min(begin, offset);
    end = std::max(end, offset + size);
    if (right != 0 && rights.find(right) == std::string::npos) rights += right;
  }
};

// Watches both directions, and learns from what each says what the end that is played must be like.
class Learner {
 public:
  explicit Learner(Direction from)
      : from_(from),
        lines_(from == Direction::kFromInitiator ? "role responder\n" : "role initiator\n", std::ios::ate) {}

  void see(Direction from, Bytes octets) {
    auto& all = stream_[static_cast<std::size_t>(from)];
    all.insert(all.end(), octets.begin(), octets.end());
    observer_.feed(from, octets);
    while (const auto seen = observer_.next()) std::visit(*this, *seen);
  }
  Played take() {
    for (const auto& [stag, region] : regions_) {
      lines_ << "region " << stag << ' ' << region.begin << ' ' << region.end - region.begin << ' '
             << (region.rights.empty() ? "-" : region.rights) << '\n';
    }
    played_.script = lines_.str();
    return std::move(played_);
  }

  void operator()(const engine::StartupSeen& seen) {
    if (seen.from == from_) {
      keep(seen.from, seen.frame.size(), true);
    } else {
      learn(seen.frame);
      skip(seen.from, seen.frame.size());
    }
    peer_to_peer_ = peer_to_peer_ || (seen.frame.enhanced && seen.frame.enhanced->peer_to_peer);
    played_.crc = played_.crc || seen.frame.crc;
    ++row_;
  }
  void operator()(const engine::SegmentSeen& seen) {
    if (seen.from == from_) {
      keep(seen.from, seen.fpdu_size, false);
      learn_target(seen.segment);
    } else {
      skip(seen.from, seen.fpdu_size);
      learn_work(seen.segment);
    }
    ++row_;
  }
  void operator()(const engine::FaultSeen& seen) { throw std::runtime_error(std::string(seen.fault.sentence)); }
  void operator()(const engine::EndSeen&) const {}

 private:
  void skip(Direction from, std::size_t size) { used_[static_cast<std::size_t>(from)] += size; }
  void keep(Direction from, std::size_t size, bool startup) {
    const auto at = stream_[static_cast<std::size_t>(from)].begin() +
                    static_cast<std::ptrdiff_t>(used_[static_cast<std::size_t>(from)]);
    played_.frames.push_back({{at, at + static_cast<std::ptrdiff_t>(size)}, row_, startup});
    skip(from, size);
  }

  void learn(const mpa::StartupFrame& own) {
    lines_ << "crc " << own.crc << "\nmarkers " << own.markers << "\nenhanced " << own.enhanced.has_value() << '\n';
    if (own.kind == mpa::FrameKind::kRequest) lines_ << "revision " << int{own.revision} << '\n';
    if (own.reject) lines_ << "reject 1\n";
    if (!own.private_data.empty()) lines_ << "private_data " << digits_of(own.private_data) << '\n';
    if (!own.enhanced) return;
    const auto& more = *own.enhanced;
    lines_ << "ird " << more.ird << "\nord " << more.ord << "\npeer_to_peer " << more.peer_to_peer << '\n';
    if (more.peer_to_peer) {
      lines_ << "rtr" << (more.rtr.send ? " send" : "") << (more.rtr.write ? " write" : "")
             << (more.rtr.read ? " read" : "") << '\n';
    }
  }
  // What the other end found here.
  void learn_target(const engine::InboundSegment& segment) {
    if (segment.opcode == rdmap::Opcode::kWrite && !segment.payload().empty()) {
      const auto& header = std::get<ddp::TaggedHeader>(segment.header);
      regions_[header.stag.value].cover(header.offset.value, segment.payload().size(), 'w');
    }
    if (const auto* sent = std::get_if<engine::SendDelivered>(&segment.delivery)) {
      lines_ << "receive " << sent->length << '\n';
      if (sent->invalidate) regions_.try_emplace(sent->invalidate->value, Region{0, 64, "r"});
    }
    if (const auto* read = std::get_if<engine::ReadRequested>(&segment.delivery);
        read != nullptr && read->request.size > 0) {
      regions_[read->request.source_stag.value].cover(read->request.source_offset.value, read->request.size, 'r');
    }
    if (const auto* atomic = std::get_if<engine::AtomicRequested>(&segment.delivery)) {
      regions_[atomic->request.stag.value].cover(atomic->request.offset.value, 8, 'a');
    }
  }
  // What this end asked for. The ready-to-receive message the engine sends by itself.
  void learn_work(const engine::InboundSegment& segment) {
    const bool rtr = peer_to_peer_ && from_ == Direction::kFromResponder && std::exchange(peer_to_peer_, false);
    if (const auto* read = std::get_if<engine::ReadRequested>(&segment.delivery); read != nullptr && !rtr) {
      const rdmap::ReadRequest& asked = read->request;
      if (asked.size > 0) regions_[asked.sink_stag.value].cover(asked.sink_offset.value, asked.size, 0);
      lines_ << "post " << row_ << " read " << asked.sink_stag.value << ' ' << asked.sink_offset.value << ' '
             << asked.source_stag.value << ' ' << asked.source_offset.value << ' ' << asked.size << '\n';
    }
    if (const auto* atomic = std::get_if<engine::AtomicRequested>(&segment.delivery)) {
      const rdmap::AtomicRequest& asked = atomic->request;
      if (!std::exchange(atomic_seen_, true)) lines_ << "first_atomic_id " << asked.request_id << '\n';
      lines_ << "post " << row_
             << (asked.operation.kind == rdmap::AtomicOperation::Kind::kFetchAdd ? " fetch_add" : " cmp_swap")
             << " 0 0 " << asked.stag.value << ' ' << asked.offset.value << " 8\n";
    }
  }

  Direction from_;
  engine::AcceptEverything at_responder_{}, at_initiator_{};
  engine::Observer observer_{at_responder_, at_initiator_};
  std::array<std::vector<std::byte>, 2> stream_{};
  std::array<std::size_t, 2> used_{};
  std::ostringstream lines_;
  std::map<std::uint32_t, Region> regions_{};
  Played played_{};
  std::uint32_t row_ = 0;
  bool peer_to_peer_ = false;
  bool atomic_seen_ = false;
};

}  // namespace

Played play_against(const captures::Connection& connection, Direction from) {
  Learner learner(from);
  for (const captures::Chunk& chunk : connection.chunks) {
    learner.see(chunk.from == captures::Side::kClient ? Direction::kFromInitiator : Direction::kFromResponder,
                chunk.octets);
  }
  return learner.take();
}

}  // namespace weft::explain::laboratory::test
