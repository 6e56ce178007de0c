// SPDX-License-Identifier: Apache-2.0
// A client and a server over weft's verbs, with any number of connections: one device, one protection domain, one
// completion queue and one event channel each.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "bench/scale/process.hpp"
#include "verbs/verbs.hpp"

namespace weft::scale {

inline constexpr std::uint32_t kDepth = 16;        // work requests of each queue of a queue pair
inline constexpr std::size_t kMessage = 64;        // octets of the messages that show a connection in use
inline constexpr std::size_t kWrite = 256 * 1024;  // octets of the RDMA Writes that measure bandwidth
inline constexpr int kWritesUnderWay = 4;          // of each active connection

// What every end has.
class WeftEnd {
 public:
  WeftEnd();

 protected:
  struct Connection {
    verbs::ConnectionId id;
    std::unique_ptr<verbs::QueuePair> queue_pair{};
  };
  // With its receives posted.
  [[nodiscard]] std::unique_ptr<verbs::QueuePair> make_queue_pair();
  void post_receive(verbs::QueuePair& queue_pair);
  void post_message(verbs::QueuePair& queue_pair);
  // Spins until `count` receives have completed; `each` is told the queue pair's number.
  template <typename Each>
  void take_messages(std::size_t count, Each each);
  // The next event of the connection manager. With a line the channel must not block; none when `line` has something to
  // say first.
  std::optional<verbs::ConnectionEvent> next_event(const Line* line = nullptr);

  verbs::Device device_;
  verbs::ProtectionDomain domain_;
  verbs::CompletionQueue completions_;
  verbs::EventChannel events_;
  std::vector<std::byte> octets_;
  verbs::MemoryRegion region_;
  std::unordered_map<std::uint64_t, Connection> connections_;  // by the identifier's number
};

class WeftServer : public WeftEnd {
 public:
  explicit WeftServer(Figures& figures);
  // Accepts until there are `until` connections, or, with 0, until the client says that it is done.
  void serve(std::size_t until, const Line& line);
  void answer_all();  // one message of each connection
  [[nodiscard]] std::size_t size() const { return established_; }

 private:
  void on(verbs::ConnectionEvent event);
  verbs::ConnectionId listener_;
  std::size_t established_ = 0;
};

class WeftClient : public WeftEnd {
 public:
  explicit WeftClient(const Figures& figures);
  // Makes `count` connections, `in_flight` at a time, and keeps them, or takes each down once it is established.
  void connect(std::size_t count, std::size_t in_flight, bool keep);
  void exchange_all();
  // RDMA Writes on the first `active` connections: octets per second.
  double write_for(std::size_t active, double seconds);

 private:
  void begin();
  bool on(verbs::ConnectionEvent event, bool keep);  // true: one more is done
  verbs::Endpoint server_;
  std::uint64_t remote_address_ = 0;  // of the server's memory
  std::uint32_t remote_key_ = 0;
  unsigned begun_ = 0;
};

}  // namespace weft::scale
