// SPDX-License-Identifier: Apache-2.0
// One rsocket: its phase, its options, and how threads wait for it. Its number is a descriptor of its own, an epoll set
// over all that can happen to it: so no other file has the number, and poll(2) can wait for it.
//
//   fresh -> bound -> listening            connections wait in `accepted`, where acceptor.hpp puts them
//   fresh, bound -> connecting -> connected, or failed
//   (raccept) -> connected -> ended        `stream` knows how far each direction is
#pragma once

#include <sys/socket.h>

#include <chrono>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>

#include "compat/rsockets/sizes.hpp"
#include "compat/rsockets/stream.hpp"
#include "compat/rsockets/waiters.hpp"
#include "verbs/connection.hpp"

namespace weft::compat::rsockets {

using Deadline = std::optional<std::chrono::steady_clock::time_point>;  // none: forever

enum class Phase : std::uint8_t { kFresh, kBound, kListening, kConnecting, kConnected, kFailed };

// What rsetsockopt keeps. Most of it is only told back: TCP does it already, or there is nothing to do.
struct Options {
  bool reuse_address = false;
  bool keep_alive = false;
  bool out_of_band_inline = false;
  bool no_delay = false;
  bool v6_only = false;
  int keep_idle = 7200;
  linger linger_close{};
  timeval receive_time{};  // of a call that waits; 0: forever
  timeval send_time{};
};

// What a child of fork() needs of a listener to go on with it.
struct InheritedListener {
  int listening = -1;  // the kernel's socket
  int domain{};
  bool nonblocking{};
  std::size_t most_accepted{};
  Sizes sizes{};
  Options options{};
};

// An epoll set, which is notified when something has happened to an rsocket.
class Observer {
 public:
  virtual ~Observer() = default;
  // With the rsocket's lock held. `number`: as it was passed to Socket::observe().
  virtual void woken(int number) noexcept = 0;
};

class Socket {
 public:
  // Creates an rsocket. Returns null with errno on failure.
  static std::shared_ptr<Socket> make(int domain);
  // For the acceptor: the domain, sizes and options of its listener. Its number is one of weft's, and high, until
  // take_number().
  static std::shared_ptr<Socket> make_like(const Socket& listener);
  // A listener, with the number of its parent process's.
  static std::shared_ptr<Socket> make_of(InheritedListener listener, int number);
  explicit Socket(int family);
  ~Socket();
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  [[nodiscard]] int number() const noexcept { return number_; }
  // The lowest that is free, as accept(2) gives. Before the program knows the socket.
  void take_number() noexcept;
  // For a second number: this one is to be the program's alone. False, with errno: no other is left. Under the lock.
  bool hide_number() noexcept;
  // The program may have the number for another file. No call may be waiting for it. Under the lock.
  void close_number() noexcept;
  int numbers = 1;  // that the program knows it by. Under the table's lock
  // The program closed it by itself: it may be another file's by now.
  void forget_number() noexcept { number_ = -1; }

  // --- All that follows under the lock
  std::mutex mutex;

  // Processes completions and, with `events`, connection events, which cost one system call. Once connected, events are
  // needed only after a wake-up.
  void progress(bool events = false);
  // Yields if many calls in a row found nothing, so that a program that spins does not starve its peer or weft's thread
  // on a host with few processors. Releases the lock.
  void let_others_run(std::unique_lock<std::mutex>& lock) const;
  // Arranges that later events make number() readable. Returns false if something has happened already.
  bool prepare_wait();
  void begin_wait() noexcept { waiters_.enter(); }
  [[nodiscard]] bool awaited() const noexcept { return waiters_.any() || !observers_.empty(); }
  void end_wait();
  // Wakes threads that sleep, and notifies observers.
  void wake_waiters() noexcept;
  // Notifies `by` once, the next time that something happens.
  void observe(Observer& by, int number) { observers_.emplace_back(&by, number); }
  // Returns false if it was notified.
  bool forget(const Observer& by, int number) noexcept;
  // Sleeps until something has happened, and processes it. Returns an errno: EINTR, or EAGAIN when the time is over.
  int wait(std::unique_lock<std::mutex>& lock, Deadline until = {});

  // POLLIN, POLLOUT, POLLERR, POLLHUP, as they are now.
  [[nodiscard]] short readiness();
  // Returns a value that changes whenever an edge-triggered epoll set is to report what is ready: the peer has said
  // something, a connection waits to be accepted, connecting has ended, or there is room again after a call found none.
  struct Edge {
    Phase phase{};
    std::uint64_t arrivals{};
    std::uint64_t rooms{};
    bool operator==(const Edge&) const = default;
  };
  [[nodiscard]] Edge edge();
  void found_no_room() noexcept { counts_.wants_room = true; }
  // The error that a call or SO_ERROR reports once.
  int take_error() noexcept;
  void fail(int error) noexcept;  // connecting came to nothing

  // Creates a fresh identifier on the channel. Returns 0, or an errno after a line in the log.
  int renew_id();
  // Creates the stream for the address that the identifier has by now. Returns as renew_id().
  int make_stream(verbs::ConnectionId& of);

  const int domain;
  Phase phase = Phase::kFresh;
  bool nonblocking = false;
  bool read_shut = false;  // SHUT_RD
  bool closing = false;    // rclose was called
  Sizes sizes = default_sizes();
  Options options{};
  std::optional<verbs::EventChannel> events{};
  std::optional<verbs::ConnectionId> id{};
  std::unique_ptr<Stream> stream{};

  // --- Of a listener: its requests, which the acceptor takes and answers, and what raccept returns. Beyond `most`
  // requests wait in the identifier's backlog, and after that in the kernel's queue.
  struct Listening {
    verbs::EventChannel incoming;  // of the requests
    std::size_t most{};
    Flag flag{};  // raised while connections wait
    std::deque<std::shared_ptr<Socket>> accepted{};
    bool acceptor_waits = false;  // for room
    bool held = false;            // see hold_requests
  };
  std::unique_ptr<Listening> listening{};
  // Returns how many connections of a listener may wait to be accepted.
  [[nodiscard]] static std::size_t most_waiting(int backlog) noexcept;
  // The identifier has an address. Returns 0, or an errno after a line in the log.
  int listen(std::size_t most);
  void add_accepted(std::shared_ptr<Socket> connection);
  std::shared_ptr<Socket> take_accepted();  // null: there is none
  [[nodiscard]] std::size_t accepted_count() const noexcept { return listening ? listening->accepted.size() : 0; }
  // Returns nothing unless the socket listens and no connection waits.
  std::optional<InheritedListener> duplicate_for_child();
  // From now on clients wait in the kernel's queue until this process asks for one: unless a thread does now.
  void hold_requests();

 private:
  class Sleep;
  static std::optional<verbs::EventChannel> open_events();  // none, with errno, after a line in the log
  bool take_events();
  void on(verbs::ConnectionEvent event);
  void watch(int descriptor) const;

  int number_;
  Waiters waiters_;
  std::vector<std::pair<Observer*, int>> observers_{};
  struct Counts {  // see Edge
    std::uint64_t accepted{};
    std::uint64_t rooms{};
    bool wants_room{};
  };
  Counts counts_{};
  bool hidden_ = false;  // see hide_number
  int error_ = 0;
  unsigned nothing_ = 0;  // how often in a row progress found nothing
};

// When the program ends without rclose: tells the peers, as the kernel does for sockets (close.cpp).
void finish_all_at_exit() noexcept;

}  // namespace weft::compat::rsockets
