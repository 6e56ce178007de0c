// SPDX-License-Identifier: Apache-2.0
// What a connection shows of itself, and tells when it has to wait.
#include <chrono>

#include "verbs/stream/stall_watch.hpp"
#include "verbs/stream/stream.hpp"

namespace weft::verbs::detail {

std::optional<LiveStream> Stream::describe() {
  const std::lock_guard lock(mutex_);
  if (link_.life().finished()) return std::nullopt;
  return LiveStream{.connection = link_.origin().connection,
                    .local = io_.pipe().socket().local().value_or(Endpoint{}),
                    .peer = link_.peer(),
                    .initiator = link_.initiates(),
                    .same_host = io_.pipe().is_shared(),
                    .queue_pair = link_.subject().qp,
                    .stage = link_.life().stage(),
                    .waits_for = waits_for(),
                    .octets_in = link_.inbox().octets_so_far(),
                    .octets_out = link_.outbox().octets_so_far(),
                    .age = std::chrono::duration_cast<std::chrono::milliseconds>(now() - link_.origin().since)};
}

StreamWait Stream::waits_for() const noexcept {
  if (link_.inbox().stalled) return StreamWait::kReceive;
  if (link_.outbox().left && !io_.pipe().is_ready(false, true)) return StreamWait::kPeerWindow;
  return link_.engine().awaits_answers() ? StreamWait::kAnswers : StreamWait::kNothing;
}

void Stream::watch_stalls(StallWatch& stalls) {
  const StreamWait wait = link_.queue_pair() ? waits_for() : StreamWait::kNothing;
  const std::uint64_t moved = wait == StreamWait::kPeerWindow ? link_.outbox().octets_so_far()
                              : wait == StreamWait::kAnswers  ? link_.inbox().octets_so_far()
                                                              : 0;
  const Instant at = now();
  if (!stalls.look(wait, moved, at)) return;
  if (link_.queue_pair()->report_stall(wait, at)) return stalls.has_told();
  stalls.later(at);
}

}  // namespace weft::verbs::detail
