// SPDX-License-Identifier: Apache-2.0
// A connection's start, and the calls of connection manager and queue pair.
#include "verbs/stream/stream.hpp"

#include <atomic>
#include <utility>

namespace weft::verbs::detail {

namespace {

std::uint64_t next_stream_number() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

engine::Config to_config(const Stream::Setup& setup, std::uint32_t emss) {
  const Policy& policy = setup.policy;
  return {.role = setup.role,
          .mpa = {.revision = policy.startup.mpa_revision,
                  .crc = policy.startup.crc,
                  .markers = policy.startup.markers,
                  .enhanced = policy.startup.enhanced && policy.startup.mpa_revision >= 2,
                  .peer_to_peer =
                      policy.startup.peer_to_peer && policy.startup.enhanced && policy.startup.mpa_revision >= 2,
                  .rtr = policy.startup.rtr,
                  .ird = setup.ird,
                  .ord = setup.ord},
          .emss = emss != 0 ? emss : engine::Config{}.emss,
          .max_ulpdu = policy.startup.max_ulpdu,
          .send_queue_depth = setup.send_depth,
          .max_ird = Device::limits().max_ird,
          .no_receive = policy.startup.no_receive == NoReceive::kTerminate ? engine::NoReceive::kTerminate
                                                                           : engine::NoReceive::kStall,
          .early_placement = policy.startup.early_placement ? engine::Config{}.early_placement : 0,
          .startup_timeout = policy.timeouts.startup,
          .first_fpdu_delay = policy.timeouts.first_fpdu_delay,
          .fpdu_timeout = policy.timeouts.fpdu,
          .window_timeout = policy.timeouts.window,
          .idle_timeout = policy.timeouts.idle,
          .no_receive_timeout = policy.timeouts.no_receive,
          .finish_timeout = policy.timeouts.finish,
          .close_timeout = policy.timeouts.close};
}

Error to_error(engine::StartupError error) {
  switch (error) {
    case engine::StartupError::kWrongRole: return {Errc::kInvalidState, "connection", "the other role's call"};
    case engine::StartupError::kWrongState: return {Errc::kDisconnected, "connection", "the start-up is over"};
    case engine::StartupError::kPrivateDataTooLong:
      return {Errc::kPrivateDataTooLong, "private_data", "more than 512 octets, or 508 with IRD and ORD"};
    case engine::StartupError::kIrdOrdOutOfRange:
      return {Errc::kInvalidArgument, "ird or ord", "out of range, or more than the peer can do"};
    case engine::StartupError::kBadPolicy: return {Errc::kInvalidArgument, "policy", "contradicts itself"};
  }
  return {Errc::kInvalidState, "connection", "start-up failed"};
}

}  // namespace

std::shared_ptr<Stream> Stream::make(Runtime& runtime, Setup setup) {
  setup.number = next_stream_number();
  auto stream = std::make_shared<Stream>(runtime, std::move(setup));
  runtime.add(stream);
  return stream;
}

void Stream::start() {
  const std::lock_guard lock(mutex_);
  if (!life_.finished) settle();
}

Stream::Stream(Runtime& runtime, Setup setup)
    : runtime_(runtime),
      patience_{.no_receive = setup.policy.timeouts.no_receive, .disconnect = setup.policy.timeouts.disconnect},
      memory_(runtime.stags(), setup.policy.startup.checked_memory),
      pipe_(std::move(setup.socket), std::move(setup.tls)),
      // One progress thread reads the Requests of all connections that one listener accepts, in the order of their
      // arrival: programs pair the connections that they make one after the other with the requests by their order
      // (perftest does).
      watch_(pipe_.socket(), setup.number,
             runtime.progress_threads().of(setup.listener != 0 ? setup.listener : setup.number)),
      peer_(setup.peer),
      origin_{.connection = setup.connection, .since = now(), .initiator = setup.role == mpa::Role::kInitiator},
      engine_(to_config(setup, pipe_.socket().emss()), memory_, origin_.since),
      witness_(Witness::make({.capture = Runtime::capture(pipe_.socket(), origin_.initiator),
                              .connection = setup.connection,
                              .role = setup.role,
                              .shows = setup.policy.tls.pcap_shows,
                              .report_stalls_after = setup.policy.timeouts.tell_stalls_after},
                             pipe_)),
      observer_(std::move(setup.observer)),
      outbox_(witness_->captures()) {
  outbox_.emss_read_at = origin_.since;
}

Stream::~Stream() = default;

// --- The connection manager

void Stream::attach(const std::shared_ptr<ServedQueuePair>& qp) {
  qp_ = qp;
  receives_ = qp->receives;
  memory_.attach({qp->domain->number, qp->identity}, qp->receives, weak_from_this());
  watch_.join(shared_from_this(), qp->drivers);
}

Result<void> Stream::connect(const std::shared_ptr<ServedQueuePair>& qp, Bytes private_data) {
  const std::lock_guard lock(mutex_);
  if (life_.finished) return fail(Errc::kDisconnected, "connection", "closed before it began");
  if (const auto ours = qp->set_stream(observer_, shared_from_this()); !ours) return ours;
  if (const auto begun = engine_.connect(private_data); !begun) return std::unexpected(to_error(begun.error()));
  attach(qp);
  send_some();
  settle();
  return {};
}

Result<void> Stream::accept(const std::shared_ptr<ServedQueuePair>& qp, Bytes private_data,
                            const engine::AcceptParameters& parameters) {
  const std::lock_guard lock(mutex_);
  if (life_.finished) return fail(Errc::kDisconnected, "connection", "the peer has gone");
  if (const auto ours = qp->set_stream(observer_, shared_from_this()); !ours) return ours;
  const auto accepted = engine_.accept(private_data, parameters);
  if (!accepted) return std::unexpected(to_error(accepted.error()));
  attach(qp);
  pump();
  drive_locked();  // the peer's first FPDU may be here already
  return {};
}

Result<void> Stream::reject(Bytes private_data) {
  const std::lock_guard lock(mutex_);
  if (life_.finished) return fail(Errc::kDisconnected, "connection", "the peer has gone");
  if (const auto done = engine_.reject(private_data); !done) return std::unexpected(to_error(done.error()));
  pump();
  send_some();
  settle();
  return {};
}

void Stream::disconnect() {
  const std::lock_guard lock(mutex_);
  if (life_.finished || std::exchange(life_.asked, true)) return;
  life_.reach(Stage::kClosing);
  witness_->say("disconnect: what is posted goes out first");
  end_by(Errc::kDisconnected, "this end closed the connection");
  engine_.close(now());
  pump();
  send_some();
  life_.farewell = StreamLife::Farewell{.look_at = now() + patience_.disconnect, .moved = moved()};
  settle();
}

std::error_code Stream::set_type_of_service(std::uint8_t octet) {
  const std::lock_guard lock(mutex_);
  return life_.finished ? std::error_code{} : pipe_.socket().set({.type_of_service = octet});
}

std::size_t Stream::tcp_info(MutableBytes into) {
  const std::lock_guard lock(mutex_);
  return life_.finished ? 0 : pipe_.socket().tcp_info(into);
}

std::optional<transport::PeerIdentity> Stream::identity() {
  const std::lock_guard lock(mutex_);
  return pipe_.identity();
}

// --- The queue pair

void Stream::drain(bool on) {
  const std::lock_guard lock(mutex_);
  if (life_.finished) return;
  engine_.drain(on);
  pump();
  send_some();
  settle();
}

// A stream that fails and has nothing left to flush ends by itself, so that its Terminate arrives (RDMAP-6.2.1-05).
void Stream::abort() {
  const std::lock_guard lock(mutex_);
  if (life_.finished || (life_.stage() >= Stage::kFailing && sends_.slots.empty())) return;
  witness_->say("aborted");
  end_by(Errc::kDisconnected, "this end aborted the connection");
  engine_.abort(now());
  pump();
  send_some();
  settle();
}

// What completed with success is not lost with its queue pair, as programs know it from adapters: TCP has the octets,
// but a reset would take them back. A close under way, or a Terminate on its way (RDMAP-6.2.1-05), goes on as well;
// unless work still uses the queue pair's memory.
void Stream::release_queue_pair() {
  std::optional<std::uint64_t> one_too_many;
  {
    const std::lock_guard lock(mutex_);
    leave_locked();
    if (!life_.finished && !std::exchange(life_.orphaned, true)) one_too_many = runtime_.orphans().add(number());
  }
  const auto oldest = one_too_many ? runtime_.find(*one_too_many) : nullptr;  // takes its lock, so not under ours
  if (oldest) oldest->end_waiting();
}

void Stream::leave_locked() {
  if (life_.finished) return release_locked();
  const bool leaves = sends_.slots.empty() && life_.is_established();
  witness_->say(leaves ? "its queue pair is gone: FIN after what was sent" : "aborted: its queue pair is gone");
  if (leaves) {
    life_.reach(Stage::kClosing);
    life_.queue_pair_told = true;  // it has none to tell
    engine_.leave(now());
  } else {
    engine_.abort(now());
  }
  pump();
  if (life_.is_closed()) settle();
  release_locked();  // before anything else is written: responses would read memory that is the application's again
  if (life_.finished) return;
  if (std::exchange(inbox_.stalled, false)) present();  // no receive is waited for any more: on to the peer's FIN
  send_some();
  settle();
}

void Stream::release_locked() {
  memory_.detach();
  const auto qp = std::exchange(qp_, nullptr);
  if (!qp) return;
  watch_.leave(*this);
  if (!life_.finished) settle_watch();
}

}  // namespace weft::verbs::detail
