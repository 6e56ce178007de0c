// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/state.hpp"

namespace weft::engine {

// Nothing can be posted, and so nothing sent, before both ends have agreed (SEC-4-01).
std::expected<void, PostError> Engine::State::post(const WorkRequest& request) {
  if (!rdma || !rdmap::may_post(stream)) return std::unexpected(PostError::kNotConnected);  // DDP-6.2.1-03
  if (const auto sound = check(request); !sound) return sound;
  if (request.operation == Operation::kSendImmediate && !config.combine_immediate) {
    return std::unexpected(PostError::kNotAgreed);
  }
  if (awaits_response(request.operation) && rdma->depths.ord == 0) return std::unexpected(PostError::kNoReadDepth);
  if (!queue.has_room()) return std::unexpected(PostError::kQueueFull);
  queue.push(request);
  return {};
}

// While the socket has yet to take some of what it was given, or of what it would be.
Instant Engine::State::window_deadline(Instant now) const noexcept {
  if (config.window_timeout == Duration{}) return kNever;
  return out.on_loan() || has_output() ? now + config.window_timeout : kNever;
}

bool Engine::State::fill(TransmitBatch& batch, Instant now) {
  if (ending.over() || ending.fin_sent()) return false;
  fill_startup(batch, now);
  const bool more = rdma && fill_fpdus(batch, now);
  if (rdma && deadlines.window == kNever) deadlines.window = window_deadline(now);
  settle(now);
  return more || !startup.unsent().empty();
}

void Engine::State::fill_startup(TransmitBatch& batch, Instant now) {
  const Bytes unsent = startup.unsent();
  const std::size_t octets = std::min(unsent.size(), batch.piece_room() == 0 ? 0 : batch.arena_room());
  if (octets == 0) return;
  std::ranges::copy(unsent.first(octets), batch.free_arena().begin());
  batch.commit(octets);
  startup.sent(octets);
  out.appended += octets;
  if (announcement.awaits_rtr) deadlines.startup = now + config.startup_timeout;  // for the ready-to-receive message
  if (ending.begun()) ending.begin(now + config.close_timeout);  // a rejection: for its octets and the peer's FIN
}

bool Engine::State::fill_fpdus(TransmitBatch& batch, Instant now) {
  while (!ending.over()) {
    const std::uint64_t before = out.appended;
    const auto filled = may_send_fpdus() ? rdma->outbound.fill(batch, out.appended) : rdma->outbound.perform_local();
    if (out.appended != before) startup.first_fpdu_sent();
    if (filled) return *filled;
    if (const auto& ticket = filled.error().ticket) queue.finish(*ticket, WorkStatus::kLocalProtection);
    fail(filled.error().fault, now);  // and round again, for the Terminate
  }
  return false;
}

// What TCP took is complete, wherever it is by now (RDMAP-5.5-09).
void Engine::State::written(std::size_t octets, Instant now) {
  out.taken += octets;
  queue.transferred(out.taken);
  if (octets != 0) octets_moved(now);
  if (octets != 0 && deadlines.window != kNever) deadlines.window = window_deadline(now);
  settle(now);
}

// MPA-7.1.2-17: the responder sends nothing before the first valid FPDU; the initiator nothing before the Reply, and
// some time after it where its user says so.
bool Engine::State::may_send_fpdus() const noexcept { return rdma && !deadlines.first_fpdu && startup.may_send(); }

bool Engine::State::has_output() const noexcept {
  if (ending.over() || ending.fin_sent()) return false;
  if (!startup.unsent().empty()) return true;
  return rdma && (may_send_fpdus() ? rdma->outbound.has_output() : rdma->outbound.local_ready());
}

void Engine::State::drain(bool on) noexcept {
  if (ending.over()) return;
  draining = {.on = on, .to_be_told = on};
  if (rdma) rdma->outbound.hold(on);
  if (on) collect();
}

// A work request that ends early may have octets on loan in a batch: it is not told before those are written.
void Engine::State::collect() {
  if (stream == rdmap::StreamState::kTerminating && out.on_loan()) return;
  while (auto completed = queue.retire()) events.push(*completed);
  if (draining.to_be_told && queue.idle()) {
    draining.to_be_told = false;
    events.push(SendQueueDrained{});
  }
}

std::optional<Event> Engine::State::poll_event() {
  auto event = events.poll();
  if (event && std::holds_alternative<SendCompleted>(*event)) queue.polled();
  return event;
}

// The MULPDU follows (MPA-4.5-04).
void Engine::State::set_emss(std::uint32_t emss) noexcept {
  config.emss = emss;
  if (rdma) rdma->outbound.set_emss(emss);
}

}  // namespace weft::engine
