// SPDX-License-Identifier: Apache-2.0
#include "explain/tour/conversation.hpp"

#include <utility>

namespace weft::explain {
namespace {

Bytes octets_of(std::string_view text) { return std::as_bytes(std::span(text)); }

}  // namespace

Conversation::Conversation(const engine::Config& initiator, const engine::Config& responder, TourWire::Take take)
    : initiator_(TourEnd::kInitiator, initiator), responder_(TourEnd::kResponder, responder), wire_(std::move(take)) {}

// What an engine refuses shows: the tests miss its octets.
void Conversation::open(std::string_view request, std::string_view reply) {
  wire_.open();
  static_cast<void>(initiator_.engine.connect(octets_of(request)));
  run();
  if (responder_.request) static_cast<void>(responder_.engine.accept(octets_of(reply), {}));
  run();
}

void Conversation::post(TourEnd end, const engine::WorkRequest& request) {
  static_cast<void>(side(end).engine.post(request));
  run();
}

void Conversation::close() {
  initiator_.engine.close({});
  run();
  responder_.engine.close({});
  run();
}

void Conversation::run() {
  while (step(initiator_, responder_) || step(responder_, initiator_)) {
  }
}

bool Conversation::step(Side& from, Side& to) {
  const bool moved = transmit(from, to) || shut_down(from, to);
  return receive(to) || moved;
}

bool Conversation::transmit(Side& from, Side& to) {
  if (from.finished) return false;
  from.engine.fill(from.batch, {});
  if (from.batch.empty()) return false;
  std::vector<std::byte> octets;
  for (const Bytes piece : from.batch.pieces()) octets.insert(octets.end(), piece.begin(), piece.end());
  from.batch.consume(octets.size());
  from.engine.written(octets.size(), {});
  wire_.send(from.end, octets);
  to.unread.insert(to.unread.end(), octets.begin(), octets.end());
  poll(from);
  return true;
}

bool Conversation::shut_down(Side& from, Side& to) {
  if (from.finished || from.engine.disposition() == engine::Disposition::kOpen) return false;
  from.finished = true;
  wire_.finish(from.end);
  receive(to);
  to.engine.end_of_stream({});
  poll(to);
  return true;
}

bool Conversation::receive(Side& to) {
  if (to.unread.empty()) return false;
  const auto result = to.engine.receive(to.unread, {});
  const bool over = result.want == engine::ReceiveResult::Want::kNothing;
  const std::size_t consumed = over ? to.unread.size() : result.consumed;
  to.unread.erase(to.unread.begin(), to.unread.begin() + static_cast<std::ptrdiff_t>(consumed));
  poll(to);
  return consumed > 0;
}

void Conversation::poll(Side& side) {
  while (const auto event = side.engine.poll_event()) {
    if (std::holds_alternative<engine::ConnectionRequested>(*event)) side.request = true;
  }
}

}  // namespace weft::explain
