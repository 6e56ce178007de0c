// SPDX-License-Identifier: Apache-2.0
#include "verbs/progress/socket_watch.hpp"

#include <utility>

#include "verbs/progress/poller.hpp"
#include "verbs/progress/waiter.hpp"

namespace weft::verbs::detail {

// --- The queue pair

void SocketWatch::join(const std::shared_ptr<Driven>& self, const QueueDrivers& drivers) {
  drivers_ = &drivers;
  for (std::size_t side = 0; side < kSides; ++side) {
    if (Poller* const one = poller(side)) one->join(self, *this);
    if (Waiter* const one = waiter(side)) one->join(self);
  }
}

void SocketWatch::leave(const Driven& self) {
  for (std::size_t side = 0; side < kSides; ++side) {
    if (Poller* const one = poller(side)) one->leave(self, *this);
    Waiter* const one = waiter(side);
    if (one == nullptr) continue;
    if (std::exchange(seats_[side], std::nullopt)) one->sockets().remove(*socket_);
    one->leave(self);
  }
  drivers_ = nullptr;
  owner_ = {};
}

// --- The events of the table

bool SocketWatch::owns(const Driver& driver) const noexcept {
  switch (owner_.kind) {
    case Kind::kProgressThread: return false;
    case Kind::kPoller: return poller(owner_.side) == &driver;
    case Kind::kWaiter: return waiter(owner_.side) == &driver;
  }
  return false;
}

bool SocketWatch::driven_by(Poller& by) {
  if (owner_.kind == Kind::kPoller || !by.claim(stream_)) return false;
  owner_ = {Kind::kPoller, static_cast<std::uint8_t>(poller(0) == &by ? 0 : 1)};
  return true;
}

bool SocketWatch::waited_for_by(Waiter& by) {
  if (owner_.kind != Kind::kProgressThread) return false;
  for (std::uint8_t side = 0; side < kSides; ++side) {
    if (waiter(side) == &by) return owner_ = {Kind::kWaiter, side}, true;
  }
  return false;  // it has left meanwhile
}

bool SocketWatch::is_over(const Driver& owner) {
  if (!owns(owner)) return false;
  owner_ = heir();
  return true;
}

// Perhaps the owner itself, which has come back. None keeps a stream that it has just got when its presence is over: a
// waiter asks all its streams then, and a poller all that it has claimed. May find no memory.
SocketWatch::Owner SocketWatch::heir() const {
  for (std::uint8_t side = 0; side < kSides; ++side) {
    Poller* const one = poller(side);
    if (one != nullptr && one->claim(stream_)) return {Kind::kPoller, side};
  }
  for (std::uint8_t side = 0; side < kSides; ++side) {
    Waiter* const one = waiter(side);
    if (one != nullptr && one->is_present()) return {Kind::kWaiter, side};
  }
  return {};
}

// --- After every drive

bool SocketWatch::settle(transport::Interest wanted, bool stalled) {
  if (settled_ == Settled{wanted, stalled, owner_}) return true;
  tell_pollers(wanted.write);
  if (owner_.kind != Kind::kProgressThread) tell_waiters(wanted);
  // If a stream does not read, only the progress thread can notice a reset.
  const auto beside =
      stalled ? std::optional(transport::Interest{.read = wanted.read, .end = wanted.end}) : std::nullopt;
  const bool told = tell_progress_thread(owner_.kind == Kind::kProgressThread ? wanted : beside);
  settled_ = told ? std::optional(Settled{wanted, stalled, owner_}) : std::nullopt;
  return told;
}

// No matter who owns the socket: a poller that finds room in it drives the stream, and so becomes its owner. A poller
// of few has no set and tries with each poll.
void SocketWatch::tell_pollers(bool write) {
  if (wants_room_.exchange(write) == write) return;
  for (std::size_t side = 0; side < kSides; ++side) {
    Poller* const one = poller(side);
    const auto set = one == nullptr ? nullptr : one->sockets();
    if (set) set->modify(*socket_, stream_, {.read = true, .write = write});
  }
}

// The set of a waiter that has gone may keep what it has, while a progress thread owns the socket: no thread sleeps in
// it, and most likely the waiter comes back.
void SocketWatch::tell_waiters(transport::Interest wanted) {
  for (std::uint8_t side = 0; side < kSides; ++side) {
    const bool its_own = owner_ == Owner{Kind::kWaiter, side};
    if (its_own && !tell_waiter(side, wanted)) owner_ = {};
    if (!its_own && seats_[side]) static_cast<void>(tell_waiter(side, transport::kNoInterest));
  }
}

// False without memory or watches.
bool SocketWatch::tell_waiter(std::size_t side, transport::Interest interest) {
  auto& told = seats_[side];
  if (told == interest) return true;
  auto& set = waiter(side)->sockets();
  if (told) {
    set.modify(*socket_, stream_, interest);
  } else if (set.add(*socket_, stream_, interest)) {
    return false;
  }
  told = interest;
  return true;
}

// Nothing: not at all, which spares every octet that comes a look at the threads that wait. False as above.
bool SocketWatch::tell_progress_thread(std::optional<transport::Interest> interest) {
  if (watched_ == interest) return true;
  if (!interest) {
    home_->remove(*socket_);
  } else if (watched_) {
    home_->modify(*socket_, stream_, *interest);
  } else if (home_->add(*socket_, stream_, *interest)) {
    return false;
  }
  watched_ = interest;
  return true;
}

void SocketWatch::move_to(transport::ReadinessThread& home) {
  if (home_ == &home) return;
  end();
  home_ = &home;
}

void SocketWatch::move_to(const transport::Socket& socket) {
  end();
  socket_ = &socket;
}

void SocketWatch::end() {
  static_cast<void>(tell_progress_thread({}));
  settled_.reset();
}

bool SocketWatch::is_polled_among_few() const noexcept {
  return owner_.kind == Kind::kPoller && poller(owner_.side)->has_few();
}

// While one thread serves the progress thread's sockets no other one can; it may wait for a processor, and is bound to
// go on.
bool SocketWatch::is_served(transport::Interest wanted, bool proxy) {
  switch (owner_.kind) {
    case Kind::kProgressThread: return watched_ == wanted && (!home_->rests() || proxy || home_->serves_now());
    case Kind::kWaiter: return seats_[owner_.side] == wanted && waiter(owner_.side)->is_waiting();
    case Kind::kPoller: return false;  // it may have gone
  }
  return false;
}

// --- A poller's own set

std::error_code SocketWatch::enter(transport::ReadinessSet& set) const {
  return set.add(*socket_, stream_, {.read = true, .write = wants_room_});
}

}  // namespace weft::verbs::detail
