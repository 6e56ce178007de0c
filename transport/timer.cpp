// SPDX-License-Identifier: Apache-2.0
#include "transport/timer.hpp"

#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <optional>
#include <utility>

#include "transport/cancellation.hpp"
#include "transport/detail/callback_gate.hpp"
#include "transport/detail/reactor_state.hpp"

namespace weft::transport {

struct Timer::State {
  State(Reactor& reactor, Task on_expiry) : gate(std::move(on_expiry)), timer(reactor.state().context) {}

  detail::CallbackGate<> gate;
  std::optional<boost::asio::steady_timer> timer;
  // An expiry that is already on its way when the timer is set again cannot be called back; it is recognised by its
  // age.
  std::uint64_t generation = 0;

  void expired(std::uint64_t its_generation) {
    auto lock = gate.lock();
    if (its_generation == generation) gate.call(std::move(lock));
  }
};

Timer::Timer(Reactor& reactor, Task on_expiry) : state_(std::make_shared<State>(reactor, std::move(on_expiry))) {}

Timer::~Timer() {
  if (!state_) return;
  auto lock = state_->gate.lock();
  state_->timer.reset();
  state_->gate.close(std::move(lock));
}

Timer::Timer(Timer&&) noexcept = default;

Timer& Timer::operator=(Timer&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}

void Timer::set(Deadline deadline) {
  const NoCancellation here;
  auto lock = state_->gate.lock();
  const std::uint64_t generation = ++state_->generation;
  state_->timer->expires_at(deadline);
  state_->timer->async_wait([state = state_, generation](const boost::system::error_code& cancelled) {
    if (!cancelled) state->expired(generation);
  });
}

void Timer::cancel() {
  auto lock = state_->gate.lock();
  ++state_->generation;
  state_->timer->cancel();
  state_->gate.wait_idle(lock);
}

}  // namespace weft::transport
