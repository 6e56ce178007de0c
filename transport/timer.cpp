// SPDX-License-Identifier: Apache-2.0
// On a timerfd of its own. To set a timer of Asio's anew wakes the reactor's thread, which is what setting a deadline
// again and again, before it passes, is meant to spare.
#include "transport/timer.hpp"

#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cstdint>
#include <utility>

#include "transport/cancellation.hpp"
#include "transport/detail/callback_gate.hpp"
#include "transport/detail/last_error.hpp"
#include "transport/detail/reactor_state.hpp"
#include "transport/own_descriptors.hpp"

namespace weft::transport {

struct Timer::State : std::enable_shared_from_this<State> {
  State(Reactor& reactor, Task on_expiry) : gate(std::move(on_expiry)), timer(reactor.state().context) {}

  detail::CallbackGate<> gate;
  boost::asio::posix::stream_descriptor timer;

  void wait() {
    timer.async_wait(timer.wait_read, [state = shared_from_this()](const boost::system::error_code& cancelled) {
      if (!cancelled) state->expired();
    });
  }

  // An expiry that was on its way when the timer was set again is gone by now: then there is nothing to read.
  void expired() {
    auto lock = gate.lock();
    if (!gate.is_open(lock)) return;
    std::uint64_t times = 0;
    const bool due = ::read(timer.native_handle(), &times, sizeof times) == sizeof times;
    wait();
    if (due) gate.call(std::move(lock));
  }
};

Timer::Timer(std::shared_ptr<State> state) noexcept : state_(std::move(state)) {}

std::expected<Timer, std::error_code> Timer::create(Reactor& reactor, Task on_expiry) {
  auto state = std::make_shared<State>(reactor, std::move(on_expiry));
  const int descriptor = move_up(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (descriptor < 0) return std::unexpected(last_error());
  boost::system::error_code error;
  state->timer.assign(descriptor, error);
  if (error) ::close(descriptor);
  if (error) return std::unexpected(std::error_code(error));
  state->wait();
  return Timer(std::move(state));
}

Timer::~Timer() {
  if (!state_) return;
  auto lock = state_->gate.lock();
  boost::system::error_code ignored;
  state_->timer.close(ignored);
  state_->gate.close(std::move(lock));
}

Timer::Timer(Timer&&) noexcept = default;

Timer& Timer::operator=(Timer&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}

void Timer::set(Deadline deadline) {
  const auto since_boot = std::max(deadline.time_since_epoch(), Deadline::duration(1));  // zero would be never
  const auto seconds = std::chrono::floor<std::chrono::seconds>(since_boot);
  const itimerspec when{.it_interval = {}, .it_value = {seconds.count(), (since_boot - seconds).count()}};
  const auto lock = state_->gate.lock();
  ::timerfd_settime(state_->timer.native_handle(), TFD_TIMER_ABSTIME, &when, nullptr);
}

}  // namespace weft::transport
