// SPDX-License-Identifier: Apache-2.0
#include "verbs/progress/waiter.hpp"

#include <array>
#include <chrono>
#include <new>
#include <utility>
#include <vector>

#include "transport/cancellation.hpp"
#include "verbs/base/restarts.hpp"
#include "verbs/progress/driven.hpp"
#include "verbs/progress/runtime.hpp"

namespace weft::verbs::detail {

namespace {

constexpr std::uint64_t kEvents = 0;  // streams are numbered from 1

}  // namespace

// --- Streams

void Waiter::join(const std::shared_ptr<Driven>& stream) {
  const std::lock_guard lock(mutex_);
  members_.emplace(stream->number(), stream);
  newcomers_ = true;
}

void Waiter::leave(const Driven& stream) {
  decltype(members_)::node_type last;  // let go of after the lock
  const std::lock_guard lock(mutex_);
  last = members_.extract(stream.number());
}

std::shared_ptr<Driven> Waiter::find(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  const auto found = members_.find(number);
  return found == members_.end() ? nullptr : found->second;
}

// --- Waiting

// Memory is taken first: without it nothing has changed.
bool Waiter::begin() {
  std::vector<std::shared_ptr<Driven>> streams;
  {
    const std::lock_guard lock(mutex_);
    if (waiting_ || members_.empty() || members_.size() > tuning::kMostWaited || !open_sockets()) return false;
    if (newcomers_ || !is_present()) streams = all();
    presence_.arrive();
    waiting_ = fresh_ = true;
    newcomers_ = false;
  }
  try {
    for (const auto& stream : streams) stream->waited_for_by(*this);
  } catch (const std::bad_alloc&) {
    end();
    throw;
  }
  return true;
}

std::vector<std::shared_ptr<Driven>> Waiter::all() const {
  std::vector<std::shared_ptr<Driven>> streams;
  streams.reserve(members_.size());
  for (const auto& [number, stream] : members_) streams.push_back(stream);
  return streams;
}

// False when the process is out of descriptors.
bool Waiter::open_sockets() {
  if (sockets_) return true;
  auto opened = transport::ReadinessSet::create();
  if (!opened || opened->watch(events_, kEvents)) return false;
  sockets_.emplace(std::move(*opened));
  return true;
}

void Waiter::end() {
  {
    const std::lock_guard lock(mutex_);
    waiting_ = false;
    fresh_ = true;
    if (std::exchange(ticking_, true)) return;
    fresh_ = false;  // the first tick is a whole one from here
    quiet_ticks_ = 0;
  }
  runtime_.watch(shared_from_this());
}

bool Waiter::drive_until(const std::function<bool()>& there) {
  if (there()) return true;  // held back before it was known that a thread waits
  std::array<transport::Ready, tuning::kReadyAtOnce> ready;
  for (;;) {
    const std::size_t count =
        transport::wait_for([&] { return sockets_->wait(ready, transport::ReadinessSet::kForEver); });
    if (count == 0 && !every_handler_restarts()) return false;
    drive(std::span(ready).first(count));
    if (there()) return true;
  }
}

void Waiter::look_if_due() {
  if (!is_present()) return;
  {
    const std::lock_guard lock(mutex_);
    const auto now = Clock::now();
    if (now - looked_ < tuning::kMostUnseen) return;
    looked_ = now;
  }
  std::array<transport::Ready, tuning::kReadyAtOnce> ready;
  const std::size_t count = sockets_->wait(ready);
  for (const auto& one : std::span(ready).first(count)) {
    if (const auto stream = find(one.token)) stream->drive(one.hangup);
  }
}

// What is announced in here is taken next.
void Waiter::drive(std::span<const transport::Ready> ready) {
  const Driving here(*this);
  for (const auto& one : ready) {
    if (const auto stream = find(one.token)) stream->drive(one.hangup);
  }
}

// Ticks are tuning::kTick apart or more.
bool Waiter::is_over() {
  std::vector<std::shared_ptr<Driven>> streams;
  {
    const std::lock_guard lock(mutex_);
    if (!waiting_) show();
    quiet_ticks_ = std::exchange(fresh_, false) ? 0 : quiet_ticks_ + 1;
    if (quiet_ticks_ < (waiting_ ? tuning::kManyTicks : 1)) return false;
    if (!waiting_) {
      streams = all();  // may find no memory
      presence_.leave();
    }
    ticking_ = false;
  }
  for (const auto& stream : streams) stream->is_over(*this);
  return true;
}

}  // namespace weft::verbs::detail
