// SPDX-License-Identifier: Apache-2.0
// What an idle connection holds: every octet that its two ends took with operator new and did not give back. Counted,
// so neither the clock nor the kernel has a say. bench/scale measures the same from outside (docs/performance.md).
#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include "loopback.hpp"
#include "tests/transport/tls_ends.hpp"
#include "verbs/base/queue_pair_numbers.hpp"
#include "verbs/connecting/half_open.hpp"

namespace {

// The staging buffers and batches that all connections share: the pool keeps some, as many as were in use at a time.
constexpr std::size_t kPooled = 128 * 1024;
constexpr int kMostPooled = 8;

std::atomic<std::size_t> held{0};  // octets of everything smaller
std::atomic<int> pooled{0};

void count(std::size_t size, int sign) noexcept {
  if (size >= kPooled) pooled += sign;
  if (size < kPooled) held += sign > 0 ? size : -size;
}

void* take(std::size_t size) {
  void* const made = std::malloc(size);
  if (made == nullptr) throw std::bad_alloc();
  count(malloc_usable_size(made), 1);
  return made;
}

void give_back(void* made) noexcept {
  if (made != nullptr) count(malloc_usable_size(made), -1);
  std::free(made);
}

}  // namespace

void* operator new(std::size_t size) { return take(size); }
void* operator new[](std::size_t size) { return take(size); }
void operator delete(void* made) noexcept { give_back(made); }
void operator delete[](void* made) noexcept { give_back(made); }
void operator delete(void* made, std::size_t) noexcept { give_back(made); }
void operator delete[](void* made, std::size_t) noexcept { give_back(made); }

namespace weft::verbs::test {
namespace {

constexpr std::uint32_t kDepth = 16;
constexpr std::size_t kMessage = 64;

// One end of many connections: all that they share.
struct Host {
  Device device = must(Device::open("lo"), "device");
  ProtectionDomain domain = must(device.allocate_protection_domain(), "domain");
  CompletionQueue cq = must(device.create_completion_queue({.capacity = 4096}), "cq");
  std::vector<std::byte> octets = std::vector<std::byte>(kMessage);
  MemoryRegion region = must(domain.register_memory(octets.data(), kMessage, kAllAccess), "region");

  QueuePair queue_pair() {
    auto made = must(
        domain.create_queue_pair({.send_cq = &cq, .receive_cq = &cq, .max_send_wr = kDepth, .max_receive_wr = kDepth}),
        "queue pair");
    must(made.modify(QpState::kInit), "INIT");
    const Sge into = region.sge();
    for (std::uint32_t i = 0; i < kDepth; ++i) must(made.post_receive({.segments = {&into, 1}}), "receive");
    return made;
  }
  // Sends one message, and posts another receive for the one that comes back.
  void send(QueuePair& from) {
    const Sge sge = region.sge();
    must(from.post_send({.opcode = SendOpcode::kSend, .flags = SendFlags::kSignaled, .segments = {&sge, 1}}), "send");
  }
  void receive_one(QueuePair& on) {
    WorkCompletion done;
    do {
      wait_until([&] { return must(cq.poll({&done, 1}), "poll") == 1; }, "a message");
      EXPECT_EQ(done.status, WcStatus::kSuccess);
    } while (done.opcode != WcOpcode::kReceive);
    const Sge into = region.sge();
    must(on.post_receive({.segments = {&into, 1}}), "receive");
  }
};

struct Connection {
  ConnectionId client_id, server_id;
  QueuePair client, server;
};

// A client and a server in one process, which share a channel of connection events.
struct Town {
  EventChannel events = must(EventChannel::create(), "channel");
  ConnectionId listener = must(ConnectionId::create(events), "listener");
  Host near, far;
  std::vector<Connection> connections;

