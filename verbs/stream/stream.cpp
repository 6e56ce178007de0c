// SPDX-License-Identifier: Apache-2.0
// A connection's start, and the calls of connection manager and queue pair.
#include "verbs/stream/stream.hpp"

#include <new>
#include <utility>

namespace weft::verbs::detail {

namespace {

Witness::Setup to_witness(const Link::Setup& setup, const transport::Socket& socket) {
  return {.capture = Runtime::capture(socket, setup.role == mpa::Role::kInitiator),
          .connection = setup.connection,
          .role = setup.role,
          .shows = setup.policy.tls.pcap_shows,
          .report_stalls_after = setup.policy.timeouts.tell_stalls_after};
}

}  // namespace

std::shared_ptr<Stream> Stream::make(Runtime& runtime, Setup setup) {
  setup.number = next_driven_number();
  auto stream = std::make_shared<Stream>(runtime, std::move(setup));
  runtime.add(stream);
  return stream;
}

void Stream::start() {
  const std::lock_guard lock(mutex_);
  if (!link_.life().finished()) settle();
}

Stream::Stream(Runtime& runtime, Setup setup)
    : runtime_(runtime),
      io_(link_, std::move(setup.socket), std::move(setup.tls)),
      // One progress thread reads the Requests of all connections that one listener accepts, in the order of their
      // arrival: programs pair the connections that they make one after the other with the requests by their order
      // (perftest does).
      watch_(io_.pipe().socket(), setup.number,
             runtime.progress_threads().of(setup.listener != 0 ? setup.listener : setup.number)),
      link_(*this, runtime.stags(), runtime.buffers(), setup.link, io_.pipe().socket().emss(),
            Witness::make(to_witness(setup.link, io_.pipe().socket()), io_.pipe()), now()) {
  if (setup.shared) share_pipe(std::move(setup.shared));
}

Stream::~Stream() = default;

// --- LinkHost

void Stream::on_requested() {
  watch_.move_to(runtime_.progress_threads().of(number()));  // the thread that serves it for good
}

void Stream::on_established() {
  if (wake_up_ == engine::kNever) return;
  runtime_.forget_wake_up(number(), std::exchange(wake_up_, engine::kNever));  // it was the startup's
}

void Stream::on_let_go() {
  watch_.leave(*this);
  if (!link_.life().finished()) settle_watch();
}

// --- The connection manager

Result<void> Stream::connect(const Link::QueuePair& qp, Bytes private_data) {
  const std::lock_guard lock(mutex_);
  if (link_.life().finished()) return fail(Errc::kDisconnected, "connection", "closed before it began");
  if (const auto ours = qp->set_stream(link_.observer(), shared_from_this()); !ours) return ours;
  if (const auto begun = link_.connect(qp, weak_from_this(), private_data); !begun) return begun;
  watch_.join(shared_from_this(), qp->drivers);
  io_.send();
  settle();
  return {};
}

Result<void> Stream::accept(const Link::QueuePair& qp, Bytes private_data, const engine::AcceptParameters& parameters) {
  const std::lock_guard lock(mutex_);
  if (link_.life().finished()) return fail(Errc::kDisconnected, "connection", "the peer has gone");
  if (const auto ours = qp->set_stream(link_.observer(), shared_from_this()); !ours) return ours;
  if (const auto accepted = link_.accept(qp, weak_from_this(), private_data, parameters); !accepted) return accepted;
  watch_.join(shared_from_this(), qp->drivers);
  link_.pump(now());
  drive_locked();  // the peer's first FPDU may be here already
  return {};
}

Result<void> Stream::reject(Bytes private_data) {
  {
    const std::lock_guard lock(mutex_);
    if (link_.life().finished()) return fail(Errc::kDisconnected, "connection", "the peer has gone");
    if (const auto done = link_.reject(private_data); !done) return done;
    link_.pump(now());
    io_.send();
    settle();
  }
  be_left();
  return {};
}

bool Stream::share(std::unique_ptr<transport::same_host::Session>& shared) {
  bool shares = false;
  or_end([&] {
    if (link_.life().finished() || link_.inbox().octets_so_far() != 0 || io_.pipe().is_shared()) return;
    shares = true;
    share_pipe(std::move(shared));
    drive_locked();
  });
  return shares;
}

void Stream::share_pipe(std::unique_ptr<transport::same_host::Session> shared) {
  const auto& doorbell = shared->doorbell();
  watch_.move_to(doorbell);  // the socket is in no set any more
  io_.pipe().share(std::move(shared));
  link_.witness().say("the octets go through shared memory");
}

void Stream::disconnect(Unfinished work) {
  or_end([this, work] {
    if (link_.life().finished() || !link_.disconnect(work, now())) return;
    io_.send();
    link_.begin_disconnect_wait(moved(), io_.pipe().socket().round_trip(), now());
    settle();
  });
}

std::error_code Stream::set_type_of_service(std::uint8_t octet) {
  const std::lock_guard lock(mutex_);
  return link_.life().finished() ? std::error_code{} : io_.pipe().socket().set({.type_of_service = octet});
}

std::size_t Stream::tcp_info(MutableBytes into) {
  const std::lock_guard lock(mutex_);
  return link_.life().finished() ? 0 : io_.pipe().socket().tcp_info(into);
}

std::optional<transport::PeerIdentity> Stream::identity() {
  const std::lock_guard lock(mutex_);
  return io_.pipe().identity();
}

// --- The queue pair

std::optional<PostResult> Stream::post(std::span<const SendRequest> requests) {
  std::optional<PostResult> result;
  try {
    const std::lock_guard lock(mutex_);
    if (!link_.queue_pair() || link_.life().is_closed()) return result;
    result = link_.post(requests);
    io_.send(LinkIo::kMaxBatchesOfPost);
    settle();
  } catch (const std::bad_alloc&) {
    if (!result) throw;
    run_out_of_memory();  // what was accepted completes: it is flushed
  }
  return result;
}

std::uint32_t Stream::sends_unfinished() {
  const std::lock_guard lock(mutex_);
  return static_cast<std::uint32_t>(link_.sends_unfinished());
}

void Stream::drain(bool on) {
  or_end([this, on] {
    if (link_.life().finished()) return;
    link_.drain(on);
    link_.pump(now());
    io_.send();
    settle();
  });
}

void Stream::abort() {
  const std::lock_guard lock(mutex_);
  abort_locked();
}

void Stream::abort_locked() {
  if (link_.life().finished() || !link_.abort(now())) return;
  io_.send();
  settle();
}

void Stream::release_queue_pair() {
  {
    const std::lock_guard lock(mutex_);
    leave_locked();
  }
  be_left();
}

// No application has it any more, and it may wait for the peer's FIN.
void Stream::be_left() {
  std::optional<std::uint64_t> one_too_many;
  {
    const std::lock_guard lock(mutex_);
    if (!link_.life().finished()) one_too_many = runtime_.orphans().add(number());
  }
  const auto oldest = one_too_many ? runtime_.find(*one_too_many) : nullptr;  // takes its lock, so not under ours
  if (oldest) oldest->end_waiting();
}

// Only with the lock is the stream established: it is one or the other throughout.
void Stream::leave_peer() {
  {
    const std::lock_guard lock(mutex_);
    const auto& qp = link_.queue_pair();
    if (!qp) return;
    if (!qp->peer_left()) return abort_locked();
    link_.let_go();  // so that no end is the queue pair's
  }
  release_queue_pair();
}

void Stream::leave_locked() {
  if (link_.life().finished()) return link_.let_go();
  link_.leave_queue_pair(now());
  if (link_.life().is_closed()) settle();
  link_.let_go();  // before anything else is written: responses would read memory that is the application's again
  if (link_.life().finished()) return;
  link_.stop_waiting(now());  // on to the peer's FIN
  io_.send();
  settle();
}

}  // namespace weft::verbs::detail
