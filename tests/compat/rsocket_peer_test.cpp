// SPDX-License-Identifier: Apache-2.0
// rsockets against a peer that is made of verbs by hand: once one that keeps to the published protocol, octet by octet,
// and then those that do not.
#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "compat/rsockets/wire.hpp"
#include "tests/compat/rsocket_pair.hpp"
#include "tests/verbs/loopback.hpp"

namespace weft::compat::rsockets {
namespace {

using namespace test;
using verbs::test::must;
using enum verbs::ConnectionEventType;

// A host of this machine's order, whatever that is, that expects 8 messages, and has a buffer of 64 octets.
struct RawPeer {
  explicit RawPeer(const Owner& listening) {
    for (std::uint64_t i = 0; i < 16; ++i) post_receive(i);
    id = must(verbs::ConnectionId::create(events), "ConnectionId");
    must(id->set_policy({.startup = {.peer_to_peer = true}}), "set_policy");  // the rsocket speaks first in some tests
    must(id->resolve_address(verbs::test::loopback("127.0.0.1", name_of(listening.number()).port())), "resolve");
    verbs::test::expect_event(events, kAddressResolved);
    must(id->resolve_route(), "resolve_route");
    verbs::test::expect_event(events, kRouteResolved);
  }
  void post_receive(std::uint64_t index) {
    must(end.qp->post_receive({.wr_id = index, .segments = std::array{inbox.sge(index * 16, 16)}}), "post_receive");
  }
  [[nodiscard]] ConnectData offer() const {
    return {.big_endian = std::endian::native == std::endian::big,
            .knows_iomaps = true,
            .credits = 8,
            .iomap_entries = 1,
            .target_sgl = {table.remote(), table.region.rkey(), 2},
            .buffer = {buffer.remote(), buffer.region.rkey(), 64}};
  }
  void ask(std::span<const std::byte> private_data) {
    must(id->connect(*end.qp, {.private_data = private_data, .ird = 1, .ord = 1}), "connect");
  }
  void established() {
    reply = verbs::test::expect_event(events, kEstablished).private_data;
    const auto read = decode_connect(reply);
    ASSERT_TRUE(read);
    peer = *read;
  }
  void write(std::uint64_t address, std::uint32_t stag, std::span<const std::byte> octets) {
    const std::array segments{
        verbs::Sge{reinterpret_cast<std::uintptr_t>(octets.data()), static_cast<std::uint32_t>(octets.size()), 0}};
    must(end.qp->post_send({.opcode = verbs::SendOpcode::kRdmaWrite,
                            .flags = verbs::SendFlags::kInline,
                            .segments = segments,
                            .remote_address = address,
                            .rkey = stag}),
         "post_send");
  }
  void write_text(std::string_view text, std::uint64_t at = 0) {
    write(peer.buffer.address + at, peer.buffer.stag, std::as_bytes(std::span(text)));
  }
  void say(std::uint32_t word, std::size_t size = 4) {
    std::array<std::byte, 16> octets{};
    std::memcpy(octets.data(), &word, sizeof word);
    const std::array segments{
        verbs::Sge{reinterpret_cast<std::uintptr_t>(octets.data()), static_cast<std::uint32_t>(size), 0}};
    static_cast<void>(end.qp->post_send(
        {.opcode = verbs::SendOpcode::kSend, .flags = verbs::SendFlags::kInline, .segments = segments}));
  }
  // The next message that comes.
  std::uint32_t hear() {
    const auto completion = end.next();
    EXPECT_EQ(completion.status, verbs::WcStatus::kSuccess);
    EXPECT_EQ(completion.byte_len, 4U);
    std::uint32_t word{};
    std::memcpy(&word, inbox.octets.data() + completion.wr_id * 16, sizeof word);
    post_receive(completion.wr_id);
    return word;
  }

