// SPDX-License-Identifier: Apache-2.0
// Two ends of a connection in one process, over real TCP on a loopback address.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/skips/sanitizers.hpp"
#include "verbs/options.hpp"
#include "verbs/verbs.hpp"

namespace weft::verbs::test {

using namespace std::chrono_literals;

inline constexpr auto kPatience = 10s;  // sanitizers and a shared machine are slow

// The value, or the end of the test with the error's sentence.
template <typename T>
T must(Result<T> result, const char* what) {
  if (!result) throw std::runtime_error(std::string(what) + ": " + result.error().message());
  return std::move(*result);
}
inline void must(Result<void> result, const char* what) {
  if (!result) throw std::runtime_error(std::string(what) + ": " + result.error().message());
}

// The policy, over TCP if the environment asks for that (WEFT_TEST_SAME_HOST=off), as ctest's entries NAME_tcp do.
Policy over_tested_pipe(Policy policy);

// `count` progress threads while it lives; made before what starts them.
struct ProgressThreadCount {
  explicit ProgressThreadCount(std::size_t count) { must(set_progress_threads(count), "set_progress_threads"); }
  ~ProgressThreadCount() { EXPECT_TRUE(set_progress_threads(0)) << "back to what weft chooses"; }
  ProgressThreadCount(const ProgressThreadCount&) = delete;
  ProgressThreadCount& operator=(const ProgressThreadCount&) = delete;
};

struct EndOptions {
  QueuePairAttributes queue_pair{};  // queues are filled in
  std::uint32_t cq_capacity = 256;
  bool own_receive_cq = false;
  std::optional<SharedReceiveQueueAttributes> srq{};
};

// Everything one end needs, in the order in which it may be taken down.
struct End {
  explicit End(const EndOptions& options = {});

  Device device;
  ProtectionDomain domain;
  CompletionChannel channel;
  CompletionQueue cq;
  CompletionQueue receive_cq;
  std::optional<SharedReceiveQueue> srq;
  std::optional<QueuePair> qp;
  std::optional<ConnectionId> id;

  // The next completion of a queue, driven by polling.
  WorkCompletion next(CompletionQueue& queue);
  WorkCompletion next() { return next(cq); }
  std::optional<WorkCompletion> next_within(CompletionQueue& queue, std::chrono::milliseconds time);
  AsyncEvent next_async();
  std::optional<AsyncEvent> async_within(std::chrono::milliseconds time);
};

// Registered memory that the test owns.
struct Buffer {
  Buffer(End& end, std::size_t octets, Access access = kAllAccess, const RegionOptions& options = {});
  std::vector<std::byte> octets;
  MemoryRegion region;
  [[nodiscard]] Sge sge() const { return region.sge(); }
  [[nodiscard]] Sge sge(std::size_t offset, std::uint32_t length) const { return region.sge(offset, length); }
  [[nodiscard]] std::uint64_t remote() const { return region.iova(); }
  void fill(unsigned seed);
};
// An octet that the peer may be writing.
WEFT_RACES_ON_PURPOSE inline std::byte look_at(const volatile std::byte* octet) { return *octet; }

struct PairOptions {
  std::string address = "127.0.0.1";
  Policy client_policy{};
  Policy server_policy{};
  EndOptions client{};
  EndOptions server{};
  std::vector<std::byte> request_data{};
  std::vector<std::byte> reply_data{};
  std::optional<std::uint32_t> ird{};
  std::optional<std::uint32_t> ord{};
  std::function<void(End& client, End& server)> before_connect{};  // e.g. to post receives
};

// A connected client and server.
struct Pair {
  explicit Pair(const PairOptions& options = {});
  ~Pair();

  EventChannel events;  // of both ends
  ConnectionId listener;
  End client;
  End server;
  std::vector<std::byte> seen_request_data{};
  std::vector<std::byte> seen_reply_data{};

  ConnectionEvent event(ConnectionEventType expected);
  void disconnect();  // gracefully, by the client; waits for both ends
};

ConnectionEvent expect_event(EventChannel& events, ConnectionEventType expected);
// Address and route, with their events.
void resolve(ConnectionId& id, EventChannel& events, const Endpoint& to);
// From an identifier that has resolved where a listener of the same channel is; the other end's identifier.
ConnectionId establish(ConnectionId& id, EventChannel& events, QueuePair& client, QueuePair& server);
Endpoint loopback(const std::string& address, std::uint16_t port = 0);
std::vector<std::byte> octets(std::size_t count, unsigned seed);

// An RDMA Write of `from`'s first octet, which is set to `value`, to `to`'s.
void write_octet(QueuePair& qp, Buffer& from, const Buffer& to, std::byte value);

// The watchdog checks in all these tests, which fail when it finds anything; but for so much as was provoked.
void expect_forgotten(std::uint64_t more);

// Whether its descriptor can be read within the time.
bool has_event(const CompletionChannel& channel, std::chrono::milliseconds time);

// Takes what is queued, in one poll: how much it was.
std::size_t drain(CompletionQueue& queue);

// Drives both ends until `done`, or fails the test after kPatience.
void wait_until(const std::function<bool()>& done, const char* what);

}  // namespace weft::verbs::test
