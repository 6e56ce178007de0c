// SPDX-License-Identifier: Apache-2.0
// Every operation over real TCP, both ends in one process.
#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

#include "loopback.hpp"

namespace weft::verbs::test {
namespace {

class Operations : public ::testing::TestWithParam<const char*> {
 protected:
  Pair pair{{.address = GetParam()}};

  void receive(std::uint64_t wr_id, const Sge& sink) {
    must(pair.server.qp->post_receive({.wr_id = wr_id, .segments = {&sink, 1}}), "post_receive");
  }
  WorkCompletion send(SendRequest request) {
    request.flags = request.flags | SendFlags::kSignaled;
    must(pair.client.qp->post_send(request), "post_send");
    return pair.client.next();
  }
};

bool starts_with(const std::vector<std::byte>& all, const std::vector<std::byte>& front) {
  return std::equal(front.begin(), front.end(), all.begin());
}

// RDMAP-3.2-02, RDMAP-3.2-03
TEST_P(Operations, SendCompletesAtBothEnds) {
  Buffer from(pair.client, 5000), to(pair.server, 8000);
  from.fill(1);
  const auto source = from.sge();
  receive(7, to.sge());
  const auto sent = send({.wr_id = 8, .opcode = SendOpcode::kSend, .segments = {&source, 1}});
  EXPECT_EQ(sent.wr_id, 8U);
  EXPECT_EQ(sent.status, WcStatus::kSuccess);
  EXPECT_EQ(sent.opcode, WcOpcode::kSend);
  const auto received = pair.server.next();
  EXPECT_EQ(received.wr_id, 7U);
  EXPECT_EQ(received.status, WcStatus::kSuccess);
  EXPECT_EQ(received.opcode, WcOpcode::kReceive);
  EXPECT_EQ(received.byte_len, 5000U);
  EXPECT_EQ(received.qp_num, pair.server.qp->number());
  EXPECT_FALSE(received.with_immediate || received.with_invalidate || received.solicited);
  EXPECT_TRUE(starts_with(to.octets, from.octets));
  pair.disconnect();
}

// RDMAP-5.3-10, RDMAP-5.3-11
TEST_P(Operations, ASendOfNothingTakesAReceive) {
  must(pair.server.qp->post_receive({.wr_id = 1}), "post_receive");
  EXPECT_EQ(send({.opcode = SendOpcode::kSend}).status, WcStatus::kSuccess);
  const auto received = pair.server.next();
  EXPECT_EQ(received.wr_id, 1U);
  EXPECT_EQ(received.byte_len, 0U);
}

// SEC-2.2.6-01,
// RDMAP-5.1-02: the target hears nothing.
TEST_P(Operations, WriteLandsSilently) {
  Buffer from(pair.client, 300000), to(pair.server, 300000);
  from.fill(2);
  const auto source = from.sge();
  const auto done = send({.opcode = SendOpcode::kRdmaWrite,
                          .segments = {&source, 1},
                          .remote_address = to.remote(),
                          .rkey = to.region.rkey()});
  EXPECT_EQ(done.opcode, WcOpcode::kRdmaWrite);
  EXPECT_EQ(done.status, WcStatus::kSuccess);
  // A Read in the same direction sees what was written before it (RDMAP-5.5-14).
  Buffer back(pair.client, 300000);
  const auto sink = back.sge();
  const auto read = send({.opcode = SendOpcode::kRdmaRead,
                          .segments = {&sink, 1},
                          .remote_address = to.remote(),
                          .rkey = to.region.rkey()});
  EXPECT_EQ(read.opcode, WcOpcode::kRdmaRead);
  EXPECT_EQ(read.status, WcStatus::kSuccess);
  EXPECT_EQ(read.byte_len, 300000U);
  EXPECT_EQ(back.octets, from.octets);
  EXPECT_FALSE(pair.server.next_within(pair.server.cq, 20ms));
}

// DDP-5.2-09
TEST_P(Operations, PartOfARegionAtAnOffset) {
  Buffer from(pair.client, 64), to(pair.server, 64);
  from.fill(3);
  from.octets[17] = std::byte{0xFF};  // what the loop below waits for
  const auto source = from.sge(8, 10);
  send({.opcode = SendOpcode::kRdmaWrite,
        .segments = {&source, 1},
        .remote_address = to.remote() + 50,
        .rkey = to.region.rkey()});
  wait_until([&] { return std::atomic_ref(to.octets[59]).load() == from.octets[17]; }, "the write");
  EXPECT_TRUE(std::equal(from.octets.begin() + 8, from.octets.begin() + 18, to.octets.begin() + 50));
  EXPECT_EQ(to.octets[49], std::byte{0});
  EXPECT_EQ(to.octets[60], std::byte{0});
}

// RDMAP-5.1-04: tagged offsets that are no addresses.
TEST_P(Operations, ZeroBasedAndChosenOffsets) {
  Buffer from(pair.client, 16), zero(pair.server, 16, kAllAccess | Access::kZeroBased);
  Buffer chosen(pair.server, 16, kAllAccess, {.iova = 0xFFFF'FFFF'FFFF'FFF0});
  EXPECT_EQ(zero.region.iova(), 0U);
  from.fill(4);
  const auto source = from.sge();
  for (const Buffer* to : {&zero, &chosen}) {
    send({.opcode = SendOpcode::kRdmaWrite,
          .segments = {&source, 1},
          .remote_address = to->remote(),
          .rkey = to->region.rkey()});
    Buffer back(pair.client, 16, kAllAccess | Access::kZeroBased);
    const auto sink = back.sge();
    EXPECT_EQ(sink.address, 0U);
    EXPECT_EQ(send({.opcode = SendOpcode::kRdmaRead,
                    .segments = {&sink, 1},
                    .remote_address = to->remote(),
                    .rkey = to->region.rkey()})
                  .status,
              WcStatus::kSuccess);
    EXPECT_EQ(back.octets, from.octets);
  }
}

// A sink needs local write access only; remote access to it is never granted.
TEST_P(Operations, ReadIntoLocalMemory) {
  Buffer source(pair.server, 100, Access::kRemoteRead), sink_memory(pair.client, 100, Access::kLocalWrite);
  source.fill(5);
  const auto sink = sink_memory.sge();
  EXPECT_EQ(send({.opcode = SendOpcode::kRdmaRead,
                  .segments = {&sink, 1},
                  .remote_address = source.remote(),
                  .rkey = source.region.rkey()})
                .status,
            WcStatus::kSuccess);
  EXPECT_EQ(sink_memory.octets, source.octets);
}

// RDMAP-5.2.1-14, SEC-6.3.5-04: nothing is validated.
TEST_P(Operations, AReadOfNothingNeedsNoStag) {
  const auto done = send({.opcode = SendOpcode::kRdmaRead, .remote_address = 12345, .rkey = 0xDEAD});
  EXPECT_EQ(done.status, WcStatus::kSuccess);
  EXPECT_EQ(done.byte_len, 0U);
}

TEST_P(Operations, ListsOfSegments) {
  Buffer from(pair.client, 1000), to(pair.server, 1000);
  from.fill(6);
  const std::array<Sge, 4> gather{from.sge(900, 100), from.sge(0, 1), from.sge(5, 0), from.sge(100, 399)};
  const std::array<Sge, 3> scatter{to.sge(500, 50), to.sge(0, 200), to.sge(700, 300)};
  must(pair.server.qp->post_receive({.wr_id = 1, .segments = scatter}), "post_receive");
  send({.opcode = SendOpcode::kSend, .segments = gather});
  EXPECT_EQ(pair.server.next().byte_len, 500U);
  std::vector<std::byte> expected, got;
  for (const auto& sge : gather) {
    const auto* start = from.octets.data() + (sge.address - from.remote());
    expected.insert(expected.end(), start, start + sge.length);
  }
  for (const auto& sge : scatter) {
    const auto* start = to.octets.data() + (sge.address - to.remote());
    got.insert(got.end(), start, start + sge.length);
  }
  EXPECT_TRUE(starts_with(got, expected));
}

// Inline octets come from anywhere, and the memory is free when post_send returns.
TEST_P(Operations, InlineNeedsNoRegistration) {
  Buffer to(pair.server, 256);
  std::array<char, 200> local{};
  std::ranges::fill(local, 'x');
  const std::array<Sge, 2> segments{Sge{reinterpret_cast<std::uint64_t>(local.data()), 150, 0},
                                    Sge{reinterpret_cast<std::uint64_t>(local.data()), 50, 77}};
  receive(1, to.sge());
  must(pair.client.qp->post_send(
           {.opcode = SendOpcode::kSend, .flags = SendFlags::kInline | SendFlags::kSignaled, .segments = segments}),
       "post_send");
  std::ranges::fill(local, 'y');
  EXPECT_EQ(pair.server.next().byte_len, 200U);
  EXPECT_EQ(std::count(to.octets.begin(), to.octets.end(), std::byte{'x'}), 200);
}

TEST_P(Operations, UnsignalledWorkIsSilent) {
  Buffer from(pair.client, 8), to(pair.server, 64);
  const auto source = from.sge();
  for (int i = 0; i < 3; ++i) receive(1, to.sge());
  for (int i = 0; i < 2; ++i)
    must(pair.client.qp->post_send({.wr_id = 1, .opcode = SendOpcode::kSend, .segments = {&source, 1}}), "post_send");
  EXPECT_EQ(send({.wr_id = 2, .opcode = SendOpcode::kSend, .segments = {&source, 1}}).wr_id, 2U);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(pair.server.next().status, WcStatus::kSuccess);
  EXPECT_FALSE(pair.client.next_within(pair.client.cq, 10ms));
}

// RFC 7306 section 6
// RDMAPX-6-01, RDMAPX-6.1-01, RDMAPX-6.1-02
TEST_P(Operations, ImmediateData) {
  const ImmediateData data{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4},
                           std::byte{5}, std::byte{6}, std::byte{7}, std::byte{8}};
  Buffer from(pair.client, 5000), to(pair.server, 5000);
  from.fill(7);
  const auto source = from.sge();
  must(pair.server.qp->post_receive({.wr_id = 1}), "post_receive");
  must(pair.server.qp->post_receive({.wr_id = 2}), "post_receive");
  EXPECT_EQ(send({.opcode = SendOpcode::kImmediate, .flags = SendFlags::kSolicited, .immediate = data}).opcode,
            WcOpcode::kImmediate);
  EXPECT_EQ(send({.opcode = SendOpcode::kRdmaWriteWithImmediate,
                  .segments = {&source, 1},
                  .remote_address = to.remote(),
                  .rkey = to.region.rkey(),
                  .immediate = data})
                .opcode,
            WcOpcode::kRdmaWrite);
  for (const std::uint64_t wr_id : {1U, 2U}) {
    const auto received = pair.server.next();
    EXPECT_EQ(received.wr_id, wr_id);
    EXPECT_EQ(received.opcode, WcOpcode::kReceiveImmediate);
    EXPECT_TRUE(received.with_immediate);
    EXPECT_EQ(received.solicited, wr_id == 1);
    EXPECT_EQ(received.immediate, data);
  }
  EXPECT_EQ(to.octets, from.octets);  // what was written before is there
}

// RFC 7306 section 5
// RDMAPX-5.2.2-09
TEST_P(Operations, Atomics) {
  Buffer target(pair.server, 16), result(pair.client, 16);
  const auto word = [](const Buffer& buffer) {
    std::uint64_t value{};
    std::memcpy(&value, buffer.octets.data(), sizeof value);
    return value;
  };
  const std::uint64_t start = 0x00FF;
  std::memcpy(target.octets.data(), &start, sizeof start);
  const auto sink = result.sge(0, 8);
  SendRequest add{.opcode = SendOpcode::kFetchAndAdd,
                  .segments = {&sink, 1},
                  .remote_address = target.remote(),
                  .rkey = target.region.rkey(),
                  .swap_or_add = 1};
  const auto added = send(add);
  EXPECT_EQ(added.opcode, WcOpcode::kFetchAndAdd);
  EXPECT_EQ(added.status, WcStatus::kSuccess);
  EXPECT_EQ(added.byte_len, 8U);
  EXPECT_EQ(word(result), 0xFFU);
  EXPECT_EQ(word(target), 0x100U);
  add.masked_add = true;
  add.swap_or_add_mask = 0x0100;  // bit 8 ends a field: its carry is dropped
  add.swap_or_add = 0x0100;
  send(add);
  EXPECT_EQ(word(target), 0U);
  SendRequest swap{.opcode = SendOpcode::kCompareAndSwap,
                   .segments = {&sink, 1},
                   .remote_address = target.remote(),
                   .rkey = target.region.rkey(),
                   .compare = 1,
                   .swap_or_add = 99};
  EXPECT_EQ(send(swap).opcode, WcOpcode::kCompareAndSwap);
  EXPECT_EQ(word(target), 0U);
  swap.compare = 0;
  send(swap);
  EXPECT_EQ(word(result), 0U);
  EXPECT_EQ(word(target), 99U);
}

// RDMAP-1.2-02, RDMAP-3.2-03,
// RDMAP-5.3-14, SEC-6.2.2-01
TEST_P(Operations, SendWithInvalidateOfARegionForThisQueuePair) {
  Buffer exposed(pair.server, 64, kAllAccess, {.only_for = &*pair.server.qp});
  must(pair.server.qp->post_receive({.wr_id = 1}), "post_receive");
  send({.opcode = SendOpcode::kSendWithInvalidate, .invalidate_rkey = exposed.region.rkey()});
  const auto received = pair.server.next();
  EXPECT_TRUE(received.with_invalidate);
  EXPECT_EQ(received.invalidated_rkey, exposed.region.rkey());
  Buffer sink_memory(pair.client, 64);
  const auto sink = sink_memory.sge();
  EXPECT_EQ(send({.opcode = SendOpcode::kRdmaRead,
                  .segments = {&sink, 1},
                  .remote_address = exposed.remote(),
                  .rkey = exposed.region.rkey()})
                .status,
            WcStatus::kRemoteAccessError);
}

TEST_P(Operations, WindowsAreBoundUsedAndInvalidatedByBothEnds) {
  Buffer base(pair.server, 64), from(pair.client, 8);
  from.fill(8);
  auto window = must(pair.server.domain.allocate_window(), "allocate_window");
  must(pair.server.qp->post_receive({.wr_id = 1}), "post_receive");
  send({.opcode = SendOpcode::kSend});  // the initiator speaks first (MPA-7.1.2-17)
  pair.server.next();
  const auto bind = [&] {
    must(pair.server.qp->post_send({.wr_id = 5,
                                    .opcode = SendOpcode::kBindWindow,
                                    .flags = SendFlags::kSignaled,
                                    .bind = {.window = &window,
                                             .region = &base.region,
                                             .rkey = window.next_rkey(),
                                             .address = base.remote() + 16,
                                             .length = 8,
                                             .access = Access::kRemoteWrite}}),
         "bind");
    const auto bound = pair.server.next();
    EXPECT_EQ(bound.opcode, WcOpcode::kBindWindow);
    EXPECT_EQ(bound.status, WcStatus::kSuccess);
  };
  bind();
  const auto first = window.rkey();
  EXPECT_EQ(base.region.deregister().error().code, Errc::kBusy);
  const auto source = from.sge();
  send({.opcode = SendOpcode::kRdmaWrite,
        .segments = {&source, 1},
        .remote_address = base.remote() + 16,
        .rkey = first});
  must(pair.server.qp->post_receive({.wr_id = 1}), "post_receive");
  send({.opcode = SendOpcode::kSendWithInvalidate, .invalidate_rkey = first});
  EXPECT_EQ(pair.server.next().invalidated_rkey, first);
  EXPECT_TRUE(std::equal(from.octets.begin(), from.octets.end(), base.octets.begin() + 16));
  EXPECT_FALSE(window.bound());
  bind();
  EXPECT_NE(window.rkey(), first);
  must(pair.server.qp->post_send(
           {.opcode = SendOpcode::kLocalInvalidate, .flags = SendFlags::kSignaled, .invalidate_rkey = window.rkey()}),
       "invalidate");
  EXPECT_EQ(pair.server.next().opcode, WcOpcode::kLocalInvalidate);
  EXPECT_FALSE(window.bound());
  EXPECT_TRUE(base.region.deregister());
}

// RDMAP-1.2-03, RDMAP-3.2-02,
// RDMAP-5.5-19: completions in the order of posting, whatever finishes first; a list in one call.
TEST_P(Operations, MixedListsCompleteInOrder) {
  Buffer local(pair.client, 4096), far(pair.server, 4096);
  const auto part = local.sge(0, 100), whole = local.sge();
  std::vector<SendRequest> requests;
  for (std::uint64_t i = 0; i < 60; ++i) {
    const bool read = i % 3 == 0;
    requests.push_back({.wr_id = i,
                        .opcode = read ? SendOpcode::kRdmaRead : SendOpcode::kRdmaWrite,
                        .flags = i % 7 == 0 ? SendFlags::kSignaled | SendFlags::kFence : SendFlags::kSignaled,
                        .segments = {read ? &whole : &part, 1},
                        .remote_address = far.remote(),
                        .rkey = far.region.rkey()});
  }
  ASSERT_TRUE(pair.client.qp->post_send(requests));
  for (std::uint64_t i = 0; i < 60; ++i) {
    const auto done = pair.client.next();
    EXPECT_EQ(done.wr_id, i);
    EXPECT_EQ(done.status, WcStatus::kSuccess);
  }
}

// RDMAP-5.5-16: the fenced Write must not be seen by the Read before it.
TEST_P(Operations, AFenceWaitsForReads) {
  Buffer target(pair.server, 1 << 20), sink_memory(pair.client, 1 << 20), zeros(pair.client, 1 << 20);
  std::ranges::fill(target.octets, std::byte{1});
  const auto sink = sink_memory.sge(), source = zeros.sge();
  const std::array<SendRequest, 2> both{SendRequest{.opcode = SendOpcode::kRdmaRead,
                                                    .flags = SendFlags::kSignaled,
                                                    .segments = {&sink, 1},
                                                    .remote_address = target.remote(),
                                                    .rkey = target.region.rkey()},
                                        SendRequest{.opcode = SendOpcode::kRdmaWrite,
                                                    .flags = SendFlags::kFence | SendFlags::kSignaled,
                                                    .segments = {&source, 1},
                                                    .remote_address = target.remote(),
                                                    .rkey = target.region.rkey()}};
  ASSERT_TRUE(pair.client.qp->post_send(both));
  pair.client.next();
  pair.client.next();
  EXPECT_EQ(std::count(sink_memory.octets.begin(), sink_memory.octets.end(), std::byte{1}), 1 << 20);
}

INSTANTIATE_TEST_SUITE_P(Loopback, Operations, ::testing::Values("127.0.0.1", "::1"),
                         [](const auto& parameter) { return std::strchr(parameter.param, ':') ? "IPv6" : "IPv4"; });

}  // namespace
}  // namespace weft::verbs::test