  verbs::EventChannel events = must(verbs::EventChannel::create(), "EventChannel");
  verbs::test::End end{};
  verbs::test::Buffer inbox{end, 16 * 16};
  verbs::test::Buffer table{end, 2 * kSglEntryOctets + kIomapEntryOctets};
  verbs::test::Buffer buffer{end, 128};
  std::optional<verbs::ConnectionId> id{};
  std::vector<std::byte> reply{};
  ConnectData peer{};
};

struct RawPair : testing::Test {
  RawPair() {
    peer = std::make_unique<RawPeer>(listening);
    peer->ask(encode(peer->offer()));
    server = Owner(accept(listening.number(), nullptr, nullptr));
    peer->established();
  }
  Owner listening = listener();
  std::unique_ptr<RawPeer> peer;
  Owner server;
};

// --- One that keeps to the protocol

constexpr std::uint32_t kCredit = 0x80000000;
constexpr std::uint32_t kIomap = 0xC0000000;
constexpr std::uint32_t kControl = 0xE0000000;

TEST_F(RawPair, TheReplyIsAsPublished) {
  ASSERT_EQ(peer->reply.size(), 40U);
  EXPECT_EQ(peer->reply[0], std::byte{1});
  EXPECT_EQ(peer->reply[1], std::byte{2});  // little-endian, knows iomaps
  EXPECT_EQ(peer->peer.credits, 384);
  EXPECT_EQ(peer->peer.target_sgl.length, 2U);
  EXPECT_EQ(peer->peer.buffer.length, 65536U);
}

TEST_F(RawPair, DataAreWrittenAndThenTold) {
  peer->write_text("hello");
  peer->say(5);
  EXPECT_EQ(get_text(server.number(), 5, MSG_WAITALL), "hello");
  peer->write_text("again", 5);
  peer->say(5);
  EXPECT_EQ(get_text(server.number(), 5, MSG_WAITALL), "again");
  // The second half of its buffer was free from the beginning.
  EXPECT_EQ(peer->hear(), kCredit | 384);
  const RemoteBuffer second = read_entry(peer->table.octets.data() + kSglEntryOctets);
  EXPECT_EQ(second, (RemoteBuffer{peer->peer.buffer.address + 65536, peer->peer.buffer.stag, 65536}));
  EXPECT_EQ(put(server.number(), "answer"), 6);
  EXPECT_EQ(peer->hear(), 6U);
  EXPECT_EQ(std::memcmp(peer->buffer.octets.data(), "answer", 6), 0);
}

TEST_F(RawPair, ItWritesWhereItsPeerSaysAndNoFurther) {
  ASSERT_EQ(fcntl(server.number(), F_SETFL, O_NONBLOCK), 0);
  EXPECT_EQ(put(server.number(), std::string(100, 'a')), 64);  // the buffer
  EXPECT_EQ(peer->hear(), kCredit | 384);
  EXPECT_EQ(peer->hear(), 64U);
  expect_refused(put(server.number(), "b"), EAGAIN);
  EXPECT_EQ(wait_for(server.number(), POLLOUT | POLLWRNORM, 0), 0);
  const RemoteBuffer next{peer->buffer.remote() + 64, peer->buffer.region.rkey(), 3};
  const auto entry = encode(next, std::endian::native == std::endian::big);
  peer->write(peer->peer.target_sgl.address + kSglEntryOctets, peer->peer.target_sgl.stag, entry);
  expect_refused(put(server.number(), "b"), EAGAIN);  // without a message the server does not look
  peer->say(kCredit | 9);
  EXPECT_EQ(wait_for(server.number(), POLLOUT | POLLWRNORM), POLLOUT | POLLWRNORM);
  EXPECT_EQ(put(server.number(), "bcdefgh"), 3);
  EXPECT_EQ(peer->hear(), 3U);
  EXPECT_EQ(std::memcmp(peer->buffer.octets.data() + 64, "bcd", 3), 0);
}

TEST_F(RawPair, AMappingIsWrittenBehindTheSgl) {
  std::string memory(10, '.');
  ASSERT_EQ(rsockets::iomap(server.number(), memory.data(), memory.size(), PROT_WRITE, 0, 77), 77);
  ASSERT_EQ(put(server.number(), "go"), 2);
  EXPECT_EQ(peer->hear(), kCredit | 384);
  EXPECT_EQ(peer->hear(), kIomap | 0);
  EXPECT_EQ(peer->hear(), 2U);
  const RemoteMapping mapping = read_mapping(peer->table.octets.data() + 2 * kSglEntryOctets);
  EXPECT_EQ(mapping.offset, 77U);
  EXPECT_EQ(mapping.buffer.length, 10U);
  peer->write(mapping.buffer.address + 3, mapping.buffer.stag, std::as_bytes(std::span("xyz", 3)));
  peer->write_text("!");
  peer->say(1);
  EXPECT_EQ(get_text(server.number(), 1), "!");
  EXPECT_EQ(memory, "...xyz....");
}

TEST_F(RawPair, ShutdownAndDisconnectAreTold) {
  EXPECT_EQ(rsockets::shutdown(server.number(), SHUT_WR), 0);
  EXPECT_EQ(peer->hear(), kCredit | 384);
  EXPECT_EQ(peer->hear(), kControl | 2);
  EXPECT_EQ(rsockets::shutdown(server.number(), SHUT_WR), 0) << "it is told once";
  peer->say(kControl | 1);  // keep-alive
  peer->say(kControl | 2);
  EXPECT_EQ(get_text(server.number()), "");
  close(server.release());
  EXPECT_EQ(peer->hear(), kControl | 0);
  verbs::test::expect_event(peer->events, kDisconnected);
}

// --- Those that do not

struct Lie {
  const char* name;
  void (*tell)(RawPeer&);
};
void PrintTo(const Lie& lie, std::ostream* to) { *to << lie.name; }

class Liars : public RawPair, public testing::WithParamInterface<Lie> {};
INSTANTIATE_TEST_SUITE_P(
    Rsocket, Liars,
    testing::Values(Lie{"ReservedOp1", [](RawPeer& peer) { peer.say(0x20000001); }},
                    Lie{"ReservedOp5", [](RawPeer& peer) { peer.say(0xA0000001); }},
                    Lie{"NoOctets", [](RawPeer& peer) { peer.say(0, 0); }},
                    Lie{"ThreeOctets", [](RawPeer& peer) { peer.say(1, 3); }},
                    Lie{"SixteenOctets", [](RawPeer& peer) { peer.say(1, 16); }},
                    Lie{"DataOfNoOctets", [](RawPeer& peer) { peer.say(0); }},
                    Lie{"DataBeyondTheBuffer", [](RawPeer& peer) { peer.say(131073); }},
                    Lie{"DataBeyondTheBufferInParts",
                        [](RawPeer& peer) {
                          for (int i = 0; i < 5; ++i) peer.say(60000);
                        }},
                    Lie{"TheMostData", [](RawPeer& peer) { peer.say(kMaxValue); }},
                    Lie{"CreditsBeyondItsReceives", [](RawPeer& peer) { peer.say(kCredit | 9); }},
                    Lie{"CreditsBackwards", [](RawPeer& peer) { peer.say(kCredit | 0xFFFF); }},
                    Lie{"AnIomapEntryThatIsNotThere", [](RawPeer& peer) { peer.say(kIomap | 0); }},
                    Lie{"DataAfterShutdown",
                        [](RawPeer& peer) {
                          peer.say(kControl | 2);
                          peer.say(1);
                        }},
                    Lie{"ItsEndWithoutAWord", [](RawPeer& peer) { must(peer.id->disconnect(), "disconnect"); }},
                    Lie{"ItsDeath", [](RawPeer& peer) { must(peer.end.qp->modify(verbs::QpState::kError), "ERROR"); }}),
    [](const auto& info) { return info.param.name; });

TEST_P(Liars, AreReset) {
  GetParam().tell(*peer);
  std::vector<char> into(1U << 16);
  ssize_t count = 1;
  while (count > 0) count = get(server.number(), into.data(), into.size());  // what it wrote before the lie
  const int error = errno;
  if (count == 0 && std::string_view(GetParam().name) == "DataAfterShutdown") return;  // that end was met first
  EXPECT_EQ(count, -1);
  EXPECT_EQ(error, ECONNRESET);
  EXPECT_EQ(get(server.number(), into.data(), into.size()), 0);
  expect_refused(put(server.number(), "x"), EPIPE);
}

// An SGL entry is the peer's own affair, wherever it points to: its own adapter refuses that, and both ends hear of it.
TEST_F(RawPair, AnSglThatPointsNowhere) {
  ASSERT_EQ(put(server.number(), std::string(64, 'a'), MSG_DONTWAIT), 64);
  const auto entry = encode(RemoteBuffer{~0ULL - 3, 0xDEADBEEF, ~0U}, std::endian::native == std::endian::big);
  peer->write(peer->peer.target_sgl.address + kSglEntryOctets, peer->peer.target_sgl.stag, entry);
  peer->say(kCredit | 9);
  EXPECT_EQ(wait_for(server.number(), POLLOUT), POLLOUT);
  EXPECT_GT(put(server.number(), std::string(100'000, 'b'), MSG_DONTWAIT), 0);
  char octet{};
  expect_refused(get(server.number(), &octet, 1), ECONNRESET);
}

TEST(RsocketRequests, ThatAreNoneAreRejected) {
  const Owner listening = listener();
  ASSERT_EQ(fcntl(listening.number(), F_SETFL, O_NONBLOCK), 0);
  RawPeer good(listening);
  const auto octets = encode(good.offer());
  const std::vector<std::byte> too_short(octets.begin(), octets.begin() + 39);
  std::vector<std::byte> other_version(octets.begin(), octets.end());
  other_version[0] = std::byte{2};
  for (const auto& private_data : {too_short, other_version, std::vector<std::byte>{}}) {
    RawPeer bad(listening);
    bad.ask(private_data);
    verbs::test::expect_event(bad.events, kRejected);
    EXPECT_EQ(wait_for(listening.number(), POLLIN, 0), 0);
    expect_refused(accept(listening.number(), nullptr, nullptr), EAGAIN);
  }
  good.ask(encode(good.offer()));
  EXPECT_EQ(wait_for(listening.number(), POLLIN), POLLIN);
  EXPECT_GE(Owner(accept(listening.number(), nullptr, nullptr)).number(), 0);
}

// The answer is checked as well.
TEST(RsocketRequests, AnAnswerThatIsNoneIsRefused) {
  verbs::test::End end;
  auto events = must(verbs::EventChannel::create(), "EventChannel");
  auto listening = must(verbs::ConnectionId::create(events), "ConnectionId");
  must(listening.bind_address(verbs::test::loopback("127.0.0.1")), "bind");
  must(listening.listen(), "listen");
  const Owner client(rsockets::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));
  const At at = loopback_of(AF_INET, listening.local_address().port);
  expect_refused(rsockets::connect(client.number(), at.address(), at.length), EINPROGRESS);
  auto request = verbs::test::expect_event(events, kConnectRequest);
  must(request.request->accept(*end.qp, {}), "accept");
  EXPECT_NE(wait_for(client.number(), POLLOUT) & POLLERR, 0);
  EXPECT_EQ(option(client.number(), SOL_SOCKET, SO_ERROR), EPROTO);
}

}  // namespace
}  // namespace weft::compat::rsockets
