// SPDX-License-Identifier: Apache-2.0
#include "explain/model/states.hpp"

#include <array>
#include <optional>

#include "explain/model/model.hpp"
#include "rdmap/opcodes.hpp"

namespace weft::explain {
namespace {

class Follower {
 public:
  explicit Follower(Connection& connection) : connection_(connection) {
    const bool seen = connection.settled.frame(Direction::kFromInitiator).has_value();
    if (!seen) ends_[0].state = ends_[1].state = "RDMA mode";  // the capture begins later
  }

  void run() {
    for (Row& row : connection_.rows) {
      if (row.kind != RowKind::kStartup && row.kind != RowKind::kFpdu) continue;
      row.effect.before = index(opposite(row.from));
      apply(row);
      row.effect.after = index(opposite(row.from));
    }
  }

 private:
  void apply(const Row& row) {
    if (row.kind == RowKind::kStartup) return startup(row);
    if (row.effect.refused) refused_[index_of(row.from)] = true;
    if (!row.segment || refused_[index_of(row.from)]) return;
    EndState& receiver = ends_[index_of(opposite(row.from))];
    if (const auto* const header = row.segment->untagged()) count(receiver, *header, *row.segment);
    if (row.segment->last()) finish_message(row, receiver, ends_[index_of(row.from)]);
  }

  void startup(const Row& row) {
    if (row.from == Direction::kFromInitiator) return;
    const auto& reply = connection_.settled.frame(Direction::kFromResponder);
    const std::string_view state = reply && !reply->frame.reject ? "RDMA mode" : "closed";
    for (EndState& end : ends_) end.state = state;
  }

  static void count(EndState& receiver, const ddp::UntaggedHeader& header, const Segment& segment) {
    if (header.queue >= receiver.msn.size()) return;
    if (header.last) receiver.msn[header.queue] = header.msn.value + 1;
    receiver.mo[header.queue] = header.last ? 0 : header.offset.value + static_cast<std::uint32_t>(segment.payload);
  }

  void finish_message(const Row& row, EndState& receiver, EndState& sender) {
    const auto* const kind = rdmap::find_opcode(row.segment->opcode);
    if (kind == nullptr) return;
    switch (kind->part) {
      case rdmap::Part::kTransfer: return;
      case rdmap::Part::kRequest:
        ++receiver.ird;
        ++sender.ord;
        return;
      case rdmap::Part::kResponse:
        if (receiver.ord > 0) --receiver.ord;
        if (sender.ird > 0) --sender.ird;
        return;
      case rdmap::Part::kEnd: receiver.state = sender.state = "terminated"; return;
    }
  }

  // Each state once, as long as it lasts.
  std::size_t index(Direction end) {
    auto& known = known_[index_of(end)];
    const EndState& now = ends_[index_of(end)];
    if (!known || connection_.states[*known] != now) {
      known = connection_.states.size();
      connection_.states.push_back(now);
    }
    return *known;
  }

  Connection& connection_;
  std::array<EndState, 2> ends_{};  // the Initiator, the Responder
  std::array<bool, 2> refused_{};   // by direction: its receiver looks at nothing more
  std::array<std::optional<std::size_t>, 2> known_{};
};

}  // namespace

void follow_states(Connection& connection) { Follower(connection).run(); }

}  // namespace weft::explain
