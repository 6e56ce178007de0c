// SPDX-License-Identifier: Apache-2.0
#include "verbs/progress/poller.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <new>
#include <span>
#include <utility>

#include "verbs/progress/driven.hpp"
#include "verbs/progress/runtime.hpp"
#include "verbs/progress/socket_watch.hpp"

namespace weft::verbs::detail {

// --- Streams

void Poller::join(const std::shared_ptr<Driven>& stream, SocketWatch& watch) {
  const std::lock_guard lock(mutex_);
  members_.emplace(stream->number(), Member{stream, &watch});
  // What cannot be watched is read in turn, as all the others are then.
  if (sockets_ && watch.enter(*sockets_)) sockets_.reset();
  keep_few();
}

void Poller::leave(const Driven& stream, const SocketWatch& watch) {
  const std::lock_guard lock(mutex_);
  const auto gone = members_.extract(stream.number());
  if (gone.empty()) return;
  if (sockets_) watch.exit(*sockets_);
  keep_few();
}

// Updates whether the streams are few. Streams that were read in turn are read once more: rings are silent until their
// reader has announced that it may sleep. A stream that joins or leaves costs the same among thousands as among ten,
// because nothing is copied then. Without memory, few are served like many.
void Poller::keep_few() noexcept {
  const bool few = members_.size() <= tuning::kFewStreams;
  if (few_.exchange(few) && !few) newly_many_ = true;
  try {
    few_streams_ = few_ ? std::make_shared<const Streams>(all()) : nullptr;
  } catch (const std::bad_alloc&) {
    few_streams_ = nullptr;
  }
}

Poller::Streams Poller::all() const {
  Streams all;
  all.reserve(members_.size());
  for (const auto& [number, member] : members_) all.push_back(member.stream);
  return all;
}

// Once a thread polls: a program that takes all its completions on events may never.
void Poller::watch_all() {
  auto set = transport::ReadinessSet::create();
  if (!set) return;  // out of descriptors: each socket is read in turn
  for (const auto& [number, member] : members_) {
    if (member.watch->enter(*set)) return;
  }
  sockets_ = std::make_shared<transport::ReadinessSet>(std::move(*set));
}

std::shared_ptr<transport::ReadinessSet> Poller::sockets() const {
  const std::lock_guard lock(mutex_);
  return sockets_;
}

// --- Polling

void Poller::drive() {
  std::shared_ptr<const Streams> few;
  std::shared_ptr<transport::ReadinessSet> sockets;
  bool newly_many = false;
  {
    const std::lock_guard lock(mutex_);
    if (members_.empty()) return;
    few = few_streams_;
    if (!few && !sockets_) watch_all();
    newly_many = !few && std::exchange(newly_many_, false);
    if (!few && !newly_many) sockets = sockets_;
    if (!few && !sockets) few = std::make_shared<const Streams>(all());
  }
  if (presence_.is_here()) {
    presence_.stay();
  } else if (presence_.come(Clock::now()) && presence_.arrive()) {
    runtime_.watch(shared_from_this());
  }
  if (sockets) return drive_ready(*sockets);
  bool each_was_free = true;
  for (const auto& stream : *few) each_was_free = stream->drive_if_free(*this) && each_was_free;
  if (!newly_many || each_was_free) return;
  const std::lock_guard lock(mutex_);
  newly_many_ = true;
}

void Poller::drive_ready(transport::ReadinessSet& set) {
  std::array<transport::Ready, transport::ReadinessSet::kMaxReady> ready;
  const std::size_t count = set.wait(ready);
  for (const auto& entry : std::span(ready).first(count)) {
    if (const auto stream = runtime_.find(entry.token)) stream->drive_if_free(*this);
  }
}

// It has time, and perhaps the processor that a progress thread waits for: perftest's servers poll the queue of one
// connection while their clients read and write on others.
void Poller::idle() {
  if (!presence_.is_here()) return;
  if (spare_time_.looks_elsewhere()) runtime_.progress_threads().help();
  if (spare_time_.looks_at_clock()) runtime_.tick().tick_if_due();
}

// --- Its presence is over

void Poller::sleeps() {
  if (!presence_.leave()) return;
  runtime_.progress_threads().poller_leaves();
  hand_back();
}

// Ticks are tuning::kTick apart or more.
bool Poller::is_over() {
  if (presence_.came()) return false;
  presence_.leave();
  hand_back();
  return true;
}

// Looks at the presence with the lock held, as hand_back() takes the list: a claim before is in the list, one after
// finds that it is over.
bool Poller::claim(std::uint64_t stream) {
  if (!presence_.is_here()) return false;
  const std::lock_guard lock(mutex_);
  if (!presence_.is_here() || !members_.contains(stream)) return false;
  // Before the list grows, those that have left go.
  const auto has_left = [this](std::uint64_t number) { return !members_.contains(number); };
  if (claimed_.size() == claimed_.capacity()) std::erase_if(claimed_, has_left);
  claimed_.push_back(stream);
  return true;
}

// Some may be claimed again meanwhile, into the other list: both keep their memory for the next time.
void Poller::hand_back() {
  std::vector<std::uint64_t> claimed;
  {
    const std::lock_guard lock(mutex_);
    claimed.swap(claimed_);
    claimed_.swap(spare_);
  }
  try {
    for (; !claimed.empty(); claimed.pop_back()) {
      if (const auto stream = runtime_.find(claimed.back())) stream->is_over(*this);
    }
  } catch (const std::bad_alloc&) {
    const std::lock_guard lock(mutex_);
    // There is room for those that were taken off and claimed again.
    claimed.insert(claimed.end(), claimed_.begin(), claimed_.end());
    claimed_.swap(claimed);
    throw;
  }
  const std::lock_guard lock(mutex_);
  spare_.swap(claimed);
}

}  // namespace weft::verbs::detail
