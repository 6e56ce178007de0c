// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/state.hpp"

namespace weft::engine {

namespace {

std::vector<std::byte> copy_of(Bytes octets) { return {octets.begin(), octets.end()}; }

constexpr std::uint32_t kDefaultOrd = 128;  // where it is not negotiated

// What is not negotiated follows the local user's wish (MPA2-9.1-20 to MPA2-9.1-23). IRD bounds what the peer may ask
// at a time, ORD what we ask (MPA2-3-01, RDMAP-6.1-04, SEC-6.4.3.3-02).
RdmaMode::Depths depths(const mpa::Agreement& agreement, const AcceptParameters& wish, const Config& config) {
  const auto wanted_ird = config.mpa.ird == mpa::kNoNegotiation ? config.max_ird : config.mpa.ird;
  const auto wanted_ord = config.mpa.ord == mpa::kNoNegotiation ? kDefaultOrd : config.mpa.ord;
  const std::uint32_t ird = agreement.ird ? *agreement.ird : wish.ird.value_or(wanted_ird);
  const std::uint32_t ord = agreement.ord ? *agreement.ord : wish.ord.value_or(wanted_ord);
  const bool ready_to_receive = agreement.peer_to_peer && agreement.rtr_common.read;  // needs a place (MPA2-9.1-09)
  return {std::min(ird, std::max<std::uint32_t>(config.max_ird, ready_to_receive ? 1 : 0)), ord};
}

// The ready-to-receive message as a work request without octets that the user does not hear of (MPA2-1.1-01,
// MPA2-9.2-12).
WorkRequest rtr_request(mpa::Rtr rtr) {
  switch (rtr) {
    case mpa::Rtr::kSend: return {.operation = Operation::kSend};
    case mpa::Rtr::kWrite: return {.operation = Operation::kWrite};
    case mpa::Rtr::kRead: return {.operation = Operation::kRead};
  }
  std::unreachable();
}

std::optional<mpa::Rtr> rtr_of(rdmap::Opcode opcode) noexcept {
  switch (opcode) {
    case rdmap::Opcode::kSend: return mpa::Rtr::kSend;
    case rdmap::Opcode::kWrite: return mpa::Rtr::kWrite;
    case rdmap::Opcode::kReadRequest: return mpa::Rtr::kRead;
    default: return std::nullopt;
  }
}

bool moves_octets(const InboundSegment& segment) noexcept {
  if (const auto* read = std::get_if<ReadRequested>(&segment.delivery)) return read->request.size > 0;
  return !segment.payload().empty();
}

}  // namespace

RdmaMode::RdmaMode(const Config& config, const mpa::Agreement& agreement, const Depths& limits, SendQueue& queue,
                   rdmap::Memory& memory)
    : depths(limits),
      inbound(agreement.inbound(), limits.ird, std::max(limits.ord, 1U), memory),
      responses(limits.ird),
      outbound(FpduCutter(agreement.outbound(), config.emss, config.max_ulpdu), limits.ord,
               {queue, responses, inbound, memory}) {
  if (config.combine_immediate) inbound.combine_immediate();
}

Engine::State::State(const Config& wanted, rdmap::Memory& owner, Instant now)
    : config(wanted), memory(owner), startup(wanted), queue(wanted.send_queue_depth), events(wanted.send_queue_depth) {
  // Either end waits for the peer's frame from now on (MPA-7.1.2-26, MPA-7.1.2-31). The driver may be unable to send
  // our own, because TLS has to come first, so the clock of an initiator does not depend on it.
  deadlines.startup = now + config.startup_timeout;
}

// --- User

void Engine::State::combine_immediate() noexcept {
  config.combine_immediate = true;
  if (rdma) rdma->inbound.combine_immediate();
}

std::expected<void, StartupError> Engine::State::connect(Bytes private_data) {
  if (ending.over()) return std::unexpected(StartupError::kWrongState);
  return startup.connect(private_data);
}

// MPA-7.1-08: the user has seen the private data, and its verdict begins full operation.
std::expected<void, StartupError> Engine::State::accept(Bytes private_data, const AcceptParameters& parameters) {
  if (ending.over()) return std::unexpected(StartupError::kWrongState);
  const auto agreement = startup.accept(private_data, parameters);
  if (!agreement) return std::unexpected(agreement.error());
  enter_rdma_mode(*agreement, parameters);
  if (!agreement->peer_to_peer) announce({});
  if (agreement->peer_to_peer) announcement.await(agreement->rtr_common);
  return {};
}

std::expected<void, StartupError> Engine::State::reject(Bytes private_data) {
  if (ending.over()) return std::unexpected(StartupError::kWrongState);
  const auto rejected = startup.reject(private_data);
  if (rejected) ending.begin({});  // the Reply, the peer's FIN, ours: settle()
  return rejected;
}

// --- Peer

ReceiveResult Engine::State::receive_startup(MutableBytes octets, Instant now) {
  const StartupProgress progress = startup.receive(octets);
  std::visit([&](const auto& outcome) { on_startup(outcome, now); }, progress.outcome);
  if (const auto* need = std::get_if<mpa::NeedMore>(&progress.outcome))
    return {.want = ReceiveResult::Want::kMore, .missing = need->missing};
  if (startup.phase() == mpa::Phase::kFailed) return {.consumed = octets.size(), .want = ReceiveResult::Want::kNothing};
  return {.consumed = progress.consumed, .want = ReceiveResult::Want::kMore};
}

void Engine::State::on_startup(const mpa::NeedMore&, Instant) {}

void Engine::State::on_startup(const mpa::RequestReceived& request, Instant) {
  deadlines.startup.reset();  // our user may think as long as it likes
  events.push(ConnectionRequested{request.revision, request.peer_ird, request.peer_ord, request.peer_to_peer,
                                  copy_of(request.private_data)});
}

void Engine::State::on_startup(const mpa::Agreement& agreement, Instant now) {
  deadlines.startup.reset();
  if (config.first_fpdu_delay > Duration{}) deadlines.first_fpdu = now + config.first_fpdu_delay;
  enter_rdma_mode(agreement, {});
  announcement.terms->private_data = copy_of(agreement.private_data);
  if (agreement.rtr) queue.push(rtr_request(*agreement.rtr), true);  // MPA2-5-03: before anything else
  announce(agreement.rtr);
}

void Engine::State::on_startup(const mpa::Rejection& rejection, Instant) {
  events.push(Rejected{rejection.peer_ird, rejection.peer_ord, rejection.retry_with_revision_1,
                       copy_of(rejection.private_data), rejection.takes_no_rtr});
  end(Disposition::kClose, true);  // MPA-7.1.4.2-03
}

// A negotiation that fails is answered with a Terminate (MPA2-8-01); a frame that is none ends the startup as a lost
// connection does (MPA-8-10).
void Engine::State::on_startup(const mpa::StartupFailure& failure, Instant now) {
  deadlines.startup.reset();
  if (rdma) return fail(make_fault(failure.fault, 0), now);  // agreed already: the peer spoke before our first FPDU
  events.push(StartupFailed{report_of(failure.fault), failure.retry_with_revision_1});
  if (!failure.terminate_in) return end(Disposition::kClose, false);  // MPA-8-09
  enter_rdma_mode(*failure.terminate_in, {});
  startup.ends_with_terminate();
  step(rdmap::StreamEvent::kErrorFound);
  rdma->outbound.terminate(rdmap::make_terminate(make_fault(failure.fault, 0).error));
  ending.begin(now + config.close_timeout);
}

// --- Both ends agree

void Engine::State::enter_rdma_mode(const mpa::Agreement& agreement, const AcceptParameters& parameters) {
  const auto limits = depths(agreement, parameters, config);
  rdma.emplace(config, agreement, limits, queue, memory);
  rdma->outbound.hold(draining.on);
  rdma->outbound.count_atomics_from(config.first_atomic_id);
  step(rdmap::StreamEvent::kEstablished);
  announcement.terms = std::make_unique<Established>(Established{agreement.revision,
                                                                 agreement.enhanced,
                                                                 agreement.crc,
                                                                 agreement.markers_in,
                                                                 agreement.markers_out,
                                                                 limits.ird,
                                                                 limits.ord,
                                                                 agreement.peer_ird,
                                                                 agreement.peer_ord,
                                                                 {},
                                                                 {}});
}

void Engine::State::announce(std::optional<mpa::Rtr> rtr) {
  announcement.terms->rtr = rtr;
  events.push(std::move(*std::exchange(announcement.terms, nullptr)));
}

// The responder learns from the first message which ready-to-receive indication its peer chose. Another message does as
// well: it is a valid FPDU, and says all the more that the peer is ready.
void Engine::State::first_segment(const InboundSegment& segment) {
  if (!announcement.awaits_rtr || segment.opcode == rdmap::Opcode::kTerminate)
    return;  // a Terminate establishes nothing
  announcement.awaits_rtr = false;
  deadlines.startup.reset();
  const auto rtr = rtr_of(segment.opcode);
  announce(rtr);
  if (!rtr || !mpa::includes(announcement.rtr_types, *rtr) || moves_octets(segment)) {
    events.push(
        Remark{"the peer opened with a message that is no ready-to-receive indication named by both ends "
               "(MPA2-9.2-12)",
               segment.stream_offset});
  }
}

}  // namespace weft::engine
