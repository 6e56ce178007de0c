// SPDX-License-Identifier: Apache-2.0
// What the watchdog looks at: the tick, the rest of the progress threads, and the sockets.
#include <algorithm>
#include <limits>
#include <vector>

#include "verbs/progress/driven.hpp"
#include "verbs/progress/lost_wake_ups.hpp"
#include "verbs/progress/runtime.hpp"
#include "verbs/progress/watchdog.hpp"

namespace weft::verbs::detail {

namespace {

// Sights that are none of streams, which are numbered from 1.
constexpr std::uint64_t kTickSight = 0;
constexpr std::uint64_t kRestSight = std::numeric_limits<std::uint64_t>::max();

// By one look, of thousands of connections: each has its turn.
constexpr std::size_t kMostLooked = 256;

class RuntimeWatchdog final : public LostWakeUps {
 public:
  explicit RuntimeWatchdog(Runtime& runtime) : runtime_(runtime) {}

  std::error_code open(transport::Reactor& reactor) override { return watchdog_.open(reactor); }
  void start() override { watchdog_.start(); }
  void leave_to_parent() noexcept override { watchdog_.leave_to_parent(); }

 private:
  using TimePoint = Watchdog::Clock::time_point;

  bool look();
  void look_at_tick(TimePoint now);
  bool look_at_rest(TimePoint now);
  void look_at_streams(TimePoint now);
  void look_at(Driven& stream, TimePoint now);
  [[nodiscard]] bool is_suspicious(const Driven& stream) const;

  Runtime& runtime_;
  Watchdog watchdog_{[this] { return look(); }};
  std::uint64_t last_ = 0;  // the stream that the last look ended with
};

bool RuntimeWatchdog::look() {
  const auto now = Watchdog::Clock::now();
  look_at_tick(now);
  const bool rests = look_at_rest(now);
  const Tick& tick = runtime_.tick();
  if (tick.ticks()) return true;  // a thread that is held up in it is bound to go on
  look_at_streams(now);
  return rests || tick.any() || !watchdog_.sights().empty();
}

void RuntimeWatchdog::look_at_tick(TimePoint now) {
  const auto due = runtime_.tick().overdue(now);
  if (!due) return watchdog_.forget(kTickSight);
  if (!watchdog_.sight(kTickSight, static_cast<std::uint64_t>(due->time_since_epoch().count()), now)) return;
  Watchdog::report("a tick was lost: it is done now");
  runtime_.tick().alarm();
}

// Whether a progress thread rests. While one does, there are drivers, whose tick ends it.
bool RuntimeWatchdog::look_at_rest(TimePoint now) {
  ProgressThreads& threads = runtime_.progress_threads();
  const bool rests = threads.any_rests();
  if (!rests || runtime_.tick().any()) return watchdog_.forget(kRestSight), rests;
  if (!watchdog_.sight(kRestSight, 0, now)) return true;
  Watchdog::report("a progress thread rested though no other thread did its work: it is awake now");
  threads.resume_all();
  return true;
}

bool RuntimeWatchdog::is_suspicious(const Driven& stream) const {
  const auto sights = watchdog_.sights();
  return std::ranges::find(sights, stream.number(), &Watchdog::Sight::stream) != sights.end();
}

// Looks at the streams that were suspicious, and at as many others as one look permits.
void RuntimeWatchdog::look_at_streams(TimePoint now) {
  auto streams = runtime_.streams();
  std::ranges::rotate(streams, std::ranges::upper_bound(streams, last_, {}, &Driven::number));
  const auto most = std::min(streams.size(), kMostLooked);
  for (std::size_t i = 0; i < streams.size(); ++i) {
    if (i < most) last_ = streams[i]->number();
    if (i < most || is_suspicious(*streams[i])) look_at(*streams[i], now);
  }
}

void RuntimeWatchdog::look_at(Driven& stream, TimePoint now) {
  const auto moved = stream.moved_if_unserved();
  if (!moved) return watchdog_.forget(stream.number());
  if (!watchdog_.sight(stream.number(), *moved, now)) return;
  Watchdog::report("a socket was ready and no thread served it: it is served now");
  stream.drive(false);
}

}  // namespace

std::unique_ptr<LostWakeUps> LostWakeUps::make(Runtime& runtime) { return std::make_unique<RuntimeWatchdog>(runtime); }

}  // namespace weft::verbs::detail
