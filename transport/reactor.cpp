// SPDX-License-Identifier: Apache-2.0
#include "transport/reactor.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/system/system_error.hpp>
#include <new>
#include <utility>

#include "transport/cancellation.hpp"
#include "transport/detail/reactor_state.hpp"
#include "transport/own_descriptors.hpp"

namespace weft::transport {

Reactor::Reactor(std::unique_ptr<detail::ReactorState> state) noexcept : state_(std::move(state)) {}
Reactor::~Reactor() = default;
Reactor::Reactor(Reactor&&) noexcept = default;
Reactor& Reactor::operator=(Reactor&&) noexcept = default;

std::expected<Reactor, std::error_code> Reactor::create() {
  try {
    const LowDescriptorsTaken asios_lie_high;
    auto state = std::make_unique<detail::ReactorState>();
    // Asio opens its descriptors with the first object that needs them, and throws when it cannot. Let that be here.
    const boost::asio::steady_timer opens_descriptors(state->context);
    return Reactor(std::move(state));
  } catch (const boost::system::system_error& error) {
    return std::unexpected(std::error_code(error.code()));
  }
}

// False when a task found no memory, which is what becomes of that task alone.
bool Reactor::run_some() {
  try {
    state_->context.run();
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

void Reactor::run() {
  while (!run_some()) {
  }
  state_->context.restart();
}

void Reactor::stop() noexcept { state_->context.stop(); }

void Reactor::post(Task task) {
  const NoCancellation here;
  boost::asio::post(state_->context, std::move(task));
}

void Reactor::post_later(Task task, std::chrono::milliseconds delay) {
  const NoCancellation here;
  const auto timer = std::make_shared<boost::asio::steady_timer>(state_->context, delay);
  timer->async_wait([timer, task = std::move(task)](const boost::system::error_code& cancelled) mutable {
    if (!cancelled) task();
  });
}

}  // namespace weft::transport
