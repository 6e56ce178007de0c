// SPDX-License-Identifier: Apache-2.0
// The application scribbles in what is being sent, read and answered. Its data is then undefined, but what goes out is
// FPDUs whose CRC holds: the checksum runs over a copy that nothing else writes. Where nothing is placed before it is
// verified, it may scribble in what is being received as well.
#include <atomic>
#include <thread>

#include "loopback.hpp"
#include "tests/skips/sanitizers.hpp"

namespace weft::verbs::test::scribbler {
namespace {

constexpr std::size_t kSize = 1 << 18;
constexpr std::uint32_t kRounds = 50;

// Stores that the compiler keeps and the thread sanitizer does not see: it shall judge weft's threads, not this one.
// Some octets of each FPDU are enough, and change more often than all of them could.
WEFT_RACES_ON_PURPOSE void scribble(volatile std::byte* octets, std::size_t size, std::byte value) {
  for (std::size_t i = 0; i < size; i += 128) octets[i] = value;
}

// In these buffers, until it goes.
class Scribbler {
 public:
  explicit Scribbler(std::vector<Buffer*> buffers)
      : thread_([this, buffers = std::move(buffers)] {
          for (unsigned i = 0; !stop_; ++i) {
            for (Buffer* buffer : buffers)
              scribble(buffer->octets.data(), buffer->octets.size(), static_cast<std::byte>(i));
          }
        }) {}
  ~Scribbler() {
    stop_ = true;
    thread_.join();
  }
  Scribbler(const Scribbler&) = delete;
  Scribbler& operator=(const Scribbler&) = delete;

 private:
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

struct Framing {
  const char* name;
  bool crc, markers;
  std::uint32_t max_ulpdu;
  bool early_placement = true;
};

class AScribbler : public ::testing::TestWithParam<Framing> {};

constexpr std::array kKinds{SendOpcode::kRdmaWrite, SendOpcode::kSend, SendOpcode::kRdmaRead};
constexpr std::uint32_t kKinds32 = kKinds.size(), kEach = 6;

// Writes, Sends and Reads in turns, of many sizes and from odd addresses. What is read comes to `sink`.
void post_some(End& end, const Buffer& local, const Buffer& sink, const Buffer& remote, std::uint32_t round) {
  for (std::uint32_t i = 0; i < kKinds32 * kEach; ++i) {
    const std::uint32_t size = 1 + (round * 4099 + i * 1301) % 60000;
    const auto opcode = kKinds[i % kKinds32];
    const auto sge = (opcode == SendOpcode::kRdmaRead ? sink : local).sge(i * 3 + 1, size);
    must(end.qp->post_send({.opcode = opcode,
                            .flags = SendFlags::kSignaled,
                            .segments = {&sge, 1},
                            .remote_address = remote.remote() + i,
                            .rkey = remote.region.rkey()}),
         "post_send");
  }
}

void expect_success(End& end) {
  for (std::uint32_t i = 0; i < kKinds32 * kEach; ++i) ASSERT_EQ(end.next().status, WcStatus::kSuccess);
  for (std::uint32_t i = 0; i < kEach; ++i) ASSERT_EQ(end.next(end.receive_cq).status, WcStatus::kSuccess);
}

// What is left alone arrives as it is.
void expect_alive(Pair& pair, Buffer& near, Buffer& far) {
  near.fill(1);
  const auto sge = near.sge();
  for (const auto opcode : {SendOpcode::kRdmaWrite, SendOpcode::kRdmaRead}) {
    must(pair.client.qp->post_send({.opcode = opcode,
                                    .flags = SendFlags::kSignaled,
                                    .segments = {&sge, 1},
                                    .remote_address = far.remote(),
                                    .rkey = far.region.rkey()}),
         "post_send");
    EXPECT_EQ(pair.client.next().status, WcStatus::kSuccess);
  }
  EXPECT_EQ(near.octets, octets(kSize, 1));
  EXPECT_EQ(far.octets, near.octets);
  EXPECT_EQ(pair.client.qp->state(), QpState::kRts);
  EXPECT_EQ(pair.server.qp->state(), QpState::kRts);
}

TEST_P(AScribbler, NeverBreaksTheStream) {
  const Framing& framing = GetParam();
  const Policy policy{.startup = {.crc = framing.crc,
                                  .markers = framing.markers,
                                  .peer_to_peer = true,
                                  .max_ulpdu = framing.max_ulpdu,
                                  .early_placement = framing.early_placement}};
  const EndOptions end{.own_receive_cq = true};
  Pair pair({.client_policy = policy, .server_policy = policy, .client = end, .server = end});
  ASSERT_EQ(pair.client.qp->query().negotiated->crc, framing.crc);
  Buffer near(pair.client, kSize), far(pair.server, kSize), near_sink(pair.client, kSize), far_sink(pair.server, kSize);
  std::vector<Buffer*> spoilt{&near, &far};
  if (!framing.early_placement) spoilt.insert(spoilt.end(), {&near_sink, &far_sink});
  {
    const Scribbler scribbler(spoilt);
    for (std::uint32_t round = 0; round < kRounds && !HasFailure(); ++round) {
      for (std::uint32_t i = 0; i < kEach; ++i) {
        const auto at_server = far_sink.sge(), at_client = near_sink.sge();
        must(pair.server.qp->post_receive({.segments = {&at_server, 1}}), "post_receive");
        must(pair.client.qp->post_receive({.segments = {&at_client, 1}}), "post_receive");
      }
      post_some(pair.client, near, near_sink, far, round);
      post_some(pair.server, far, far_sink, near, round + 1);
      expect_success(pair.client);
      expect_success(pair.server);
    }
  }
  if (!HasFailure()) expect_alive(pair, near, far);
}

INSTANTIATE_TEST_SUITE_P(Framings, AScribbler,
                         ::testing::Values(Framing{"Crc", true, false, 0}, Framing{"CrcFirst", true, false, 0, false},
                                           Framing{"CrcAndSmallFpdus", true, false, 600},
                                           Framing{"CrcAndMarkers", true, true, 1442},
                                           Framing{"WithoutCrc", false, false, 0}),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace weft::verbs::test::scribbler
