// SPDX-License-Identifier: Apache-2.0
// What lay in memory that a peer read: its Read Responses and Atomic Responses tell.
#include <algorithm>

#include "explain/model/model.hpp"
#include "rdmap/atomic_messages.hpp"
#include "rdmap/opcodes.hpp"
#include "rdmap/read_request.hpp"

namespace weft::explain {
namespace {

constexpr std::size_t kMostContent = 1 << 16;  // octets of a region

// Octets of a region, each of which counts as it was told first.
class Content {
 public:
  explicit Content(Region& region) : region_(region) {}

  void learn(std::uint64_t offset, Bytes octets) {
    if (offset >= kMostContent) return;
    const Bytes kept = octets.first(std::min<std::size_t>(octets.size(), kMostContent - offset));
    const std::size_t end = offset + kept.size();
    if (region_.content.size() < end) region_.content.resize(end);
    if (known_.size() < end) known_.resize(end);
    for (std::size_t i = 0; i < kept.size(); ++i) {
      if (!known_[offset + i]) region_.content[offset + i] = kept[i];
      known_[offset + i] = true;
    }
  }

 private:
  Region& region_;
  std::vector<bool> known_{};
};

// Without Markers, headers, PAD and CRC; empty where the row was cut.
std::vector<std::byte> payload_of(const Row& row) {
  if (row.wire.octets.size() < row.wire.size) return {};
  std::vector<std::byte> bare = row.wire.octets;
  for (auto marker = row.wire.markers.rbegin(); marker != row.wire.markers.rend(); ++marker) {
    const auto at = bare.begin() + static_cast<std::ptrdiff_t>(marker->at);
    bare.erase(at, at + static_cast<std::ptrdiff_t>(mpa::kMarkerSize));
  }
  const std::size_t header = mpa::kLengthSize + ddp::header_size(row.segment->header);
  const Bytes payload = Bytes(bare).subspan(header, row.segment->payload);
  return {payload.begin(), payload.end()};
}

class Contents {
 public:
  explicit Contents(Connection& connection) : connection_(connection) {
    for (std::size_t end = 0; end < 2; ++end) {
      for (Region& region : connection.memory[end].regions) known_[end].emplace_back(region);
    }
  }

  void learn(const MessageView& response) {
    const MessageView& request = connection_.messages[*response.answers];
    const auto& touched = connection_.rows[request.rows.front()].effect.touched;
    if (!touched || touched->how == Touched::How::kInvalidate) return;
    Content& content = known_[index_of(response.from)][touched->region];
    if (touched->how == Touched::How::kAtomic) return learn_value(content, *touched, response);
    std::uint64_t offset = touched->offset;
    for (const std::size_t index : response.rows) {
      const auto payload = payload_of(connection_.rows[index]);
      content.learn(offset, payload);
      offset += connection_.rows[index].segment->payload;
    }
  }

 private:
  // In memory a number has the byte order of the machine that has it; of nearly all that is this one.
  static void learn_value(Content& content, const Touched& touched, const MessageView& response) {
    const auto atomic = rdmap::parse_atomic_response(response.front);
    if (!atomic) return;
    std::array<std::byte, sizeof atomic->original> octets{};
    Le<0, std::uint64_t>::put(octets, atomic->original);
    content.learn(touched.offset, octets);
  }

  Connection& connection_;
  std::array<std::vector<Content>, 2> known_{};  // by end and region
};

}  // namespace

void find_contents(Connection& connection) {
  Contents contents(connection);
  for (const MessageView& message : connection.messages) {
    const bool response = message.opcode == std::to_underlying(rdmap::Opcode::kReadResponse) ||
                          message.opcode == std::to_underlying(rdmap::Opcode::kAtomicResponse);
    if (response && message.answers) contents.learn(message);
  }
}

}  // namespace weft::explain
