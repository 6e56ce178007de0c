// SPDX-License-Identifier: Apache-2.0
// One live connection: a socket, the protocol engine, and everything in between. Many threads use it: those that own
// the socket in turn (docs/progress.md), those that post work, that of the connection manager, and that of the timers.
// One lock serializes them; it is held across system calls of this connection and of no other. Only leaf locks are
// taken with it held: queue pair, connection identifier, completion queue, receive queue, STags, poller, waiter. No
// thread is cancelled while it holds the lock (transport/cancellation.hpp).
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "engine/engine.hpp"
#include "transport/pipe.hpp"
#include "transport/readiness_set.hpp"
#include "transport/tls/session.hpp"
#include "verbs/base/compact_mutex.hpp"
#include "verbs/connection.hpp"
#include "verbs/log/log.hpp"
#include "verbs/memory/stream_memory.hpp"
#include "verbs/progress/driven.hpp"
#include "verbs/progress/runtime.hpp"
#include "verbs/progress/socket_watch.hpp"
#include "verbs/stream/inbox.hpp"
#include "verbs/stream/outbox.hpp"
#include "verbs/stream/served_queue_pair.hpp"
#include "verbs/stream/stream_life.hpp"
#include "verbs/stream/witness.hpp"

namespace weft::verbs::detail {

// The connection manager's view of a stream. Called with the stream's lock held: takes leaf locks only and never calls
// back.
class StreamObserver {
 public:
  virtual ~StreamObserver() = default;
  virtual void on_requested(engine::ConnectionRequested request) = 0;
  virtual void on_established(const engine::Established& established) = 0;
  // True: a new stream will be tried for the same queue pair.
  virtual bool on_rejected(engine::Rejected rejected) = 0;
  // `tls`: why TLS ended it, or nothing.
  virtual bool on_startup_failed(const engine::StartupFailed& failure, const std::error_code& tls) = 0;
  // The peer has closed its direction, though its last messages still wait for receives. on_closed() follows.
  virtual void on_peer_closed() = 0;
  virtual void on_closed() = 0;
  // The queue pair that the stream is, or was to be, for went to ERROR or was destroyed before it was established.
  // Called by the queue pair, and unlike the others without any lock.
  virtual void on_queue_pair_lost() = 0;
};

class Stream final : public Driven, public ReceiveWaiter, public std::enable_shared_from_this<Stream> {
 public:
  struct Setup {
    transport::Socket socket{};
    std::unique_ptr<transport::tls::Session> tls{};  // null: plain
    Endpoint peer{};                                 // of the socket
    mpa::Role role{};
    Policy policy{};
    std::uint16_t ird{};
    std::uint16_t ord{};
    std::uint32_t send_depth{};  // bound for the engine
    std::shared_ptr<StreamObserver> observer{};
    std::uint64_t number{};      // by make()
    std::uint64_t connection{};  // its identifier's number, for the log
    std::uint64_t listener{};    // of a responder; 0: there is none
  };
  static std::shared_ptr<Stream> make(Runtime& runtime, Setup setup);
  // From here on the socket is served, and the observer hears of it, in any thread. Once.
  void start();
  Stream(Runtime& runtime, Setup setup);
  ~Stream() override;

  [[nodiscard]] std::uint64_t number() const noexcept override { return watch_.stream(); }

  // --- The connection manager
  Result<void> connect(const std::shared_ptr<ServedQueuePair>& qp, Bytes private_data);
  Result<void> accept(const std::shared_ptr<ServedQueuePair>& qp, Bytes private_data,
                      const engine::AcceptParameters& parameters);
  Result<void> reject(Bytes private_data);
  void disconnect();
  std::error_code set_type_of_service(std::uint8_t octet);
  [[nodiscard]] std::size_t tcp_info(MutableBytes into);
  [[nodiscard]] std::optional<transport::PeerIdentity> identity();

  // --- The queue pair
  // Returns nothing if the stream is over: the queue pair then flushes the requests.
  std::optional<PostResult> post(std::span<const SendRequest> requests);
  // Posted and not completed: never more than max_send_wr.
  [[nodiscard]] std::uint32_t sends_unfinished();
  void drain(bool on);
  void abort();
  // The queue pair is destroyed or reset. If no posted work is unfinished, the stream closes like disconnect(), in the
  // background and within the close timeout, and sends no further responses; otherwise it is aborted.
  void release_queue_pair();

  // --- A receive queue
  void receives_available() override;

  // --- Driven
  bool drive(bool hangup) override;
  void drive_if_free(Poller& by) override;
  void waited_for_by(Waiter& waiter) override;
  void is_over(const Driver& owner) override;
  void deadline_passed() override;
  void run_out_of_memory() noexcept override;
  void end_waiting() override;
  void abandon() override;
  void leave_to_parent(int nowhere) noexcept override;
  [[nodiscard]] std::optional<std::uint64_t> moved_if_unserved() override;
  [[nodiscard]] std::optional<LiveStream> describe() override;

