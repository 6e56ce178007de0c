// SPDX-License-Identifier: Apache-2.0
// What a stream posts: data, credit updates, and the control messages that end it. A message follows the write that it
// is about, on the same send queue: so it also arrives after it.
#include <algorithm>

#include "compat/rsockets/stream.hpp"
#include "compat/rsockets/work_ids.hpp"

namespace weft::compat::rsockets {

namespace {

using verbs::SendFlags;
using verbs::SendOpcode;
using verbs::SendRequest;

verbs::Sge inline_sge(std::span<const std::byte> octets) {
  return {.address = reinterpret_cast<std::uintptr_t>(octets.data()),
          .length = static_cast<std::uint32_t>(octets.size())};
}

SendRequest message_request(std::uint32_t held, std::span<const verbs::Sge> segments) {
  return {.wr_id = send_id(held),
          .opcode = SendOpcode::kSend,
          .flags = SendFlags::kSignaled | SendFlags::kInline,
          .segments = segments};
}

}  // namespace

bool Stream::sends_left(std::uint32_t wanted) const { return endpoint_->pair.send_room() >= wanted; }

bool Stream::all_sent() const noexcept { return lost_ || sends_left(endpoint_->sizes.send_queue + kControlSends); }

// All or nothing, as far as the program can tell: when a part is refused, the connection is gone.
bool Stream::post(std::span<const SendRequest> requests) {
  if (endpoint_->pair.post_send(requests)) return true;
  connection_lost();
  return false;
}

bool Stream::post_message(Message message) {
  const auto octets = encode(message);
  const std::array segments{inline_sge(octets)};
  const std::array requests{message_request(0, segments)};
  return post(requests);
}

bool Stream::post_update(std::span<const std::byte> octets, std::uint64_t address, std::uint32_t stag,
                         Message message) {
  const std::array entry{inline_sge(octets)};
  const auto word = encode(message);
  const std::array segments{inline_sge(word)};
  const std::array requests{SendRequest{.wr_id = send_id(0),
                                        .opcode = SendOpcode::kRdmaWrite,
                                        .flags = SendFlags::kInline,
                                        .segments = entry,
                                        .remote_address = address,
                                        .rkey = stag},
                            message_request(0, segments)};
  return post(requests);
}

// --- Credits

// Not after we said that we take no more; a peer that has shut its own side needs none.
bool Stream::give_credits() {
  Sides& sides = *sides_;
  if (disconnect_sent_ || inbound_over() || !sides.receiver.grant_due() || !sends_left(2)) return false;
  const auto grant = sides.receiver.grant();
  const Message message{.op = Op::kCreditUpdate, .value = grant.sequence};
  if (!grant.half_at) return post_message(message);
  const RemoteBuffer half{.address = endpoint_->inbox.remote(*grant.half_at),
                          .stag = endpoint_->inbox.stag(),
                          .length = sides.receiver.half()};
  const RemoteBuffer& table = sides.peer.target_sgl;
  const std::uint64_t at = table.address + sides.sgl_entry * kSglEntryOctets;
  sides.sgl_entry = (sides.sgl_entry + 1) % table.length;
  return post_update(encode(half, sides.peer.big_endian), at, table.stag, message);
}

// --- Data

bool Stream::may_send() const noexcept {
  return sides_ && !outbound_over() && sides_->sender.data_room() != 0 && sides_->sender.worth_waking() &&
         sends_left(2 + kControlSends);
}

Stream::Source Stream::source(std::span<const std::byte> octets) {
  if (octets.size() <= endpoint_->sizes.inline_octets) {
    return {.segments = {inline_sge(octets)}, .count = 1, .flags = SendFlags::kInline};
  }
  const Staged staged = sides_->sender.stage(octets);
  Source made{.held = static_cast<std::uint32_t>(octets.size())};
  for (const auto piece : staged.pieces) {
    if (!piece.empty()) made.segments[made.count++] = endpoint_->own.sge(piece);
  }
  return made;
}

std::size_t Stream::send(std::span<const std::byte> octets) {
  if (octets.empty() || !may_send() || !tell_mappings() || !may_send()) return 0;  // telling took some room
  Sender& sender = sides_->sender;
  const std::size_t room = std::min<std::size_t>(sender.data_room(), sender.ring_room());
  octets = octets.first(std::min(octets.size(), room));
  if (octets.empty()) return 0;
  const Source from = source(octets);
  const RemoteBuffer to = sender.claim(static_cast<std::uint32_t>(octets.size()));
  const auto word = encode(Message{.op = Op::kData, .value = to.length});
  const std::array segments{inline_sge(word)};
  const std::array requests{SendRequest{.wr_id = send_id(0),
                                        .opcode = SendOpcode::kRdmaWrite,
                                        .flags = from.flags,
                                        .segments = std::span(from.segments).first(from.count),
                                        .remote_address = to.address,
                                        .rkey = to.stag},
                            message_request(from.held, segments)};
  return post(requests) ? octets.size() : 0;
}

// --- The end

// Disconnect, when nothing is left to come from either side.
bool Stream::shut_down(bool both) {
  const bool disconnect = both || peer_shut_;
  if (lost_ || disconnect_sent_ || (shut_ && !disconnect)) return true;
  if (!sides_ || !sends_left(1)) return false;
  shut_ = true;
  disconnect_sent_ = disconnect;
  const auto what = static_cast<std::uint32_t>(disconnect ? Control::kDisconnect : Control::kShutdown);
  post_message({.op = Op::kControl, .value = what});
  return true;
}

void Stream::shut_down_soon(bool both) {
  disconnect_due_ = disconnect_due_ || both;
  shut_due_ = !shut_down(disconnect_due_);
}

}  // namespace weft::compat::rsockets
