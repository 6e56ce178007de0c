// SPDX-License-Identifier: Apache-2.0
// Completions, and what the peer's messages change.
#include "compat/rsockets/stream.hpp"

#include <algorithm>

#include "compat/objects/report.hpp"
#include "compat/rsockets/work_ids.hpp"

namespace weft::compat::rsockets {

Stream::Stream(std::unique_ptr<Endpoint> endpoint) : endpoint_(std::move(endpoint)) {}

void Stream::begin(const ConnectData& peer) {
  Endpoint& own = *endpoint_;
  sides_.emplace(peer, Receiver(own.inbox.octets(), static_cast<std::uint16_t>(own.sizes.receive_queue)),
                 Sender(peer, own.send_ring(), own.target_sgl()), Mappings(own.target_iomap(), peer));
}

// Before the private data is known no completion is taken: there are no sides to tell.
bool Stream::progress() {
  if (!sides_) return false;
  bool any = take_completions();
  if (shut_due_) shut_down_soon(disconnect_due_);
  if (!lost_) any = give_credits() || any;
  return any;
}

void Stream::arm() {
  while (armed_ && endpoint_->channel.get_event()) {
    endpoint_->queue.acknowledge_events(1);
    armed_ = false;
  }
  if (!armed_) armed_ = endpoint_->queue.arm(verbs::Arm::kAll).has_value();
}

// At most as many as the queue holds. Everything that had completed when the call began is among them, and a peer that
// sends without end cannot keep the caller in here. What is left then causes no event, because the queue is not armed.
// No wake-up is lost: this call returns true, and a thread sleeps only after a call that follows arm() and returned
// false (Socket::prepare_wait). Such a call found the queue empty.
bool Stream::take_completions() {
  std::array<verbs::WorkCompletion, 32> batch;
  bool any = false;
  for (std::uint32_t left = endpoint_->completions(); left != 0;) {
    const auto taken = endpoint_->queue.poll(std::span(batch).first(std::min<std::size_t>(left, batch.size())));
    if (!taken) {
      if (!lost_) violated("its completion queue overflowed");
      return true;
    }
    for (const auto& completion : std::span(batch).first(*taken)) on(completion);
    any = any || *taken != 0;
    if (*taken < std::min<std::size_t>(left, batch.size())) break;
    left -= static_cast<std::uint32_t>(*taken);
  }
  return any;
}

void Stream::on(const verbs::WorkCompletion& completion) {
  if (completion.status != verbs::WcStatus::kSuccess) return connection_lost();
  if (is_send(completion.wr_id)) return sides_->sender.left(octets_left(completion.wr_id));
  if (lost_) return;
  if (completion.byte_len != kMessageOctets) return violated("a message that is not of 4 octets");
  const auto message = decode_message(endpoint_->message(completion.wr_id), sides_->peer.big_endian);
  if (!message) return violated("a message with a reserved op");
  on(*message);
  if (!lost_ && !endpoint_->post_receive(completion.wr_id)) connection_lost();
}

void Stream::on(const Message& message) {
  std::optional<std::string_view> wrong;
  switch (message.op) {
    case Op::kData:
      ++arrivals_;
      wrong = inbound_over() ? "data after it said that none would come" : sides_->receiver.data_arrived(message.value);
      break;
    case Op::kCreditUpdate: wrong = sides_->sender.credits_updated(message.value); break;
    case Op::kIomapUpdate:
      wrong = sides_->receiver.other_arrived();
      if (!wrong) wrong = sides_->mappings.updated(message.value);
      break;
    case Op::kControl: on_control(message.value); break;
  }
  if (wrong) violated(*wrong);
}

// Keep-alives need no answer, and nor does what later versions may say.
void Stream::on_control(std::uint32_t what) {
  const bool shutdown = what == static_cast<std::uint32_t>(Control::kShutdown);
  const bool disconnect = what == static_cast<std::uint32_t>(Control::kDisconnect);
  if (!shutdown && !disconnect) return;
  ++arrivals_;
  peer_shut_ = true;
  peer_gone_ = peer_gone_ || disconnect;
}

void Stream::violated(std::string_view what) {
  refused("rsocket: the peer broke the protocol", ECONNRESET, what);
  ++arrivals_;
  failed_ = true;
  lost_ = true;
  static_cast<void>(endpoint_->pair.modify(verbs::QpState::kError));
}

void Stream::connection_lost() {
  if (lost_) return;
  ++arrivals_;
  lost_ = true;
  failed_ = !peer_shut_ && !disconnect_sent_;
}

std::size_t Stream::peek(std::span<std::byte> into, std::size_t skip) const {
  return sides_ ? sides_->receiver.peek(into, skip) : 0;
}

std::size_t Stream::take(std::span<std::byte> into) {
  if (!sides_) return 0;
  const std::size_t count = sides_->receiver.take(into);
  if (!lost_) give_credits();
  return count;
}

}  // namespace weft::compat::rsockets
