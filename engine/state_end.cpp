// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "engine/state.hpp"

namespace weft::engine {

using rdmap::StreamEvent;
using rdmap::StreamState;

namespace {

Fault half_fpdu(std::uint64_t stream_offset) {
  Fault fault = make_fault(mpa::Fault::kConnectionLost, stream_offset);
  fault.sentence = "the peer did not send the rest of an FPDU in time";
  return fault;
}

}  // namespace

// Every error of the peer, of whatever layer, is told to the user (DDP-7-01, DDP-7.1-18, DDP-6.2.2-02) and answered
// with one Terminate, for our direction still works (RDMAP-6.2.1-01, RDMAP-7.1-05, DDP-7.1-21, MPA-8-16); the stream
// does not end before that (DDP-6.2.2-07). A responder that has seen no valid FPDU may not send one (MPA-7.1.2-17) and
// closes; so does either end after an error of the startup itself (MPA-8-09), and an end that has sent its FIN. A
// Terminate in which something is wrong is told to the user (RDMAP-5.4-08), and to the peer by the close alone: it
// listens no more.
void Engine::State::fail(const Fault& fault, Instant now) {
  if (!rdmap::may_send(stream)) return;
  // MPA2-9.3-04. Only a responder can get here: an initiator is established with the Reply, and has no work before it.
  if (announcement.awaits_rtr && fault.ours)
    return fail(make_fault(mpa::Fault::kLocalFailure, fault.stream_offset), now);
  deadlines.clear();  // no error waits for its time
  const bool may_speak = may_send_fpdus() && !ending.fin_sent();
  const bool may_terminate = may_speak && !fault.in_terminate;
  if (fault.wrong_answer) {
    if (const auto asked = rdma->inbound.take_unanswered()) queue.finish(asked->cookie, WorkStatus::kBadResponse);
  }
  if (announcement.cancel()) {  // told once, whatever becomes of the connection from here on
    events.push(StartupFailed{report_of(fault), false});
  } else if (!fault.ours) {
    events.push(ProtocolError{report_of(fault), may_terminate});
  }
  step(StreamEvent::kErrorFound);
  give_back_receive(WorkStatus::kFlushed);
  if (!may_speak) return end(Disposition::kClose, false);
  if (may_terminate) {
    rdma->outbound.terminate(rdmap::make_terminate(fault.error, fault.segment ? &*fault.segment : nullptr));
  } else {
    rdma->outbound.stop();
  }
  ending.begin(now + config.close_timeout);
}

void Engine::State::close(Instant now) {
  if (ending.over() || ending.begun()) return;
  if (!rdma) return end(Disposition::kClose, false);
  rdma->outbound.hold(false);  // the end overrides drain(): what was posted goes out (DDP-6.2.1-02)
  step(StreamEvent::kCloseRequested);
  deadlines.idle = kNever;
  ending.begin(now + config.finish_timeout);  // a peer that reads or answers nothing does not keep us forever
  settle(now);
}

// The user is gone: no receive will be posted, and there is no memory to read responses from. The work that was done
// arrives, for the FIN comes after it; a peer that waits for a response is told that none will come (RDMAP-6.2.1-01).
// If it asked and does not read, the kernel is not to keep the octets for it beyond our patience.
void Engine::State::leave(Instant now) {
  if (ending.over()) return;
  if (!rdma) return end(Disposition::kReset, false);
  const bool owing = !rdma->outbound.at_rest();
  ending.when_overdue(owing ? Disposition::kReset : Disposition::kClose);
  if (stream == StreamState::kTerminating) return;
  deadlines.clear();
  if (owing) fail(make_local_fault(rdma->inbound.position()), now);
  if (!owing) give_up(now);
  settle(now);
}

// RST, timeout, any error of the socket: there is no one to tell (RDMAP-6.2-03).
void Engine::State::connection_lost(Instant now) {
  if (ending.over()) return;
  if (stream == StreamState::kStartup && !ending.begun()) {
    on_startup(startup.closed(), now);
  } else if (announcement.awaits_rtr) {
    events.push(StartupFailed{report_of(mpa::Fault::kConnectionLost), false});
  }
  end(Disposition::kReset, false);
}

// This direction ends where it is: the peer has closed its own, so what we asked cannot be answered any more, or our
// user has gone.
void Engine::State::give_up(Instant now) {
  step(StreamEvent::kErrorFound);
  give_back_receive(WorkStatus::kFlushed);
  rdma->outbound.stop();
  ending.begin(now + config.close_timeout);
}

// Whatever is unfinished ends as flushed (RDMAP-6.2.1-03, DDP-6.2.2-05), receives included; Closed comes last.
void Engine::State::end(Disposition how, bool graceful) {
  if (ending.over()) return;
  ending.finish(how == Disposition::kClose && out.on_loan() ? Disposition::kReset : how);
  stream = StreamState::kClosed;
  deadlines.clear();
  draining.to_be_told = false;
  queue.flush();
  collect();
  give_back_receive(WorkStatus::kFlushed);
  events.push(Closed{graceful});
}

// The receive of a message that will not be completed. Once nothing is placed any more its user need not wait for the
// end of the stream, and may flush what it posted after it.
void Engine::State::give_back_receive(WorkStatus status) {
  if (!rdma) return;
  const auto buffer = rdma->inbound.take_unfinished_receive();
  if (buffer) events.push(Received{{}, buffer->cookie, status});
}

void Engine::State::settle(Instant now) {
  if (ending.over()) return;
  if (queue.first_is_done() || draining.to_be_told) collect();
  if (ending.under_way()) settle_end(now);
}

void Engine::State::settle_end(Instant now) {
  // The segment before the peer's FIN will not be looked at any more, and so the FIN is next.
  if (ending.peer_fin_waits() && !rdmap::takes_segments(stream)) handle_fin(now);
  const bool unanswerable = ending.peer_finished() && rdma && rdma->inbound.window().outstanding() > 0;
  // What waits for the initiator's first FPDU can never leave: the peer has closed without one (MPA-7.1.2-17).
  const bool silenced = ending.peer_finished() && rdma && !startup.may_send() && !queue.empty();
  if ((unanswerable || silenced) && rdmap::may_send(stream)) give_up(now);
  if (ending.fin_due() && nothing_left_to_send()) {
    // A peer that was rejected closes first, if it does so within the patience (MPA-7.1.2-07, MPA-7.1.4.2-02,
    // MPA-7.1.4.2-03): some would take a FIN on the heels of our Reply for the end, and not look at its private data.
    const bool rejected = startup.phase() == mpa::Phase::kRejected;
    if (rejected && !ending.peer_finished()) return ending.begin(now + config.close_timeout);
    if (stream == StreamState::kTerminating) queue.flush();
    collect();
    ending.send_fin(now + config.close_timeout);
  }
  const bool graceful = stream != StreamState::kTerminating;
  if (ending.fin_sent() && ending.peer_finished()) end(Disposition::kClose, graceful);  // DDP-3-13, DDP-6.2-02
}

bool Engine::State::nothing_left_to_send() const noexcept {
  if (out.on_loan() || !startup.unsent().empty()) return false;
  if (!rdma) return true;
  if (stream == StreamState::kTerminating) return rdma->outbound.over();
  return queue.empty() && rdma->outbound.at_rest();
}

// --- Deadlines

std::optional<Instant> Engine::State::next_deadline() const noexcept { return deadlines.earliest(ending.deadline()); }

void Engine::State::deadline_passed(Instant now) {
  const auto passed = [now](const std::optional<Instant>& deadline) { return deadline && *deadline <= now; };
  if (passed(ending.deadline())) {
    end(ending.overdue(), false);
  } else if (passed(deadlines.startup)) {
    deadlines.startup.reset();
    on_startup(startup.timed_out(), now);
  } else if (passed(deadlines.first_fpdu)) {
    deadlines.first_fpdu.reset();
  } else if (passed(deadlines.receive)) {
    deadlines.receive.reset();
    fail(rdma->inbound.no_receive(), now);
  } else {
    peers_deadline_passed(now);
  }
  settle(now);
}

// A peer that keeps us waiting in RDMA mode. One whose Send waits for a receive is not idle: it is our user's turn.
void Engine::State::peers_deadline_passed(Instant now) {
  if (deadlines.window <= now) {
    events.push(TimedOut{TimedOut::What::kWindow});
    end(Disposition::kReset, false);
  } else if (deadlines.frame <= now) {
    deadlines.frame = kNever;
    fail(half_fpdu(rdma->inbound.position()), now);
  } else if (deadlines.idle <= now && deadlines.receive) {
    octets_moved(now);
  } else if (deadlines.idle <= now) {
    events.push(TimedOut{TimedOut::What::kIdle});
    close(now);
  }
}

}  // namespace weft::engine
