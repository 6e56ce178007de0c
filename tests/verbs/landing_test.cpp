// SPDX-License-Identifier: Apache-2.0
// Payload that is read from the socket straight to its place: which payload, over real TCP, and what comes out.
#include <array>
#include <random>

#include "hand_peer.hpp"
#include "loopback.hpp"
#include "tests/skips/sanitizers.hpp"

namespace weft::verbs::test {
namespace {

constexpr std::uint32_t kLength = 50'000;      // one FPDU
constexpr std::size_t kHeader = 2 + 18;        // of a Send: ULPDU_Length and DDP
constexpr std::size_t kTaggedHeader = 2 + 14;  // of a Write

// A server, and a client that writes FPDUs in pieces, each when the one before was read and the call that read it is over:
// a read still in the kernel would take the next piece, too.
struct Piecewise {
  explicit Piecewise(const Policy& policy = {}) {
    must(listener.set_policy(policy), "policy");
    must(listener.bind_address(loopback("127.0.0.1")), "bind");
    must(listener.listen(), "listen");
    peer.emplace(listener.local_address(),
                 engine::Config{.mpa = {.crc = policy.startup.crc, .peer_to_peer = false}, .emss = 65'483});
    auto request = expect_event(events, ConnectionEventType::kConnectRequest);
    must(request.request->accept(*server.qp), "accept");
    server.id = std::move(*request.request);
    expect_event(events, ConnectionEventType::kEstablished);
    peer->wait_for<engine::Established>();
    peer->memory.add(7, kLength).octets = octets(kLength, 3);
  }

  std::vector<std::byte> fpdu_of(const engine::WorkRequest& work) {
    if (!peer->engine.post(work)) throw std::runtime_error("post");
    return peer->cut();
  }
  void write(Bytes some) {
    peer->write(some);
    wait_until([&] { return peer->was_read(); }, "it was read");
    static_cast<void>(server.qp->send_room());  // waits for the thread that reads
  }

  EventChannel events = must(EventChannel::create(), "EventChannel");
  ConnectionId listener = must(ConnectionId::create(events), "ConnectionId");
  End server;
  Buffer sink{server, kLength + 100};
  std::optional<HandPeer> peer;
  const rdmap::LocalSegment source{0, kLength, 7};
};

// Looks at a buffer that weft may still write to: the thread sanitizer shall judge weft's threads, not this one.
WEFT_RACES_ON_PURPOSE bool holds(const Buffer& sink, std::size_t octets, const std::vector<std::byte>& expected) {
  const volatile std::byte* at = sink.octets.data();
  for (std::size_t i = 0; i < octets; ++i) {
    if (at[i] != expected.data()[i]) return false;
  }
  return true;
}
bool is_there(const Buffer& sink) { return holds(sink, kLength, octets(kLength, 3)); }
bool is_empty(const Buffer& sink) {
  return holds(sink, sink.octets.size(), std::vector<std::byte>(sink.octets.size()));
}

struct SendScene : Piecewise {
  explicit SendScene(const Policy& policy = {}) : Piecewise(policy) {
    const auto sge = sink.sge();
    must(server.qp->post_receive({.wr_id = 5, .segments = {&sge, 1}}), "post_receive");
    fpdu = fpdu_of({.operation = engine::Operation::kSend, .local = {&source, 1}});
  }
  std::vector<std::byte> fpdu;
};

// It is in its buffer before its CRC is here, and complete when that was verified.
TEST(Landing, ASendIsReadToItsReceive) {
  SendScene scene;
  const Bytes fpdu = scene.fpdu;
  scene.write(fpdu.first(kHeader));
  scene.write(fpdu.subspan(kHeader, kLength));
  EXPECT_TRUE(is_there(scene.sink));
  EXPECT_FALSE(scene.server.next_within(scene.server.cq, 5ms));
  scene.write(fpdu.subspan(kHeader + kLength));
  const auto done = scene.server.next();
  EXPECT_EQ(done.status, WcStatus::kSuccess);
  EXPECT_EQ(done.byte_len, kLength);
  EXPECT_TRUE(is_there(scene.sink));
  EXPECT_EQ(scene.sink.octets.back(), std::byte{0}) << "nothing after the message was touched";
}

// All at once after the header: the frame is taken where it lies.
TEST(Landing, ARestThatComesAtOnceIsTakenWhereItLies) {
  SendScene scene;
  scene.write(Bytes(scene.fpdu).first(kHeader + 100));
  scene.write(Bytes(scene.fpdu).subspan(kHeader + 100));
  EXPECT_EQ(scene.server.next().status, WcStatus::kSuccess);
  EXPECT_TRUE(is_there(scene.sink));
}

TEST(Landing, IsForThePolicyToForbid) {
  SendScene scene({.startup = {.early_placement = false}});
  const Bytes fpdu = scene.fpdu;
  scene.write(fpdu.first(kHeader));
  scene.write(fpdu.subspan(kHeader, kLength));
  EXPECT_TRUE(is_empty(scene.sink));
  scene.write(fpdu.subspan(kHeader + kLength));
  EXPECT_EQ(scene.server.next().status, WcStatus::kSuccess);
  EXPECT_TRUE(is_there(scene.sink));
}

TEST(Landing, ABadCrcEndsTheStreamAndFlushesTheReceive) {
  SendScene scene;
  scene.fpdu.back() ^= std::byte{1};
  scene.write(Bytes(scene.fpdu).first(kHeader));
  scene.write(Bytes(scene.fpdu).subspan(kHeader));
  const auto flushed = scene.server.next();
  EXPECT_EQ(flushed.wr_id, 5U);
  EXPECT_EQ(flushed.status, WcStatus::kFlushed);
  EXPECT_EQ(scene.server.next_async().error->code, 0x02);
}

// The buffer is taken away while half of the payload lies there.
TEST(Landing, MemoryThatIsTakenAwayMeanwhileIsOurOwnFault) {
  SendScene scene;
  scene.write(Bytes(scene.fpdu).first(kHeader));
  scene.write(Bytes(scene.fpdu).subspan(kHeader, kLength / 2));
  must(scene.sink.region.deregister(), "deregister");
  scene.write(Bytes(scene.fpdu).subspan(kHeader + kLength / 2));
  const auto failed = scene.server.next();
  EXPECT_EQ(failed.wr_id, 5U);
  EXPECT_EQ(failed.status, WcStatus::kLocalProtectionError);
}

// MPA-6-01: no completion tells when a Write has come, so nothing of it may be seen before it is verified.
TEST(Landing, AWriteIsVerifiedFirst) {
  Piecewise scene;
  const auto whole = scene.fpdu_of({.operation = engine::Operation::kWrite,
                                    .local = {&scene.source, 1},
                                    .remote_stag = {scene.sink.region.rkey()},
                                    .remote_offset = {scene.sink.remote()}});
  const Bytes fpdu = whole;
  scene.write(fpdu.first(kTaggedHeader));
  scene.write(fpdu.subspan(kTaggedHeader, kLength));
  EXPECT_TRUE(is_empty(scene.sink));
  scene.write(fpdu.subspan(kTaggedHeader + kLength));
  wait_until([&] { return is_there(scene.sink); }, "all of it is there");
}

// --- Two ends of weft: messages of any length, from anywhere to anywhere.

struct Kind {
  const char* name;
  bool crc;
};
class Lengths : public ::testing::TestWithParam<Kind> {};

constexpr std::size_t kBuffer = 5 << 20;

// One message of each operation, by a list of up to three segments at the end that scatters.
void move(Pair& pair, Buffer& here, Buffer& there, std::mt19937& random) {
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  const auto length = static_cast<std::uint32_t>(1 + below(std::size_t{1} << below(22)));
  const std::size_t from = below(kBuffer - length + 1), to = below(kBuffer - length - 200) + 100;
  here.fill(static_cast<unsigned>(random()));
  std::ranges::fill(there.octets, std::byte{0});
  std::array<Sge, 3> sinks;
  const std::uint32_t first = below(3) == 0 ? static_cast<std::uint32_t>(below(length)) : 0;
  const std::uint32_t second = below(3) == 0 ? static_cast<std::uint32_t>(below(length - first)) : 0;
  sinks = {there.sge(to, first), there.sge(to + first, second),
           there.sge(to + first + second, length - first - second)};
  const Sge source = here.sge(from, length);
  switch (below(3)) {
    case 0:
      must(pair.server.qp->post_receive({.segments = sinks}), "post_receive");
      must(pair.client.qp->post_send({.wr_id = 2, .opcode = SendOpcode::kSend, .segments = {&source, 1}}), "send");
      EXPECT_EQ(pair.server.next().byte_len, length);
      break;
    case 1: {
      const Sge sink = there.sge(to, length);
      must(pair.server.qp->post_send({.opcode = SendOpcode::kRdmaRead,
                                      .flags = SendFlags::kSignaled,
                                      .segments = {&sink, 1},
                                      .remote_address = here.remote() + from,
                                      .rkey = here.region.rkey()}),
           "read");
      EXPECT_EQ(pair.server.next().status, WcStatus::kSuccess);
      break;
    }
    case 2: {
      must(pair.server.qp->post_receive({.wr_id = 1}), "post_receive");
      must(pair.client.qp->post_send({.opcode = SendOpcode::kRdmaWriteWithImmediate,
                                      .segments = {&source, 1},
                                      .remote_address = there.remote() + to,
                                      .rkey = there.region.rkey()}),
           "write");
      EXPECT_EQ(pair.server.next().status, WcStatus::kSuccess);
      break;
    }
  }
  const Bytes got = there.octets;
  ASSERT_TRUE(std::ranges::equal(got.subspan(to, length), Bytes(here.octets).subspan(from, length))) << length;
  const auto untouched = [](Bytes margin) {
    return std::ranges::all_of(margin, [](std::byte octet) { return octet == std::byte{0}; });
  };
  ASSERT_TRUE(untouched(got.first(to)) && untouched(got.subspan(to + length))) << length;
}

TEST_P(Lengths, EveryOctetComesToItsPlaceAndNoOther) {
  const Policy policy{.startup = {.crc = GetParam().crc, .peer_to_peer = true}};
  const QueuePairAttributes queues{.max_send_wr = 4, .max_receive_wr = 4, .max_receive_sge = 3};
  Pair pair({.client_policy = policy,
             .server_policy = policy,
             .client = {.queue_pair = queues},
             .server = {.queue_pair = queues}});
  Buffer here(pair.client, kBuffer), there(pair.server, kBuffer);
  std::mt19937 random(7);
  for (int i = 0; i < 60 && !HasFatalFailure(); ++i) move(pair, here, there, random);
}

INSTANTIATE_TEST_SUITE_P(Crc, Lengths, ::testing::Values(Kind{"On", true}, Kind{"Off", false}),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace weft::verbs::test
