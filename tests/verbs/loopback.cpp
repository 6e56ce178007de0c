// SPDX-License-Identifier: Apache-2.0
#include "loopback.hpp"

#include <poll.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <stdexcept>
#include <string_view>
#include <thread>

#ifdef WEFT_WATCHDOG
#include "verbs/progress/watchdog.hpp"
#endif

namespace weft::verbs::test {

#ifdef WEFT_WATCHDOG  // not in the release tree
namespace {

std::uint64_t expected_findings = 0;

// In all tests that have live connections: no wake-up is lost.
struct NothingForgotten final : testing::Environment {
  void TearDown() override {
    EXPECT_EQ(detail::Watchdog::found(), expected_findings) << "the watchdog found what the log tells: a lost wake-up";
  }
};
[[maybe_unused]] const auto* const nothing_forgotten = testing::AddGlobalTestEnvironment(new NothingForgotten);

}  // namespace

void expect_forgotten(std::uint64_t more) { expected_findings += more; }
#endif

Endpoint loopback(const std::string& address, std::uint16_t port) { return {Address::parse(address).value(), port}; }

std::vector<std::byte> octets(std::size_t count, unsigned seed) {
  std::vector<std::byte> made(count);
  std::uint32_t state = seed * 2654435761U + 1;
  for (auto& octet : made) {
    state = state * 1664525U + 1013904223U;
    octet = static_cast<std::byte>(state >> 24);
  }
  return made;
}

void write_octet(QueuePair& qp, Buffer& from, const Buffer& to, std::byte value) {
  from.octets.front() = value;
  const auto sge = from.sge(0, 1);
  must(qp.post_send({.opcode = SendOpcode::kRdmaWrite,
                     .segments = {&sge, 1},
                     .remote_address = to.remote(),
                     .rkey = to.region.rkey()}),
       "post_send");
}

void wait_until(const std::function<bool()>& done, const char* what) {
  const auto limit = std::chrono::steady_clock::now() + kPatience;
  while (!done()) {
    if (std::chrono::steady_clock::now() > limit) throw std::runtime_error(std::string("timed out: ") + what);
    std::this_thread::sleep_for(1ms);  // what is waited for, another thread does, and no descriptor tells of it
  }
}

bool has_event(const CompletionChannel& channel, std::chrono::milliseconds time) {
  pollfd waiting{.fd = channel.descriptor(), .events = POLLIN, .revents = 0};
  return poll(&waiting, 1, static_cast<int>(time.count())) == 1;
}

std::size_t drain(CompletionQueue& queue) {
  std::array<WorkCompletion, 64> completions;
  return must(queue.poll(completions), "poll");
}

// --- End

namespace {

CompletionQueue make_cq(Device& device, const CompletionChannel& channel, std::uint32_t capacity) {
  return must(device.create_completion_queue({.capacity = capacity, .channel = &channel}), "create_completion_queue");
}

}  // namespace

Policy over_tested_pipe(Policy policy) {
  const char* const wanted = std::getenv("WEFT_TEST_SAME_HOST");
  if (wanted != nullptr && std::string_view(wanted) == "off") policy.startup.same_host = SameHost::kOff;
  return policy;
}

End::End(const EndOptions& options)
    : device(must(Device::open("lo"), "open")),
      domain(must(device.allocate_protection_domain(), "allocate_protection_domain")),
      channel(must(CompletionChannel::create(), "channel")),
      cq(make_cq(device, channel, options.cq_capacity)),
      receive_cq(options.own_receive_cq ? make_cq(device, channel, options.cq_capacity) : cq) {
  if (options.srq) srq = must(domain.create_shared_receive_queue(*options.srq), "create_shared_receive_queue");
  QueuePairAttributes attributes = options.queue_pair;
  attributes.send_cq = &cq;
  attributes.receive_cq = &receive_cq;
  if (srq) attributes.srq = &*srq;
  qp = must(domain.create_queue_pair(attributes), "create_queue_pair");
  must(qp->modify(QpState::kInit), "INIT");
}

std::optional<WorkCompletion> End::next_within(CompletionQueue& queue, std::chrono::milliseconds time) {
  const auto limit = std::chrono::steady_clock::now() + time;
  WorkCompletion completion;
  do {
    if (must(queue.poll({&completion, 1}), "poll") == 1) return completion;
  } while (std::chrono::steady_clock::now() < limit);
  return std::nullopt;
}

WorkCompletion End::next(CompletionQueue& queue) {
  auto completion = next_within(queue, kPatience);
  if (!completion) throw std::runtime_error("timed out: no completion");
  return *completion;
}

std::optional<AsyncEvent> End::async_within(std::chrono::milliseconds time) {
  pollfd waiting{.fd = device.async_descriptor(), .events = POLLIN, .revents = 0};
  if (poll(&waiting, 1, static_cast<int>(time.count())) != 1) return std::nullopt;
  return must(device.get_async_event(), "get_async_event");
}

AsyncEvent End::next_async() {
  auto event = async_within(kPatience);
  if (!event) throw std::runtime_error("timed out: no asynchronous event");
  return *event;
}

// --- Buffer

Buffer::Buffer(End& end, std::size_t count, Access access, const RegionOptions& options)
    : octets(count),
      region(must(end.domain.register_memory(octets.data(), count, access, options), "register_memory")) {}

void Buffer::fill(unsigned seed) { std::ranges::copy(test::octets(octets.size(), seed), octets.begin()); }

// --- Pair

ConnectionEvent expect_event(EventChannel& events, ConnectionEventType expected) {
  auto event = must(events.get_event(std::chrono::duration_cast<std::chrono::milliseconds>(kPatience)), "get_event");
  if (event.type == expected) return event;
  throw std::runtime_error("expected " + std::string(to_string(expected)) + ", got " +
                           std::string(to_string(event.type)) +
                           (event.error ? ": " + event.error->message() : std::string()));
}

void resolve(ConnectionId& id, EventChannel& events, const Endpoint& to) {
  must(id.resolve_address(to), "resolve_address");
  expect_event(events, ConnectionEventType::kAddressResolved);
  must(id.resolve_route(), "resolve_route");
  expect_event(events, ConnectionEventType::kRouteResolved);
}

ConnectionId establish(ConnectionId& id, EventChannel& events, QueuePair& client, QueuePair& server) {
  must(id.connect(client), "connect");
  auto request = expect_event(events, ConnectionEventType::kConnectRequest);
  must(request.request->accept(server), "accept");
  for (int end = 0; end < 2; ++end) expect_event(events, ConnectionEventType::kEstablished);
  return std::move(*request.request);
}

Pair::Pair(const PairOptions& options)
    : events(must(EventChannel::create(), "EventChannel")),
      listener(must(ConnectionId::create(events), "ConnectionId")),
      client(options.client),
      server(options.server) {
  must(listener.bind_address(loopback(options.address)), "bind");
  must(listener.set_policy(over_tested_pipe(options.server_policy)), "set_policy");
  must(listener.listen(), "listen");
  if (options.before_connect) options.before_connect(client, server);
  client.id = must(ConnectionId::create(events), "ConnectionId");
  must(client.id->set_policy(over_tested_pipe(options.client_policy)), "set_policy");
  resolve(*client.id, events, listener.local_address());
  must(client.id->connect(*client.qp, {.private_data = options.request_data, .ird = options.ird, .ord = options.ord}),
       "connect");
  auto request = event(ConnectionEventType::kConnectRequest);
  seen_request_data = request.private_data;
  server.id = std::move(*request.request);
  must(server.id->accept(*server.qp, {.private_data = options.reply_data}), "accept");
  for (int i = 0; i < 2; ++i) {
    auto established = event(ConnectionEventType::kEstablished);
    if (established.id == client.id->number()) seen_reply_data = established.private_data;
  }
}

Pair::~Pair() = default;

ConnectionEvent Pair::event(ConnectionEventType expected) { return expect_event(events, expected); }

void Pair::disconnect() {
  must(client.id->disconnect(), "disconnect");
  event(ConnectionEventType::kDisconnected);
  event(ConnectionEventType::kDisconnected);
}

}  // namespace weft::verbs::test
