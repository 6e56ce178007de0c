// SPDX-License-Identifier: Apache-2.0
// The state of a connection: its verbs objects, and the operations that are in progress.
//
// One completion queue serves all three forms of operations, so whichever thread takes a completion may find that it is
// another thread's. One thread at a time collects (`collecting_`); the others wait for `changed_`. No wake-up is lost:
//  - An operation's outcome, `posted_`, `collecting_` and `passes_` change only with `mutex_` held.
//  - A thread that waits looks at them before it sleeps, and sleeps only while another thread collects. That thread
//    notifies all after it has cleared `collecting_`, whatever made it stop; then one of those awake collects.
//  - While a thread collects, the queue itself does not let it sleep with a completion in the queue
//    (CompletionQueue::wait()). Completions that arrive while nobody collects wait in the queue for the next thread.
//  - progress() takes the channel's event, arms the queue, and looks after that: it finds a completion that came
//    before, and one that comes later raises an event. If another thread collects just then, `passes_.again` makes it
//    look once more before it stops; it reads `passes_.again` with the same lock that it clears `collecting_` with.
//  - A thread whose deadline has expired looks once (look()): it waits for the end of a pass that has begun after its
//    operation was posted, and that emptied the queue. What a pass got is delivered when it ends. If another thread
//    collects, `passes_.again` makes that thread begin such a pass, and interrupt_wait() ends its sleep: the queue
//    remembers the call if the thread does not sleep yet. If it stops without that pass (it is canceled), it notifies
//    all, and the thread that looks begins the pass itself.
#pragma once

#include <atomic>
#include <boost/intrusive/list.hpp>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "verbs/connection.hpp"
#include "weft/connection.hpp"

namespace weft::detail {

[[nodiscard]] std::string_view name(Operation::Kind kind) noexcept;

inline constexpr std::uint64_t kOurs = 1ULL << 63;  // in a wr_id: the rest is a ticket

// The value, or the error with the name of the function that failed.
template <typename T>
Result<T> lift(verbs::Result<T> result, std::string_view operation) {
  if (!result) return std::unexpected(to_error(result.error(), operation));
  if constexpr (std::is_void_v<T>) {
    return {};
  } else {
    return std::move(*result);
  }
}

struct Pending : boost::intrusive::list_base_hook<> {
  Operation operation{};
  Ticket ticket{};
  Done done{};                        // empty: a thread waits
  std::optional<std::size_t> cell{};  // of an atomic, whose old value arrives there
  std::optional<Outcome> outcome{};
  bool given_up = false;  // it has ended the connection: too late to succeed
};

class Link {
 public:
  static Result<std::shared_ptr<Link>> to(const Endpoint& peer);
  static Result<std::shared_ptr<Link>> from(verbs::ConnectionEvent request);

  // An error in a child of fork() if its parent made the connection. Before the lock is taken: a thread that does not
  // exist in the child may hold it.
  [[nodiscard]] Result<void> ours(std::string_view operation) const;

  // --- Operations
  Outcome run(const Operation& operation, Deadline deadline);
  void start(const Operation& operation, Ticket ticket, Done done);
  Result<void> post(const Operation& operation, Post how);
  Result<std::size_t> take(std::span<verbs::WorkCompletion> out, Deadline deadline);
  bool progress();
  [[nodiscard]] bool has_started() const;
  void cancel(Ticket ticket);
  void abandon();
  [[nodiscard]] Error why(const verbs::WorkCompletion& completion) const;

  // --- Beginning and end
  Result<void> begin_establish(std::span<const std::byte> private_data);
  Result<void> reject(std::span<const std::byte> private_data);
  Result<void> begin_close();
  // Takes connection events until the step is done; nothing: none came until the deadline.
  std::optional<Result<void>> step_establish(Deadline deadline);
  std::optional<Result<void>> step_close(Deadline deadline);
  // The connection ends, for this reason unless there was another one before.
  void abort(Errc code, std::string_view reason);
  void abort(const Error& cause);
  void destroy();

  verbs::EventChannel events;
  std::optional<verbs::ConnectionId> id;
  verbs::ProtectionDomain domain;
  verbs::CompletionChannel channel;
  verbs::CompletionQueue completions;
  std::optional<verbs::QueuePair> queue_pair;
  std::vector<std::byte> peer_data;
  const bool responder;

