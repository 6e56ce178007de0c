// SPDX-License-Identifier: Apache-2.0
// Queue pairs for datagrams, over real UDP on loopback addresses; and peers made by hand.
#include "verbs/datagram.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/temporary_directory.hpp"
#include "tests/verbs/datagram_end.hpp"
#include "transport/datagram_socket.hpp"
#include "verbs/datagram/datagram_header.hpp"

namespace weft::verbs::test {
namespace {

using detail::DatagramLayout;

// --- Two weft ends

class Datagram : public testing::TestWithParam<const char*> {};

TEST_P(Datagram, ArrivesWithAHeaderThatNamesBothHosts) {
  DatagramEnd a({}, GetParam());
  DatagramEnd b({}, GetParam());
  b.receive(5);
  ASSERT_TRUE(a.send(b.name(), "letters"));
  const WorkCompletion sent = a.next();
  EXPECT_EQ(sent.status, WcStatus::kSuccess);
  EXPECT_EQ(sent.opcode, WcOpcode::kSend);
  EXPECT_EQ(sent.wr_id, 9U);
  const WorkCompletion got = b.next();
  EXPECT_EQ(got.status, WcStatus::kSuccess);
  EXPECT_EQ(got.opcode, WcOpcode::kReceive);
  EXPECT_EQ(got.wr_id, 5U);
  EXPECT_EQ(got.byte_len, kHeader + 7);
  EXPECT_EQ(got.qp_num, b.own->number());
  EXPECT_EQ(got.source_qp, a.own->number());
  EXPECT_TRUE(got.with_route_header);
  EXPECT_FALSE(got.with_immediate);
  EXPECT_FALSE(got.solicited);
  EXPECT_EQ(b.text(0, 7), "letters");
  const auto route = detail::route_header(a.local, b.local, 7);
  EXPECT_TRUE(std::equal(route.begin(), route.end(), b.buffer.octets.begin()));
}

INSTANTIATE_TEST_SUITE_P(Families, Datagram, testing::Values("127.0.0.1", "::1"),
                         [](const auto& info) { return std::string_view(info.param) == "::1" ? "IPv6" : "IPv4"; });

TEST(DatagramPair, CarriesImmediateDataAndSolicits) {
  DatagramEnd a;
  DatagramEnd b;
  b.receive(5);
  ASSERT_TRUE(a.send(b.name(), "x", SendFlags::kSolicited, SendOpcode::kSendWithImmediate));
  const WorkCompletion got = b.next();
  EXPECT_TRUE(got.with_immediate);
  EXPECT_TRUE(got.solicited);
  EXPECT_EQ(got.immediate[3], std::byte{4});
  EXPECT_FALSE(a.next_within(a.cq, 20ms)) << "not signaled";
}

TEST(DatagramPair, InlineOctetsNeedNoKey) {
  DatagramEnd a;
  DatagramEnd b;
  b.receive(5);
  const std::string text = "inline";
  const std::array list{Sge{.address = reinterpret_cast<std::uintptr_t>(text.data()), .length = 6, .lkey = 0}};
  const DatagramRequest request{.send = {.opcode = SendOpcode::kSend, .flags = SendFlags::kInline, .segments = list},
                                .to = b.name()};
  ASSERT_TRUE(a.own->post_send({&request, 1}));
  EXPECT_EQ(b.next().byte_len, kHeader + 6);
  EXPECT_EQ(b.text(0, 6), "inline");
}

TEST(DatagramPair, TheLargestFillsFourKibibytes) {
  DatagramEnd a;
  DatagramEnd b;
  b.receive(5, 0, 8192);
  ASSERT_TRUE(a.send(b.name(), std::string(4096, 'x')));
  EXPECT_EQ(b.next().byte_len, kHeader + 4096);
  const auto refused = a.send(b.name(), std::string(4097, 'x'));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().error.code, Errc::kMessageTooLong);
}

TEST(DatagramPair, ToItself) {
  DatagramEnd a;
  a.receive(5);
  ASSERT_TRUE(a.send(a.name(), "echo", {}));
  EXPECT_EQ(a.next().wr_id, 5U);
  EXPECT_EQ(a.text(0, 4), "echo");
}

TEST(DatagramPair, WaitsInTheKernelForAReceive) {
  DatagramEnd a;
  DatagramEnd b;
  for (const char* text : {"one", "two", "six"}) ASSERT_TRUE(a.send(b.name(), text, {}));
  b.expect_nothing();
  for (std::uint64_t id : {1U, 2U, 3U}) b.receive(id, 200 * id);
  for (std::uint64_t id : {1U, 2U, 3U}) EXPECT_EQ(b.next().wr_id, id);
  EXPECT_EQ(b.text(200, 3), "one");
  EXPECT_EQ(b.text(600, 3), "six");
}

TEST(DatagramPair, AThreadThatSleepsWakes) {
  DatagramEnd a;
  DatagramEnd b;
  b.receive(5);
  must(b.cq.arm(Arm::kAll), "arm");
  ASSERT_TRUE(a.send(b.name(), "wake", {}));
  EXPECT_EQ(must(b.channel.get_event(), "get_event").cq_number, b.cq.number());
  b.cq.acknowledge_events(1);
  EXPECT_EQ(b.next().wr_id, 5U);
  b.receive(6);
  ASSERT_TRUE(a.send(b.name(), "again", {}));
  WorkCompletion got;
  EXPECT_EQ(must(b.cq.wait({&got, 1}, kPatience), "wait"), 1U);
  EXPECT_EQ(got.wr_id, 6U);
}

TEST(DatagramPair, ReceivesMayBeShared) {
  DatagramEnd a;
  DatagramEnd b({.srq = SharedReceiveQueueAttributes{}});
  ASSERT_TRUE(a.send(b.name(), "late", {}));
  b.expect_nothing();
  const std::array list{b.buffer.sge(0, 100)};
  ASSERT_TRUE(b.srq->post_receive({.wr_id = 8, .segments = list}));
  EXPECT_EQ(b.next().wr_id, 8U);
  EXPECT_EQ(b.text(0, 4), "late");
  ASSERT_FALSE(b.own->post_receive({}).has_value()) << "its receives come from the shared queue";
  must(b.own->modify(QpState::kError), "ERROR");
  EXPECT_EQ(b.next_async().type, AsyncEventType::kLastWqeReached);
}

TEST(DatagramPair, ManyArriveWhereReceivesAreManyToo) {
  DatagramEnd a;
  DatagramEnd b({.queue_pair = {.max_receive_wr = 200}});
  for (std::uint64_t id = 0; id < 100; ++id) b.receive(id);
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(a.send(b.name(), "x", {}));
  for (std::uint64_t id = 0; id < 100; ++id) EXPECT_EQ(b.next().wr_id, id);
}

// --- What is not delivered

TEST(DatagramPair, AWrongKeyOrNumberIsDropped) {
  DatagramEnd a;
  DatagramEnd b;
  b.receive(5);
  ASSERT_TRUE(a.send(b.name(kQkey + 1), "stranger", {}));
  DatagramAddress other = b.name();
  other.number ^= 1;  // the same port
  ASSERT_TRUE(a.send(other, "stranger", {}));
  b.expect_nothing();
  a.own->set_qkey(kQkey);
  ASSERT_TRUE(a.send(b.name(0x80000000), "own", {})) << "its own key, which is the same";
  EXPECT_EQ(b.next().byte_len, kHeader + 3);
}

TEST(DatagramPair, AReceiveThatIsTooShortKeepsNothing) {
  DatagramEnd a;
  DatagramEnd b;
  b.receive(5, 0, kHeader + 3);
  b.receive(6, 1000);
  ASSERT_TRUE(a.send(b.name(), "four", {}));
  ASSERT_TRUE(a.send(b.name(), "next", {}));
  EXPECT_EQ(b.next().status, WcStatus::kLocalLengthError);
  EXPECT_EQ(b.buffer.octets[0], std::byte{});
  EXPECT_EQ(b.next().wr_id, 6U) << "the queue pair goes on";
}

TEST(DatagramPair, MemoryThatIsNotRegisteredIsNotTouched) {
  DatagramEnd a;
  DatagramEnd b;
  std::array<std::byte, 128> other{};
  const std::array list{Sge{.address = reinterpret_cast<std::uintptr_t>(other.data()), .length = 128, .lkey = 77}};
  const ReceiveRequest request{.wr_id = 5, .segments = list};
  ASSERT_TRUE(b.own->post_receive({&request, 1}));
  ASSERT_TRUE(a.send(b.name(), "text", {}));
  EXPECT_EQ(b.next().status, WcStatus::kLocalProtectionError);
  EXPECT_TRUE(std::ranges::all_of(other, [](std::byte octet) { return octet == std::byte{}; }));
  const DatagramRequest from_there{.send = {.wr_id = 3, .opcode = SendOpcode::kSend, .segments = list}, .to = b.name()};
  ASSERT_TRUE(a.own->post_send({&from_there, 1}));
  EXPECT_EQ(a.next().status, WcStatus::kLocalProtectionError);
  EXPECT_EQ(a.own->state(), QpState::kSqe);
}

// A peer made by hand sends from its own port.
struct Stranger {
  transport::DatagramSocket socket =
      *transport::DatagramSocket::bind({.address = *Address::parse("127.0.0.1"), .port = 0});
  detail::DatagramHeader header(const DatagramEnd& to) const {
    return {.destination = to.own->number(),
            .source = DatagramQueuePair::number_at(socket.local().port),
            .qkey = kQkey,
            .length = 4};
  }
  void send(const DatagramEnd& to, const std::vector<std::byte>& octets) {
    ASSERT_FALSE(socket.send(octets, {.address = to.local, .port = DatagramQueuePair::port_of(to.own->number())}));
  }
  static std::vector<std::byte> datagram(const detail::DatagramHeader& header, std::size_t payload = 4) {
    std::vector<std::byte> octets(DatagramLayout::kSize + payload, std::byte{7});
    detail::serialize(header, octets);
    return octets;
  }
};

TEST(DatagramPair, StrangersTouchNothing) {
  DatagramEnd b;
  Stranger stranger;
  b.receive(5, 0, 8192);
  const auto good = Stranger::datagram(stranger.header(b));
  const auto changed = [&](std::size_t at, unsigned bits) {
    auto octets = good;
    octets[at] ^= static_cast<std::byte>(bits);
    return octets;
  };
  stranger.send(b, {});
  stranger.send(b, {good.begin(), good.begin() + DatagramLayout::kSize - 1});
  stranger.send(b, changed(0, 3));  // version
  stranger.send(b, changed(1, 4));  // flag
  stranger.send(b, changed(3, 7));  // length
  stranger.send(b, changed(3, 1));
  stranger.send(b, changed(4, 1));  // more than 24 bits
  stranger.send(b, changed(8, 1));
  stranger.send(b, changed(10, 1));  // another's port
  stranger.send(b, changed(12, 1));  // key
  auto longest = stranger.header(b);
  longest.length = 4097;
  stranger.send(b, Stranger::datagram(longest, 4097));
  longest.length = 9000;
  stranger.send(b, Stranger::datagram(longest, 9000));
  b.expect_nothing();
  stranger.send(b, good);
  EXPECT_EQ(b.next().wr_id, 5U);
}

// --- In a capture

// Each end records what it sends and what comes to it, as both ends of a connection in one process do; also what is dropped.
TEST(Datagram, IsInTheCaptureAsSentAndAsReceived) {
  const weft::test::TemporaryDirectory directory;
  const std::string path = directory.file("datagrams.pcap");
  must(set_capture_file(path), "set_capture_file");
  {
    DatagramEnd first, second;
    second.receive(1);
    ASSERT_TRUE(first.send(second.name(kQkey + 1), "dropped"));
    ASSERT_TRUE(first.send(second.name(), "hello"));
    ASSERT_TRUE(second.next_within(second.receive_cq, 5s));
  }
  must(set_capture_file(""), "stop");
  std::ifstream file(path, std::ios::binary);
  const std::string octets{std::istreambuf_iterator<char>(file), {}};
  constexpr std::size_t kFile = 24, kPacket = 16 + 14 + 20 + 8 + DatagramLayout::kSize;
  EXPECT_EQ(octets.size(), kFile + 2 * (kPacket + 7) + 2 * (kPacket + 5));
  EXPECT_TRUE(octets.ends_with("hello"));
}

// --- The header

TEST(DatagramHeader, HasTheOctetsOfTheDecision) {
  std::array<std::byte, DatagramLayout::kSize> octets{};
  detail::serialize({.destination = 0x9c40ff,
                     .source = 0x9c41ff,
                     .qkey = 0x11223344,
                     .length = 0,
                     .solicited = true,
                     .immediate = std::array{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}}},
                    octets);
  constexpr std::array<unsigned char, DatagramLayout::kSize> kGolden{
      1, 3, 0, 0, 0, 0x9c, 0x40, 0xff, 0, 0x9c, 0x41, 0xff, 0x11, 0x22, 0x33, 0x44, 1, 2, 3, 4};
  EXPECT_TRUE(std::ranges::equal(octets, std::as_bytes(std::span(kGolden))));
  const auto parsed = detail::parse_datagram(octets);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->source, 0x9c41ffU);
  EXPECT_TRUE(parsed->solicited);
  EXPECT_EQ(parsed->immediate->at(3), std::byte{4});
}

}  // namespace
}  // namespace weft::verbs::test
