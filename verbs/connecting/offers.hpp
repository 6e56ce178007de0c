// SPDX-License-Identifier: Apache-2.0
// The offers of shared memory that come to a listener, beside its TCP port (transport/same_host/offer.hpp). An offer
// names the TCP connection that it is for; it waits until that connection is accepted, unless it was refused. What
// becomes of none ends with its offer, and the peer connects again without one.
//
// The offers of one process are taken in the order in which it made them, so that its Requests arrive in the order of
// its connections, as they do over TCP: programs that make several connections pair them with the requests by that
// order (perftest does). An offer whose message is still to come holds back the later ones of its process, and no
// others.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "transport/listener.hpp"
#include "transport/same_host/offer.hpp"
#include "verbs/base/clock.hpp"
#include "verbs/connecting/backlog.hpp"
#include "verbs/policy.hpp"
#include "verbs/progress/runtime.hpp"

namespace weft::verbs::detail {

// Safe for threads.
class Offers : public std::enable_shared_from_this<Offers> {
 public:
  Offers(Runtime& runtime, std::shared_ptr<Backlog> backlog, std::uint64_t number)
      : runtime_(runtime), backlog_(std::move(backlog)), number_(number) {}

  // Once. `listener`: the number of the listener at `local`, whose thread accepts offers, too.
  [[nodiscard]] std::error_code listen(std::uint64_t listener, const transport::Endpoint& local, int backlog,
                                       transport::same_host::Families families);
  // A TCP connection was accepted: one of the offers may wait for it.
  void look();
  // This TCP connection was reset: its offer would wait for it.
  void refuse(const HalfOpen::Path& path);
  // No further offer is taken. Before the end, and without locks.
  void close();

 private:
  static constexpr std::size_t kMostWaiting = 1024;
  static constexpr std::size_t kMostRefused = 256;
  static constexpr Duration kRefusedFor = std::chrono::seconds(1);  // a port may soon be another connection's
  static constexpr std::chrono::milliseconds kShortestPause{1};
  static constexpr std::chrono::milliseconds kLongestPause{16};
  // The connection of an offer may never come: when the kernel's queue of connections overflows, it drops the last
  // segment of a handshake, and an initiator that writes nothing to TCP never repeats it. It has to hear in time, and
  // so have those that this offer holds back.
  static constexpr Duration kPatience = std::chrono::seconds(2);
  static_assert(3 * kPatience < TimeoutPolicy{}.startup, "time is left to connect by TCP");

  struct Waiting {
    transport::Socket socket{};
    pid_t process{};                                     // the initiator; those that cannot be seen count as one: 0
    std::optional<transport::same_host::Offer> offer{};  // once it has come
    Instant end{};
  };
  struct Taken {
    pid_t process{};
    std::weak_ptr<ConnectionState> connection{};
  };

  void come(transport::Socket socket);
  // With queue_mutex_ held.
  void serve();
  void serve_queue();
  [[nodiscard]] bool is_done(Waiting& waiting);
  void take(Waiting& waiting, const std::shared_ptr<ConnectionState>& connection);
  void serve_later();
  [[nodiscard]] bool was_refused(const HalfOpen::Path& path);

  Runtime& runtime_;
  const std::shared_ptr<Backlog> backlog_;
  const std::uint64_t number_;  // as the runtime knows its socket
  transport::same_host::BoundName name_;
  std::shared_ptr<transport::Listener> listener_;
  std::mutex queue_mutex_;         // above the locks of streams
  std::list<Waiting> queue_;       // in the order of arrival
  std::vector<Taken> last_taken_;  // of each process, while its Request has not come
  std::chrono::milliseconds pause_ = kShortestPause;
  bool timed_ = false;  // a timer is to serve the queue
  std::mutex mutex_;
  struct Refused {
    HalfOpen::Path path{};
    Instant at{};
  };
  std::deque<Refused> refused_;  // the last ones, the oldest first
};

}  // namespace weft::verbs::detail
