// SPDX-License-Identifier: Apache-2.0
// The public face: hands each call to the part of State that knows about it.
#include "engine/engine.hpp"

#include "engine/state.hpp"

namespace weft::engine {

Engine::Engine(const Config& config, rdmap::Memory& memory, Instant now)
    : state_(std::make_unique<State>(config, memory, now)) {}
Engine::~Engine() = default;
Engine::Engine(Engine&&) noexcept = default;
Engine& Engine::operator=(Engine&&) noexcept = default;

void Engine::combine_immediate() noexcept { state_->combine_immediate(); }
std::expected<void, StartupError> Engine::connect(Bytes private_data) { return state_->connect(private_data); }
std::expected<void, StartupError> Engine::accept(Bytes private_data, const AcceptParameters& parameters) {
  return state_->accept(private_data, parameters);
}
std::expected<void, StartupError> Engine::reject(Bytes private_data) { return state_->reject(private_data); }

std::expected<void, PostError> Engine::post(const WorkRequest& request) { return state_->post(request); }
void Engine::drain(bool on) noexcept { state_->drain(on); }
void Engine::close(Instant now) { state_->close(now); }
void Engine::abort(Instant) { state_->end(Disposition::kReset, false); }
void Engine::leave(Instant now) { state_->leave(now); }

ReceiveResult Engine::receive(MutableBytes stream, Instant now, const mpa::Landed& landed) {
  return state_->receive(stream, now, landed);
}
Landing Engine::landing(Bytes stream) { return state_->landing(stream); }
void Engine::holds_part(bool on, Instant now) noexcept { state_->holds_part(on, now); }
void Engine::end_of_stream(Instant now) { state_->end_of_stream(now); }
void Engine::connection_lost(Instant now) { state_->connection_lost(now); }
bool Engine::fill(TransmitBatch& batch, Instant now) { return state_->fill(batch, now); }
void Engine::written(std::size_t octets, Instant now) { state_->written(octets, now); }
void Engine::set_emss(std::uint32_t emss) noexcept { state_->set_emss(emss); }
std::optional<Instant> Engine::next_deadline() const noexcept { return state_->next_deadline(); }
void Engine::deadline_passed(Instant now) { state_->deadline_passed(now); }
Disposition Engine::disposition() const noexcept { return state_->ending.disposition(); }
bool Engine::awaits_answers() const noexcept { return state_->rdma && state_->rdma->outbound.awaits_answers(); }
bool Engine::has_output() const noexcept { return state_->has_output(); }

bool Engine::has_events() const noexcept { return !state_->events.empty(); }
bool Engine::inside_message() const noexcept { return state_->rdma && state_->rdma->inbound.inside_message(); }
std::optional<Event> Engine::poll_event() { return state_->poll_event(); }

}  // namespace weft::engine
