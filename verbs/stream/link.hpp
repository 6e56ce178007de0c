// SPDX-License-Identifier: Apache-2.0
// A connection without its socket: the protocol engine, the stages of its life, the octets on their way in and out, and
// the work that has not completed. It has no lock and reads no clock. Whoever owns the link serializes its calls, moves
// the octets, and passes the time; Stream does so for a socket, and tests for a pair of links over a virtual clock.
//
// A call that makes events happen (completions, notifications) has reported them all when it returns.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>

#include "common/instant.hpp"
#include "engine/engine.hpp"
#include "transport/pipe.hpp"
#include "verbs/endpoint.hpp"
#include "verbs/log/log.hpp"
#include "verbs/memory/buffer_pool.hpp"
#include "verbs/memory/stream_memory.hpp"
#include "verbs/policy.hpp"
#include "verbs/stream/early_sends.hpp"
#include "verbs/stream/inbox.hpp"
#include "verbs/stream/outbox.hpp"
#include "verbs/stream/outstanding_sends.hpp"
#include "verbs/stream/served_queue_pair.hpp"
#include "verbs/stream/stream_life.hpp"
#include "verbs/stream/stream_observer.hpp"
#include "verbs/stream/witness.hpp"

namespace weft::verbs::detail {

// What carries the octets of a link, as the link sees it.
class LinkHost {
 public:
  virtual ~LinkHost() = default;
  virtual void on_requested() = 0;    // the peer's Request is complete
  virtual void on_established() = 0;  // its deadlines are others now
  virtual void on_let_go() = 0;       // of its queue pair, whose last reference may be the caller's
  // False while TLS's handshake lasts.
  [[nodiscard]] virtual bool takes_octets() const = 0;
  [[nodiscard]] virtual transport::PipeFailure failure() const = 0;
};

class Link {
 public:
  struct Setup {
    mpa::Role role{};
    Policy policy{};
    std::uint16_t ird{};
    std::uint16_t ord{};
    std::uint32_t send_depth{};  // bound for the engine
    Endpoint peer{};             // for the log
    std::shared_ptr<StreamObserver> observer{};
    std::uint64_t connection{};  // its identifier's number, for the log
  };
  struct Origin {
    std::uint64_t connection{};
    Instant since{};  // TCP was connected
  };
  // `emss`: of the socket; 0: unknown. The others outlive the link.
  Link(LinkHost& host, std::shared_ptr<StagTable> stags, BufferPool& buffers, const Setup& setup, std::uint32_t emss,
       Witness::Pointer witness, Instant now);

  // --- The connection manager
  using QueuePair = std::shared_ptr<ServedQueuePair>;
  Result<void> connect(const QueuePair& qp, const std::weak_ptr<ReceiveWaiter>& waiter, Bytes private_data);
  Result<void> accept(const QueuePair& qp, const std::weak_ptr<ReceiveWaiter>& waiter, Bytes private_data,
                      const engine::AcceptParameters& parameters);
  Result<void> reject(Bytes private_data);
  // Returns false if it was called before.
  bool disconnect(Unfinished work, Instant now);

  // --- The wait for the peer after disconnect(): the patience of the policy with a peer that does not advance. `moved`: a
  // number that changes with each octet that the peer sends or acknowledges.
  void begin_disconnect_wait(std::uint64_t moved, std::chrono::microseconds round_trip, Instant now);
  [[nodiscard]] bool disconnect_wait_is_due(Instant now) const noexcept;
  // When it is due. True if the patience is over: what there is to send goes out, and end_disconnect_wait() follows.
  [[nodiscard]] bool check_disconnect_wait(std::uint64_t moved, Instant now);
  void end_disconnect_wait();

  // --- The queue pair
  // Each request is posted, up to the first that cannot be. std::bad_alloc if that is the first: nothing was posted.
  PostResult post(std::span<const SendRequest> requests);
  [[nodiscard]] std::size_t sends_unfinished() const noexcept { return sends_.count(); }
  void drain(bool on) noexcept { engine_.drain(on); }
  // Returns false if the stream fails and has nothing left to flush: it ends by itself, so that its Terminate arrives
  // (RDMAP-6.2.1-05).
  bool abort(Instant now);
  // It is destroyed or reset; let_go() follows.
  void leave_queue_pair(Instant now);
  void let_go();

  // --- Octets that come
  // Where the next octets are to go: a payload to its place, if its header is here, and then what follows it.
  struct Room {
    MutableBytes landing{};
    std::size_t behind{};    // of the same frame, after the payload
    std::size_t unplaced{};  // in place of `landing`: octets of a payload without a place, which the pipe may lend
    MutableBytes staging{};
    [[nodiscard]] std::size_t size() const noexcept { return landing.size() + staging.size(); }
  };
  [[nodiscard]] Room room();
  // `octets` of them have come. Returns how many frames were taken.
  std::uint32_t arrived(const Room& room, std::size_t octets, Instant now);
  // The pipe lends the rest of the frame, `unplaced` and `behind`, until this returns.
  std::uint32_t show(const Room& room, Bytes rest, Instant now);
  // A part of a TLS record was left: the clock of a part of an FPDU runs.
  void holds_part(bool part, Instant now);
  // Waits for no receive any more, if it did: on to what follows.
  void stop_waiting(Instant now);
  void end_of_stream(Instant now);
  void lost(const std::error_code& error, Instant now);
  // The peer's FIN was seen after a Send that waits for a receive; the observer is to be told.
  void end_after_stall(Instant now);
  // Discards what is staged, and returns a place for octets that nobody reads.
  [[nodiscard]] MutableBytes discard();

