// SPDX-License-Identifier: Apache-2.0
#include "verbs/stream/outstanding_sends.hpp"

#include <new>
#include <utility>

namespace weft::verbs::detail {

void OutstandingSends::add(const SendRequest& request, bool signaled) {
  sends_.push({.wr_id = request.wr_id, .opcode = request.opcode, .signaled = signaled});
  if (needs_confirmation(sends_.back())) owed_ = true;
  ++next_cookie_;
}

void OutstandingSends::add_late(const SendRequest& request) {
  sends_.push({.wr_id = request.wr_id, .opcode = request.opcode, .kind = Kind::kLate});
}

// One at a time: what is posted meanwhile has the next one.
void OutstandingSends::ask_for_confirmation(engine::Engine& engine) {
  if (!owed_ || asked_) return;
  owed_ = false;
  try {
    sends_.reserve();
    asked_ = engine.post({.cookie = next_cookie_, .operation = engine::Operation::kRead}).has_value();
  } catch (const std::bad_alloc&) {
  }
  wanted_ = asked_;
  if (!asked_) return;
  sends_.push({.opcode = SendOpcode::kRdmaRead, .kind = Kind::kConfirmation});
  ++next_cookie_;
}

bool OutstandingSends::complete(const engine::SendCompleted& event, bool stream_fails, engine::Engine& engine) {
  OutstandingSend& send = sends_[done_++];
  send.status = event.status;
  send.length = static_cast<std::uint32_t>(event.length);
  if (send.kind == Kind::kConfirmation) {
    confirm(event.status);
    if (!stream_fails) ask_for_confirmation(engine);
    return true;
  }
  if (!stream_fails) return done_ == 1 && !needs_confirmation(send);
  // No confirmation will come, and no success follows a failure.
  if (wanted_ && event.status == engine::WorkStatus::kSuccess) send.status = engine::WorkStatus::kFlushed;
  return true;
}

// Completes all finished sends with `status`. The oldest gets an error, as on an adapter.
void OutstandingSends::confirm(engine::WorkStatus status) {
  asked_ = false;
  for (std::uint32_t i = 0; i + 1 < done_ && status != engine::WorkStatus::kSuccess; ++i) {
    sends_[i].status = std::exchange(status, engine::WorkStatus::kFlushed);
  }
}

std::optional<OutstandingSend> OutstandingSends::take() {
  if (done_ != 0) {
    --done_;
    return sends_.pop();
  }
  if (sends_.empty() || sends_.front().kind != Kind::kLate) return std::nullopt;
  OutstandingSend late = sends_.pop();
  late.status = engine::WorkStatus::kFlushed;
  return late;
}

}  // namespace weft::verbs::detail
