// SPDX-License-Identifier: Apache-2.0
// Rows joined to messages. The joiner tells when a message is over; which rows it had, its header and theirs tell.
#include <algorithm>

#include "explain/model/story.hpp"
#include "explain/model/words.hpp"
#include "rdmap/text.hpp"

namespace weft::explain {
namespace {

// The segment stands `octets` after the beginning of what was seen of the message.
bool belongs(const conformance::Message& message, const Segment& segment, std::uint64_t octets) {
  if (message.opcode() != segment.opcode) return false;
  if (const auto* const next = segment.tagged()) {
    const auto* const first = std::get_if<ddp::TaggedHeader>(&message.header);
    return first != nullptr && first->stag == next->stag && first->offset.value + octets == next->offset.value;
  }
  const auto* const next = segment.untagged();
  const auto* const first = std::get_if<ddp::UntaggedHeader>(&message.header);
  return first != nullptr && first->queue == next->queue && first->msn == next->msn &&
         first->offset.value + octets == next->offset.value;
}

}  // namespace

void Story::gather() {
  while (const auto message = joiner_.next()) gather(*message);
}

void Story::gather(const conformance::Message& message) {
  MessageView view{.from = message.from,
                   .what = rdmap::name(message.opcode()),
                   .opcode = message.opcode(),
                   .octets = message.octets,
                   .front = {message.front().begin(), message.front().end()},
                   .rtr = message.rtr};
  std::uint64_t octets = 0;
  auto& waiting = ungathered_[index_of(message.from)];
  std::erase_if(waiting, [&](std::size_t index) {
    const Row& row = rows_[index];
    if (view.rows.size() == message.fpdus || row.wire.number < message.number) return false;
    if (!belongs(message, *row.segment, octets)) return false;
    octets += row.segment->payload;
    view.rows.push_back(index);
    return true;
  });
  if (view.rows.empty()) return;  // not shown
  for (std::size_t i = 0; i < view.rows.size(); ++i) {
    Row& row = rows_[view.rows[i]];
    row.message = messages_.size();
    row.words = words_of(view, *row.segment, i) + words_of_missing(message);
  }
  messages_.push_back(std::move(view));
}

}  // namespace weft::explain
