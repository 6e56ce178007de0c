// SPDX-License-Identifier: Apache-2.0
// Direct data placement over a stream.
#include <algorithm>

#include "compat/rsockets/stream.hpp"
#include "compat/rsockets/work_ids.hpp"

namespace weft::compat::rsockets {

// What the program mapped is the peer's to use when it gets the data after it. False: there is no room for that now.
bool Stream::tell_mappings() {
  Sides& sides = *sides_;
  while (const auto update = sides.mappings.pending()) {
    if (!sides.sender.may_send() || !sends_left(2 + kControlSends)) return false;
    sides.sender.message_sent();
    sides.mappings.told();
    const Message message{.op = Op::kIomapUpdate, .value = update->index};
    if (!post_update(update->octets, update->address, update->stag, message)) return false;
  }
  return true;
}

// No message goes with it, so it takes no credit.
std::optional<std::size_t> Stream::write_mapped(std::span<const std::byte> octets, std::uint64_t offset) {
  const auto to = sides_->mappings.find(offset);
  if (!to) return std::nullopt;
  const std::size_t room = std::min<std::size_t>({sides_->sender.ring_room(), to->length, kMaxTransfer, octets.size()});
  if (room == 0 || outbound_over() || !sides_->sender.worth_waking() || !sends_left(2 + kControlSends)) return 0;
  if (!tell_mappings() || !sends_left(2 + kControlSends)) return 0;
  const Source from = source(octets.first(room));
  const std::array requests{verbs::SendRequest{.wr_id = send_id(from.held),
                                               .opcode = verbs::SendOpcode::kRdmaWrite,
                                               .flags = from.flags | verbs::SendFlags::kSignaled,
                                               .segments = std::span(from.segments).first(from.count),
                                               .remote_address = to->address,
                                               .rkey = to->stag}};
  return post(requests) ? room : 0;
}

}  // namespace weft::compat::rsockets
