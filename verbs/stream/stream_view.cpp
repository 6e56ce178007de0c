// SPDX-License-Identifier: Apache-2.0
// What a connection shows of itself, and tells when it has to wait.
#include <chrono>

#include "verbs/stream/stall_watch.hpp"
#include "verbs/stream/stream.hpp"

namespace weft::verbs::detail {

std::optional<LiveStream> Stream::describe() {
  const std::lock_guard lock(mutex_);
  if (life_.finished) return std::nullopt;
  return LiveStream{.connection = origin_.connection,
                    .local = pipe_.socket().local().value_or(Endpoint{}),
                    .peer = peer_,
                    .initiator = origin_.initiator,
                    .queue_pair = qp_ ? qp_->number : 0,
                    .stage = life_.stage(),
                    .waits_for = waits_for(),
                    .octets_in = inbox_.octets_so_far(),
                    .octets_out = outbox_.octets_so_far(),
                    .age = std::chrono::duration_cast<std::chrono::milliseconds>(now() - origin_.since)};
}

StreamWait Stream::waits_for() const noexcept {
  if (inbox_.stalled) return StreamWait::kReceive;
  if (outbox_.left && !pipe_.socket().is_ready(false, true)) return StreamWait::kPeerWindow;
  return engine_.awaits_answers() ? StreamWait::kAnswers : StreamWait::kNothing;
}

void Stream::watch_stalls(StallWatch& stalls) {
  const StreamWait wait = qp_ ? waits_for() : StreamWait::kNothing;
  const std::uint64_t moved = wait == StreamWait::kPeerWindow ? outbox_.octets_so_far()
                              : wait == StreamWait::kAnswers  ? inbox_.octets_so_far()
                                                              : 0;
  const Instant at = now();
  if (!stalls.look(wait, moved, at)) return;
  if (qp_->report_stall(wait, at)) return stalls.has_told();
  stalls.later(at);
}

}  // namespace weft::verbs::detail
