// SPDX-License-Identifier: Apache-2.0
#include "transport/readiness_watch.hpp"

#include <boost/asio/posix/stream_descriptor.hpp>
#include <utility>

#include "transport/detail/callback_gate.hpp"
#include "transport/detail/reactor_state.hpp"

namespace weft::transport {

namespace asio = boost::asio;

struct ReadinessWatch::State : std::enable_shared_from_this<State> {
  State(Reactor& reactor, Task on_ready) : gate(std::move(on_ready)), watched(reactor.state().context) {}

  detail::CallbackGate<> gate;
  asio::posix::stream_descriptor watched;

  // Each wait registers the descriptor anew, so one that is still readable is told again although Asio's own
  // registration is edge-triggered.
  void arm() {
    const auto lock = gate.lock();
    if (!gate.is_open(lock)) return;
    watched.async_wait(asio::posix::stream_descriptor::wait_read,
                       [self = shared_from_this()](const boost::system::error_code& cancelled) {
                         if (!cancelled && self->gate.call(self->gate.lock())) self->arm();
                       });
  }
};

ReadinessWatch::ReadinessWatch(std::shared_ptr<State> state) noexcept : state_(std::move(state)) {}

std::expected<ReadinessWatch, std::error_code> ReadinessWatch::create(Reactor& reactor, const ReadinessSet& set,
                                                                      Task on_ready) {
  auto state = std::make_shared<State>(reactor, std::move(on_ready));
  boost::system::error_code error;
  state->watched.assign(set.descriptor(), error);
  if (error) return std::unexpected(std::error_code(error));
  state->arm();
  return ReadinessWatch(std::move(state));
}

ReadinessWatch::~ReadinessWatch() {
  if (!state_) return;
  auto lock = state_->gate.lock();
  state_->watched.release();  // the descriptor is its owner's
  state_->gate.close(std::move(lock));
}

ReadinessWatch::ReadinessWatch(ReadinessWatch&&) noexcept = default;

ReadinessWatch& ReadinessWatch::operator=(ReadinessWatch&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}

}  // namespace weft::transport
