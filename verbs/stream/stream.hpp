// SPDX-License-Identifier: Apache-2.0
// One live connection: a socket, and the link whose octets it carries. Many threads use it: those that own the socket
// in turn (docs/progress.md), those that post work, that of the connection manager, and that of the timers. One lock
// serializes them; it is held across system calls of this connection and of no other. Only leaf locks are taken with it
// held: queue pair, connection identifier, completion queue, receive queue, STags, poller, waiter. No thread is
// canceled while it holds the lock (transport/cancellation.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <span>

#include "transport/readiness_set.hpp"
#include "transport/same_host/session.hpp"
#include "transport/tls/session.hpp"
#include "verbs/base/clock.hpp"
#include "verbs/base/compact_mutex.hpp"
#include "verbs/connection.hpp"
#include "verbs/progress/driven.hpp"
#include "verbs/progress/runtime.hpp"
#include "verbs/progress/socket_watch.hpp"
#include "verbs/stream/link.hpp"
#include "verbs/stream/link_io.hpp"

namespace weft::verbs::detail {

class Stream final : public Driven,
                     public ReceiveWaiter,
                     private LinkHost,
                     public std::enable_shared_from_this<Stream> {
 public:
  struct Setup {
    transport::Socket socket{};
    std::unique_ptr<transport::tls::Session> tls{};           // null: plain
    std::unique_ptr<transport::same_host::Session> shared{};  // null: the socket has the octets
    Link::Setup link{};
    std::uint64_t number{};    // by make()
    std::uint64_t listener{};  // of a responder; 0: there is none
  };
  static std::shared_ptr<Stream> make(Runtime& runtime, Setup setup);
  // From here on the socket is served, and the observer hears of it, in any thread. Once.
  void start();
  Stream(Runtime& runtime, Setup setup);
  ~Stream() override;

  [[nodiscard]] std::uint64_t number() const noexcept override { return watch_.stream(); }

  // --- The connection manager
  Result<void> connect(const Link::QueuePair& qp, Bytes private_data);
  Result<void> accept(const Link::QueuePair& qp, Bytes private_data, const engine::AcceptParameters& parameters);
  Result<void> reject(Bytes private_data);
  // The rings that the peer has offered. False: octets have come by the socket, or the stream has ended.
  [[nodiscard]] bool share(std::unique_ptr<transport::same_host::Session>& shared);
  void disconnect(Unfinished work);
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
  // The caller got no memory in the middle of a call: ends only this connection.
  void run_out_of_memory() noexcept;
  // The queue pair is destroyed or reset. If no posted work is unfinished, the stream closes like disconnect(), in the
  // background and within the close timeout, and sends no further responses; otherwise it is aborted.
  void release_queue_pair();
  void leave_peer();  // the queue pair goes on without this stream, established or not

  // --- A receive queue
  void receives_available() override;

  // --- Driven
  bool drive(bool hangup) override;
  bool drive_if_free(Poller& by) override;
  void waited_for_by(Waiter& waiter) override;
  void is_over(const Driver& owner) override;
  void deadline_passed() override;
  void end_waiting() override;
  void abandon() override;
  void leave_to_parent(int nowhere) noexcept override;
  [[nodiscard]] std::optional<std::uint64_t> moved_if_unserved() override;
  [[nodiscard]] std::optional<LiveStream> describe() override;

 private:
  void share_pipe(std::unique_ptr<transport::same_host::Session> shared);
  void be_left();
  void leave_locked();
  void abort_locked();
  // `work`, under the lock. Without memory for it the connection ends.
  template <typename Work>
  void or_end(Work work) noexcept {
    try {
      const std::lock_guard lock(mutex_);
      work();
    } catch (const std::bad_alloc&) {
      run_out_of_memory();
    }
  }

  // --- LinkHost
  void on_requested() override;
  void on_established() override;
  void on_let_go() override;
  [[nodiscard]] bool takes_octets() const override { return io_.pipe().takes_octets(); }
  [[nodiscard]] transport::PipeFailure failure() const override { return io_.pipe().failure(); }

  // --- stream_drivers.cpp: what every entry does before it gives up the lock
  bool look_locked();
  void drive_locked();
  void look_for_the_end();
  [[nodiscard]] bool is_due() const;
  [[nodiscard]] std::uint64_t moved() const noexcept;
  void settle();
  void follow_disposition();
  [[nodiscard]] transport::Interest wanted() const noexcept;
  void settle_watch();
  void schedule();
  void wake_at(Instant at);
  void park_buffers();
  void give_up_at_once() noexcept;
  void finish(bool reset);
  [[nodiscard]] StreamWait waits_for() const noexcept;
  void watch_stalls(StallWatch& stalls);

  Runtime& runtime_;
  CompactMutex mutex_;
  LinkIo io_;
  SocketWatch watch_;
  Link link_;
  Instant wake_up_ = engine::kNever;  // what the runtime was asked for
};

}  // namespace weft::verbs::detail