  struct Parts {
    verbs::EventChannel events;
    verbs::ConnectionId id;
    verbs::ProtectionDomain domain;
    verbs::CompletionChannel channel;
    verbs::CompletionQueue completions;
    verbs::QueuePair queue_pair;
  };
  Link(Parts parts, bool is_responder, std::vector<std::byte> data);

 private:
  using Pendings = boost::intrusive::list<Pending>;
  using Lock = std::unique_lock<std::mutex>;
  struct Leave;
  struct Collecting;
  struct Begun;

  static Result<std::shared_ptr<Link>> make(verbs::EventChannel events, verbs::ConnectionId id, bool responder,
                                            std::vector<std::byte> data);
  Result<void> begin(Pending& pending);
  struct Places;
  Result<void> post_work(const Operation& operation, Post how, Places* counted);
  verbs::Result<void> post_late_send(const verbs::SendRequest& request);
  Result<void> refuse(const Operation& operation, const verbs::Error& error, Places* counted) const;
  Places& places_of(bool receives) { return receives ? receive_places_ : send_places_; }
  verbs::Result<void> collect(Lock& lock, std::chrono::milliseconds at_most);
  verbs::Result<void> collect_into(Pendings& finished, Lock& lock, std::chrono::milliseconds at_most);
  verbs::Result<void> collect_until(Lock& lock, Deadline deadline);
  verbs::Result<void> look(Lock& lock);
  void deliver(const verbs::WorkCompletion& completion, Pendings& finished);
  void keep(const verbs::WorkCompletion& completion);
  void fail_all(const Error& error, Pendings& finished);
  void finish(Pendings::iterator pending, Outcome outcome, Pendings& finished);
  static void call(Pendings& finished);
  void give_up(Pending& pending, Lock& lock, Errc code, std::string_view reason);
  void drop(Pending& pending);
  void remove(Pendings::iterator pending);
  Result<void> take_cell(Pending& pending);
  [[nodiscard]] Error explain(const verbs::WorkCompletion& completion, const Operation* operation) const;
  [[nodiscard]] Error cause() const;
  std::unexpected<Error> fail_establish(Error error);
  std::optional<Result<verbs::ConnectionEvent>> next_event(Deadline deadline);

  mutable std::mutex mutex_;  // of what follows; no call into verbs but queries is made with it held
  std::condition_variable changed_;
  std::atomic<bool> collecting_ = false;  // read without the lock by post() alone
  struct Passes {  // each asks the queue once, and delivers what it got
    bool again = false;
    std::uint64_t begun = 0;
    std::uint64_t ended = 0;  // the last one that left nothing in the queue
  };
  Passes passes_;
  Pendings pending_;
  std::size_t started_ = 0;  // of them, those with a callback
  std::deque<verbs::WorkCompletion> posted_;
  // What Post has in progress, of one work queue: a queue pair frees a place when its completion leaves the completion
  // queue, which is before the program has taken it from `posted_`.
  struct Places {
    std::atomic<std::uint64_t> awaited = 0;  // posted, with a completion to come: too many if the program polls itself
    std::atomic<std::uint64_t> untaken = 0;  // completions in `posted_`
    void await_less() noexcept {  // not below 0: an unsignaled work request that failed was not counted
      auto now = awaited.load();
      while (now != 0 && !awaited.compare_exchange_weak(now, now - 1)) continue;
    }
  };
  Places send_places_, receive_places_;
  std::optional<Error> cause_;
  struct Cells {  // registered octets for what the peer's memory held before an atomic
    std::vector<std::uint64_t> values;
    std::vector<std::size_t> free;
    std::optional<Region> region;
  };
  Cells cells_;
  struct Life {
    bool established = false;
    bool over = false;             // kDisconnected was taken
    std::mutex closing_mutex;      // of what follows; sends are posted with it held once close() has begun
    std::uint32_t failed_sends{};  // before close()
    std::uint32_t late_sends{};    // posted since close() began
    std::atomic<bool> closing = false;
  };
  Life life_;
};

}  // namespace weft::detail