  // The listener's policy decides: one of the client's own would be memory of each connection.
  explicit Town(SameHost same_host) {
    must(listener.set_policy({.startup = {.same_host = same_host}}), "set_policy");
    must(listener.bind_address(loopback("127.0.0.1")), "bind");
    must(listener.listen(), "listen");
  }
  void connect() {
    ConnectionId id = must(ConnectionId::create(events), "id");
    resolve(id, events, listener.local_address());
    QueuePair client = near.queue_pair(), server = far.queue_pair();
    ConnectionId other = establish(id, events, client, server);
    connections.push_back({std::move(id), std::move(other), std::move(client), std::move(server)});
  }
  void exchange() {
    for (Connection& connection : connections) {
      near.send(connection.client), far.receive_one(connection.server);
      far.send(connection.server), near.receive_one(connection.client);
    }
  }
};

std::size_t held_when_idle() {
  transport::test::wait_for_rest();  // a callback that runs gives back what it holds
  return held;
}

// The process's table of queue pair numbers also has those that were freed last: it grows to this size as the test is
// repeated, and would do so while connections are measured.
void let_numbers_have_their_room(std::size_t in_use) {
  auto& numbers = detail::QueuePairNumbers::of_process();
  std::vector<std::uint32_t> all;
  while (all.size() < detail::QueuePairNumbers::kResting + in_use) all.push_back(numbers.take().value());
  for (const std::uint32_t number : all) numbers.give_back(number);
}

struct Bound {
  SameHost same_host;
  std::size_t established;
  std::size_t used;  // with room for one work request at each end, which is kept
};
class IdleConnection : public testing::TestWithParam<Bound> {};
INSTANTIATE_TEST_SUITE_P(Pipes, IdleConnection,
                         testing::Values(Bound{SameHost::kOff, 7700, 8500}, Bound{SameHost::kOn, 8100, 8850}));

// Both ends together, with queues of 16 and all receives posted: bench/scale adds malloc's headers to this. The pages of
// rings, which both ends share, are not the heap's.
TEST_P(IdleConnection, HoldsLittleMemory) {
  constexpr std::size_t kWarm = 8, kCount = 64;
  let_numbers_have_their_room(2 * (kWarm + kCount));
  Town town(GetParam().same_host);
  town.connections.reserve(kWarm + kCount);
  for (std::size_t i = 0; i < kWarm; ++i) town.connect();
  town.exchange();
  const std::size_t before = held_when_idle();
  for (std::size_t i = 0; i < kCount; ++i) town.connect();
  const std::size_t established = (held_when_idle() - before) / kCount;
  town.exchange();
  const std::size_t used = (held_when_idle() - before) / kCount;
  RecordProperty("established", static_cast<int>(established));
  RecordProperty("used", static_cast<int>(used));
  EXPECT_LT(established, GetParam().established);
  EXPECT_LT(used, GetParam().used);
  EXPECT_LE(pooled, kMostPooled);  // and no connection has one of its own
}

// A peer that has proved nothing: silent, with half a record, and with all but the end of the longest ClientHello. All of
// malloc()'s, for OpenSSL does not use operator new.
TEST(HalfOpenTlsConnection, HoldsNoMoreThanItsWeight) {
  constexpr std::size_t kCount = 64;
  const transport::test::TlsKeys keys;
  const auto octets_of = [](std::size_t length) {
    std::string hello("\x16\x03\x01\x3f\x00\x01\x00\x40\x00", 9);  // a record of 16128, a message of 16384
    hello.resize(5 + 0x3f00, 'x');
    hello += std::string("\x16\x03\x01\x01\x04", 5);
    hello.resize(hello.size() + 0x103, 'x');
    return hello.substr(0, length);
  };
  for (const std::size_t length : {std::size_t{0}, std::size_t{9}, std::size_t{16000}, octets_of(100000).size()}) {
    const auto hold = [&](std::size_t count) {
      std::vector<std::unique_ptr<transport::Pipe>> held_ones;
      std::vector<transport::Socket> peers;
      for (std::size_t i = 0; i < count; ++i) {
        auto [peer, socket] = transport::test::connected_pair();
        held_ones.push_back(std::make_unique<transport::Pipe>(
            std::move(socket), transport::test::session(keys.server(), transport::tls::Part::kServer)));
        const std::string all = octets_of(length);
        const Bytes octets = std::as_bytes(std::span(all));
        EXPECT_EQ(peer.write(std::span(&octets, 1)).octets, octets.size());
        std::byte place{};
        if (length != 0) transport::test::becomes_readable(held_ones.back()->socket().descriptor());
        EXPECT_EQ(held_ones.back()->read({&place, 1}).status, transport::IoResult::Status::kWouldBlock);
        peers.push_back(std::move(peer));
      }
      const auto now = ::mallinfo2();
      return now.uordblks + now.hblkhd;
    };
    const std::size_t few = hold(8), many = hold(8 + kCount);
    const std::size_t each = (many - few) / kCount;
    RecordProperty("with " + std::to_string(length), static_cast<int>(each));
    EXPECT_LE(each, detail::HalfOpen::kOctetsTls) << length;
  }
}

}  // namespace
}  // namespace weft::verbs::test