 private:
  struct SendSlot {
    std::uint64_t wr_id{};
    SendOpcode opcode{};
    bool signaled{};
    bool late{};  // posted when the stream was failing: flushed in its turn, never carried out
  };
  struct Origin {
    std::uint64_t connection{};  // its identifier's number
    Instant since{};             // TCP was connected
    bool initiator{};            // of the start-up
  };
  struct Patience {  // of its Policy
    std::chrono::milliseconds no_receive{};
    std::chrono::milliseconds disconnect{};
  };
  struct Sends {  // what the application has posted and the engine has not completed
    BoundedRing<SendSlot> slots{Device::limits().max_qp_wr};
    std::uint64_t next_cookie = 1;
  };
  // What a read of the socket found; kAll: it is empty now, as a short read shows, or over.
  enum class Read : std::uint8_t { kNothing, kSome, kAll };
  // One drive of a connection, before others have their turn.
  struct Turn {
    std::size_t octets = 0;
    std::uint32_t frames = 0;
    [[nodiscard]] bool over() const noexcept { return octets >= Inbox::kMostRead || frames >= Inbox::kMostFrames; }
  };
  static constexpr int kMaxBatches = 4;
  // By one post, which sends all that the socket takes: what it left over would wake the progress thread at once, to
  // take the lock from the next post.
  static constexpr int kMaxBatchesOfPost = 16;
  static constexpr Duration kEmssRefresh = std::chrono::milliseconds(100);

  // stream.cpp
  void attach(const std::shared_ptr<ServedQueuePair>& qp);
  void leave_locked();
  void release_locked();

  // stream_drivers.cpp: the drivers, and what every entry does before it gives up the lock
  void look_for_the_end();
  [[nodiscard]] bool is_due() const;
  void close();
  void peer_closed_behind_stall();
  [[nodiscard]] bool farewell_is_due() const;
  void look_at_farewell();
  void leave_peer();
  [[nodiscard]] std::uint64_t moved() const noexcept;
  void settle();
  void follow_disposition();
  [[nodiscard]] transport::Interest wanted() const noexcept {
    return {.read = inbox_.reads(),
            .write = outbox_.blocked || outbox_.left,
            .end = inbox_.stalled && !inbox_.fin_waits && !inbox_.over};
  }
  void settle_watch();
  void schedule();
  void wake_at(Instant at);
  void last_octets();
  void give_up_at_once() noexcept;
  [[nodiscard]] bool is_shut_out() const;
  void finish(bool reset);

  // stream_io.cpp
  void drive_locked();
  bool look_locked();
  bool receive_some();
  Read read_once(Turn& turn);
  void read_held();
  [[nodiscard]] bool waits_for_part() const noexcept { return pipe_.holds_part() && !inbox_.stalled; }
  void watch_part();
  Read take_no_octets(const transport::IoResult& io);
  void secured();
  void end_inbound(const transport::IoResult& io);
  void end_by_loss(const std::error_code& error);
  [[nodiscard]] engine::Landing find_landing();
  std::uint32_t land(const engine::Landing& landing, std::size_t octets);
  std::uint32_t present(const mpa::Landed& landed = {});
  [[nodiscard]] bool keeps_buffers() const noexcept;
  void park_buffers();
  void send_some(int most_batches = kMaxBatches);
  bool fill_batch(Instant at);
  bool write_pending(Instant at);
  bool flush_pipe(Instant at);
  bool stop_writing(const transport::IoResult& io, Instant at);
  [[nodiscard]] bool has_output() const noexcept;
  // In the start-up to the nanosecond.
  [[nodiscard]] Instant time() const noexcept { return life_.is_established() ? about_now() : now(); }

  // stream_events.cpp: what the engine says, and what becomes of it
  bool pump();
  bool pump_one();
  void on(engine::ConnectionRequested& event);
  void on(engine::Established& event);
  void on(engine::Rejected& event);
  void on(const engine::SendCompleted& event);
  void on(const engine::Received& event);
  void on(const engine::ReceiveStalled& event);
  void on(const engine::ProtocolError& event);
  void on(const engine::TerminateReceived& event);
  void on(const engine::StartupFailed& event);
  void on(const engine::TimedOut& event);
  void on(const engine::PeerClosed& event);
  void on(const engine::SendQueueDrained& event);
  void on(const engine::Closed& event);
  void tell_end();
  void on(const engine::Remark& event);
  void complete_send(const SendSlot& slot, const engine::SendCompleted& event);
  void complete_receive(std::uint64_t wr_id, const engine::Received& event);
  [[nodiscard]] std::uint32_t vendor_error(WcStatus status) const;
  void give_up_after_overflow();
  void tell_failure();
  void end_by(Errc code, std::string_view reason, int os_error = 0);
  [[nodiscard]] std::string_view hint_of_startup();
  void tell_error(const StreamError& error, AsyncEventType type);
  [[nodiscard]] Subject subject() const;  // of a line in the log

  // stream_view.cpp
  [[nodiscard]] StreamWait waits_for() const noexcept;
  void watch_stalls(StallWatch& stalls);

  // stream_post.cpp
  Result<void> post_one(const SendRequest& request);
  Result<void> post_late(const SendRequest& request);

  Runtime& runtime_;
  const Patience patience_;
  CompactMutex mutex_;
  StreamMemory memory_;
  transport::Pipe pipe_;
  SocketWatch watch_;
  const Endpoint peer_;
  const Origin origin_;
  engine::Engine engine_;
  const std::shared_ptr<Witness> witness_;
  std::shared_ptr<StreamObserver> observer_;
  std::shared_ptr<ServedQueuePair> qp_;
  std::shared_ptr<ReceiveQueue> receives_;  // outlives qp_ here: what was taken from it must be given back

  StreamLife life_;
  Inbox inbox_;
  Outbox outbox_;
  Sends sends_;
  std::optional<Instant> wake_up_;  // what the runtime was asked for
};

}  // namespace weft::verbs::detail