  // --- Octets that go: fill, write the pieces, and say how many octets the socket took
  [[nodiscard]] bool has_output() const noexcept { return outbox_.pending() || engine_.has_output(); }
  void set_emss(std::uint32_t emss) noexcept { engine_.set_emss(emss); }
  // Fills the batch; true if more is left than it takes.
  bool fill(MutableBytes in_place, Instant now);
  void written(std::size_t octets, Instant now);
  // The socket takes nothing for now, or the connection is lost.
  void stop_writing(const std::optional<std::error_code>& lost, Instant now);

  // --- Time, events and the end
  bool pump(Instant now);  // false: there was nothing to hear
  void deadline_passed(Instant now);
  // After disconnect(), nothing is left to send, and what comes waits for a receive that nobody will post: the peer is
  // not listened to any more, so that it is not waited for in vain, nor waits itself (RDMAP-6.2-02).
  [[nodiscard]] bool may_leave_peer() const noexcept {
    return life_.disconnect.stage != StreamLife::DisconnectWait::Stage::kNone && inbox_.stalled && sends_.empty();
  }
  void leave_peer(Instant now);
  // Gives back what an idle link does not need.
  void park(bool keep_buffers);
  // The socket is about to be closed. All is given back, and the queue pair let go of; report_end() follows.
  void finish();
  void report_end();
  void forget_observer() noexcept { observer_.reset(); }
  // Without memory for the engine's last events.
  void close_at_once();
  // The socket is gone, and nothing is given back or reported.
  void abandon() noexcept;
  // The socket is about to send its FIN. False if it did before.
  bool sends_fin() noexcept { return StreamLife::advance(life_.socket, StreamLife::Socket::kFinSent); }

  [[nodiscard]] const StreamLife& life() const noexcept { return life_; }
  [[nodiscard]] const Inbox& inbox() const noexcept { return inbox_; }
  [[nodiscard]] Outbox& outbox() noexcept { return outbox_; }
  [[nodiscard]] const Outbox& outbox() const noexcept { return outbox_; }
  [[nodiscard]] const engine::Engine& engine() const noexcept { return engine_; }
  [[nodiscard]] const QueuePair& queue_pair() const noexcept { return qp_; }
  [[nodiscard]] const std::shared_ptr<StreamObserver>& observer() const noexcept { return observer_; }
  [[nodiscard]] Subject subject() const { return {qp_ ? qp_->number : 0, peer_}; }
  [[nodiscard]] const Endpoint& peer() const noexcept { return peer_; }
  [[nodiscard]] const Origin& origin() const noexcept { return origin_; }
  [[nodiscard]] bool initiates() const noexcept { return initiates_; }  // the startup
  [[nodiscard]] Witness& witness() const noexcept { return *witness_; }
  void forget_leases() noexcept { memory_.drop_leases(); }  // before the owner's lock is released

 private:
  friend class LinkEvents;
  struct Patience {                                                         // of its Policy
    using Milliseconds = std::chrono::duration<std::uint32_t, std::milli>;  // kMaxTimeout fits
    Milliseconds no_receive{};
    Milliseconds disconnect{};
  };

  void attach(const QueuePair& qp, const std::weak_ptr<ReceiveWaiter>& waiter);
  std::uint32_t land(const Room& room, std::size_t octets, Instant now);
  std::uint32_t present_apart(std::size_t at, Bytes octets, const std::byte* source, Instant now);
  std::uint32_t present(const mpa::Landed& landed, Instant now);
  // `prepared`: of a bind or a local invalidation that waited for the connection.
  Result<void> post_one(const SendRequest& request, LocalWork* prepared = nullptr);
  Result<void> post_work(const engine::WorkRequest& work);
  Result<void> post_local(const SendRequest& request, const engine::WorkRequest& work, LocalWork* prepared);
  Result<void> post_late(const SendRequest& request);
  void post_early(EarlySends early, Instant now);
  bool pump_one(Instant now);
  void close(Instant now);
  void report_failure();
  void try_without_peer();
  void end_queue_pair();
  void end_by(Errc code, std::string_view reason, int os_error = 0);
  void end_by_loss(const std::error_code& error);

  LinkHost& host_;
  BufferPool& buffers_;
  const Patience patience_;
  const Endpoint peer_;
  const bool initiates_;
  const Origin origin_;
  StreamMemory memory_;
  engine::Engine engine_;
  const Witness::Pointer witness_;
  std::shared_ptr<StreamObserver> observer_;
  QueuePair qp_;
  std::shared_ptr<ReceiveQueue> receives_;  // outlives qp_ here: what was taken from it must be given back
  StreamLife life_;
  Inbox inbox_;
  Outbox outbox_;
  OutstandingSends sends_;
};

}  // namespace weft::verbs::detail
