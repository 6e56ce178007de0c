// SPDX-License-Identifier: Apache-2.0
// Connections that a program makes by ibv_modify_qp, without the connection manager: it learns the peer's GID and queue
// pair number over a channel of its own, and names them in RTR. The TCP connection is made here, in a thread of its
// own: RTR and RTS return at once, because an accepting program reaches both before it tells its peer where it is.
//
// The lesser of the two ends connects and the other accepts, so that there is one connection, however the two programs
// interleave. Both begin in RTR. Each accepts exactly the end that its program named. A Request that arrives before
// that waits, bounded in number and time. The end that connects tries again when its Request is rejected.
//
// Packet sequence numbers are compared in RTS, before the program may send: its own with the one that the peer expects.
// If they differ, the connection ends, and its sends find no peer.
//
// Locks: each connection has one for the engine's calls that make it, so that several threads make connections at a
// time. It precedes the mutex of the table, which is held for no such call. Both precede those of the engine, and
// nothing of the engine calls back: events come by the channel.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

#include "compat/direct/agreement.hpp"
#include "compat/direct/early_requests.hpp"
#include "compat/direct/greeting.hpp"
#include "compat/direct/numbers.hpp"
#include "compat/objects/forks.hpp"
#include "verbs/connection.hpp"

namespace weft::compat::direct {

// What RTR says.
struct Target {
  End peer{};
  std::uint32_t rq_psn = 0;
  std::uint32_t ird = 0;
  // One at least, for the confirmations of RDMA Writes.
  [[nodiscard]] std::uint32_t ird_granted() const noexcept { return ird != 0 ? ird : 1; }
};

// What RTS says. `patience`: how long a send waits for an absent peer; nothing: forever.
struct Departure {
  std::uint32_t sq_psn = 0;
  std::optional<std::chrono::nanoseconds> patience{};
};

class Connections {
 public:
  // The one of this process, which is never destroyed. Its thread starts with the first connection, and ends with the
  // last queue pair that has a number; so do the ports.
  static Connections& of_process();

  // A number for a queue pair of the device with this address.
  [[nodiscard]] verbs::Result<std::uint32_t> take_number(const verbs::Address& local);
  // The queue pair is about to be destroyed.
  void give_back(std::uint32_t number);

  // RTR. `accepts` and `connects` are the same queue pair, except for one that is connected to itself: there the second
  // one has the sends. Both stay where they are until end().
  [[nodiscard]] verbs::Result<void> begin(const End& self, const Target& target, verbs::QueuePair& accepts,
                                          verbs::QueuePair& connects);
  // RTS. If the peer expects another packet sequence number, the connection ends.
  void depart(std::uint32_t number, const Departure& departure);
  // A send waits for the connection, or was posted after the peer had left.
  void wanted(std::uint32_t number);
  // SQD: sends wait for their program and not for the peer, so their patience does not begin before RTS. Back to RTS.
  void pause(std::uint32_t number);
  void resume(std::uint32_t number);
  // RESET, or the queue pair goes.
  void end(std::uint32_t number);

 private:
  using Clock = EarlyRequests::Clock;
  struct Connection {
    End self{};
    Target target{};
    verbs::QueuePair* accepts{};
    verbs::QueuePair* connects{};
    std::optional<Departure> departure{};
    std::shared_ptr<FirstNumber> sends = std::make_shared<FirstNumber>();  // the engine has it, too
    bool started = false;
    std::optional<Clock::time_point> end{};  // of the patience
    bool paused = false;
    struct Retry {
      Clock::time_point begun{};              // the first attempt
      std::optional<Clock::time_point> at{};  // the next one
      std::chrono::milliseconds back_off{1};
      bool told = false;
    } retry{};
    bool wanted_later = false;  // sends wait, and the patience begins with resume()
    // The following under `calls`. Whoever has it, and finds that it has not ended, may use the queue pairs: end()
    // waits.
    std::mutex calls{};
    std::vector<verbs::ConnectionId> ids{};  // of attempts; an established connection needs none
    bool ended = false;
    [[nodiscard]] Greeting greeting() const noexcept;
  };
  // What the thread needs. Whoever gives the last number back waits for the thread to end.
  struct Service {
    explicit Service(verbs::EventChannel made);
    ~Service();
    Service(const Service&) = delete;
    Service& operator=(const Service&) = delete;
    void wake() const noexcept;
    verbs::EventChannel channel;
    const int woken;    // eventfd
    bool ends = false;  // under the mutex
    std::thread thread{};
  };

  Connections();
  static void leave_to_parent() noexcept;  // in a child of fork(): ports and thread are the parent's
  [[nodiscard]] verbs::Result<void> furnish();
  // Under mutex_.
  [[nodiscard]] std::shared_ptr<Connection> find(std::uint32_t number) const;  // null before RTR
  [[nodiscard]] std::shared_ptr<Connection> ready_for(const std::optional<Greeting>& greeting,
                                                      verbs::ConnectionEvent& event, EarlyRequests::Requests& gone);
  void look_by(Clock::time_point time) noexcept;
  struct Due {
    EarlyRequests::Requests late{};
    std::vector<std::shared_ptr<Connection>> again{};  // to be connected
  };
  [[nodiscard]] Due look_at_clock(Clock::time_point now);
  // Without it; under the connection's `calls`.
  [[nodiscard]] Greeting greeting_of(const Connection& connection);
  void connect(Connection& connection);
  void accept(Connection& connection, const Greeting& greeting, verbs::ConnectionId& request);
  // The identifier's end rejects it.
  void tell_rejected(std::string_view reason);
  // Without either.
  void start(Connection& connection);
  void leave(Connection& connection);
  void on_request(const Service& service, verbs::ConnectionEvent event);
  [[nodiscard]] bool try_again(Connection& connection);
  [[nodiscard]] bool on_failed(const Service& service, const verbs::ConnectionEvent& event);
  void on_established(const Service& service, const verbs::ConnectionEvent& event);
  void take_events(Service& service);
  [[nodiscard]] bool serve(Service& service, int& wait);
  void run(Service& service) noexcept;

  static constexpr Clock::time_point kNever = Clock::time_point::max();

  TableMutex mutex_{};
  std::unique_ptr<Service> service_{};  // while a number is taken
  Numbers numbers_;
  std::unordered_map<std::uint32_t, std::shared_ptr<Connection>> connections_{};  // by number; null before RTR
  Clock::time_point next_ = kNever;                                               // nothing is due before
  std::atomic<std::uint64_t> rejected_ = 0;                                       // Requests
  EarlyRequests early_;
};

}  // namespace weft::compat::direct
