// SPDX-License-Identifier: Apache-2.0
// The streams of a completion queue: who polls it drives them.
#include <algorithm>
#include <array>
#include <new>
#include <utility>

#include "verbs/detail/completion_queue_state.hpp"
#include "verbs/detail/runtime.hpp"
#include "verbs/detail/stream.hpp"

namespace weft::verbs::detail {

CompletionQueueState::Members CompletionQueueState::all_members() const {
  const std::lock_guard lock(members_mutex_);
  Members all;
  all.reserve(members_.size());
  for (const auto& [number, member] : members_) all.push_back(member);
  return all;
}

void CompletionQueueState::attach(const std::shared_ptr<Stream>& stream, const transport::Socket& socket) {
  if (channel_) channel_->attach(stream, socket);
  const std::lock_guard lock(members_mutex_);
  members_.emplace(stream->number(), Member{stream, &socket});
  // What cannot be watched is read in turn, as all the others are then.
  if (ready_ && ready_->add(socket, stream->number(), transport::kReadInterest)) ready_.reset();
  keep_few();
  if (members_.size() > kFewStreams && few_.exchange(false)) changed_ = true;
}

// Once somebody polls: a program that takes all its completions on events may never. The set is told by the next tick
// what else than octets its sockets wait for.
void CompletionQueueState::watch_all() {
  auto set = transport::ReadinessSet::create();
  if (!set) return;  // out of descriptors: each socket is read in turn
  for (const auto& [number, member] : members_) {
    if (set->add(*member.socket, number, transport::kReadInterest)) return;
  }
  ready_ = std::make_shared<transport::ReadinessSet>(std::move(*set));
  changed_ = true;
}

// Among thousands, one that comes or goes costs the same as among ten: nothing is copied then.
void CompletionQueueState::keep_few() {
  if (members_.size() > kFewStreams && !few_members_) return;
  few_members_.reset();
  if (members_.size() > kFewStreams) return;
  auto few = std::make_shared<Members>();
  for (const auto& [number, member] : members_) few->push_back(member);
  few_members_ = std::move(few);
}

void CompletionQueueState::detach(const Stream& stream, const transport::Socket& socket) {
  const std::lock_guard lock(members_mutex_);
  const auto gone = members_.extract(stream.number());
  if (gone.empty()) return;
  if (ready_) ready_->remove(socket);
  if (channel_) channel_->detach(stream, socket);
  keep_few();
  few_ = members_.size() <= kFewStreams;
}

// While streams are few each poll tries anyway.
void CompletionQueueState::show_blocked(const Stream& stream, const transport::Socket& socket, bool blocked) {
  const std::lock_guard lock(members_mutex_);
  if (!ready_ || !members_.contains(stream.number())) return;
  ready_->modify(socket, stream.number(), {.read = true, .write = blocked});
}

void CompletionQueueState::make_progress() {
  std::shared_ptr<const Members> few;
  std::shared_ptr<transport::ReadinessSet> ready;
  {
    const std::lock_guard lock(members_mutex_);
    if (members_.empty()) return;
    few = few_members_;
    if (!few && !ready_) watch_all();
    if (!few) ready = ready_;
  }
  if (polls_.notice()) take_over(few.get());
  if (ready) {
    drive_ready(*ready);
  } else {
    const Members all = few ? Members() : all_members();
    for (const auto& member : few ? *few : all) member.stream->drive_if_free();
  }
  // A thread that spins has time, and perhaps the processor that a progress thread waits for: perftest's servers poll
  // the queue of one connection while their clients read and write on others.
  if (!polls_.spins() || held_.load(std::memory_order_relaxed) != 0) return;
  if (polls_.has_a_moment()) runtime_.help();
  if (polls_.looks_at_clock()) runtime_.drivers().tick_if_due();
}

void CompletionQueueState::drive_ready(transport::ReadinessSet& set) {
  std::array<transport::Ready, transport::ReadinessSet::kMaxReady> ready;
  const std::size_t count = set.wait(ready);
  for (const auto& entry : std::span(ready).first(count)) {
    if (const auto stream = runtime_.find(entry.token)) stream->drive_if_free();
  }
}

// From now on the thread that polls reads the sockets, until it arms or the tick finds it gone. Where they are many a
// stream finds out with its next step: an application that polls now and then would else have thousands told each time,
// of which it uses a few.
void CompletionQueueState::take_over(const Members* few) {
  if (few != nullptr) {
    for (const auto& member : *few) member.stream->refresh_interest();
  }
  runtime_.watch(shared_from_this());
}

bool CompletionQueueState::claim(const Stream& stream) {
  if (!polls_.spins()) return false;
  const std::lock_guard lock(members_mutex_);
  if (!polls_.spins() || !members_.contains(stream.number())) return false;  // give_back() may have been here
  // Before the list grows, those that have left go.
  const auto has_left = [this](std::uint64_t number) { return !members_.contains(number); };
  if (claimed_.size() == claimed_.capacity()) std::erase_if(claimed_, has_left);
  claimed_.push_back(stream.number());
  return true;
}

// The polling is over, and no stream can be claimed any more.
void CompletionQueueState::give_back() {
  std::vector<std::uint64_t> claimed;
  {
    const std::lock_guard lock(members_mutex_);
    claimed.swap(claimed_);
  }
  const auto keep = [&] {  // the memory, for the next time; without memory also those that are left
    const std::lock_guard lock(members_mutex_);
    if (claimed_.empty()) claimed_.swap(claimed);
  };
  try {
    for (; !claimed.empty(); claimed.pop_back()) {
      if (const auto stream = runtime_.find(claimed.back())) stream->given_back(*this);
    }
  } catch (const std::bad_alloc&) {
    keep();
    throw;
  }
  keep();
}

// Ticks are kStale apart or more.
bool CompletionQueueState::hand_back_if_idle(Clock::time_point) {
  if (!polls_.came_by()) {
    polls_.end();
    give_back();
    return true;
  }
  if (changed_.exchange(false)) refresh_interests();
  return false;
}

void CompletionQueueState::refresh_interests() {
  std::shared_ptr<const Members> few;  // held by name, and copied by nobody
  {
    const std::lock_guard lock(members_mutex_);
    few = few_members_;
  }
  const Members all = few ? Members() : all_members();
  for (const auto& member : few ? *few : all) member.stream->refresh_interest();
}

}  // namespace weft::verbs::detail
