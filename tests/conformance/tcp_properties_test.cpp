// SPDX-License-Identifier: Apache-2.0
// However a stream is cut into segments, sent twice and mixed up, the same octets come out; and hostile packets do no
// harm.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>

#include "tests/conformance/tcp_history.hpp"
#include "tests/conformance/tcp_sequence.hpp"

namespace weft::conformance::testing::tcp_properties {
namespace {

constexpr int kRounds = 300;

std::string random_stream(std::mt19937& random, std::size_t size) {
  std::string stream(size, ' ');
  for (char& c : stream) c = static_cast<char>(random());
  return stream;
}

struct Stretch {
  std::size_t begin{};
  std::size_t end{};
};

// Covers the stream, then once more some of it at other cuts.
std::vector<Stretch> random_runs(std::mt19937& random, std::size_t size) {
  std::vector<Stretch> runs;
  for (std::size_t at = 0; at < size;) {
    const std::size_t end = std::min<std::size_t>(size, at + 1 + random() % 50);
    runs.push_back({at, end});
    at = end;
  }
  for (std::size_t i = random() % 20; i > 0; --i) {
    const std::size_t begin = random() % size;
    runs.push_back({begin, std::min<std::size_t>(size, begin + 1 + random() % 200)});
  }
  return runs;
}

void handshake(TcpHistory& history, std::uint32_t initial) {
  history.take({.sequence = initial, .syn = true, .ack = false});
  history.take({.from_server = true, .sequence = 9, .syn = true, .acknowledgement = initial + 1});
}

void send(TcpHistory& history, std::uint32_t initial, const std::string& stream, const Stretch& run) {
  history.take({.sequence = static_cast<std::uint32_t>(initial + 1 + run.begin),
                .payload = std::string_view(stream).substr(run.begin, run.end - run.begin),
                .fin = run.end == stream.size(),
                .acknowledgement = 10});
}

TEST(TcpProperties, AnyOrderGivesTheSameOctets) {
  for (unsigned seed = 0; seed < kRounds; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const std::string stream = random_stream(random, 1 + random() % 2000);
    std::vector<Stretch> runs = random_runs(random, stream.size());
    std::ranges::shuffle(runs, random);
    const std::uint32_t initial = 0U - static_cast<std::uint32_t>(random() % 3000);  // wraps in most rounds
    TcpHistory history;
    handshake(history, initial);
    for (const Stretch& run : runs) send(history, initial, stream, run);
    const auto& client = history.from(End::kFirst);
    ASSERT_EQ(client.stream, stream);
    EXPECT_THAT(client.gaps, ::testing::IsEmpty());
    EXPECT_THAT(client.closed, ::testing::SizeIs(1));
  }
}

// What two ends send, some of it lost and sent again, as a tap on the way of each direction sees it.
struct Sent {
  unsigned time{};
  Segment segment{};
};
struct TwoEnds {
  std::array<std::string, 2> streams{};   // by end: the client is 0
  std::array<std::size_t, 2> sent{};      // octets, up to here
  std::array<std::size_t, 2> received{};  // octets of the other end, without a hole
  std::array<std::vector<bool>, 2> arrived{};
  std::vector<Sent> packets{};

  enum class Lost : std::uint8_t { kNever, kBeforeTheTap, kBehindTheTap };
  void send(unsigned time, std::size_t end, std::size_t begin, std::size_t size, Lost lost) {
    const std::size_t other = 1 - end;
    sent[end] = std::max(sent[end], begin + size);
    if (lost == Lost::kBeforeTheTap) return;
    packets.push_back(
        {time, Segment{.from_server = end == 1,
                       .sequence = static_cast<std::uint32_t>((end == 0 ? 1000 : 9000) + begin),
                       .payload = std::string_view(streams[end]).substr(begin, size),
                       .acknowledgement = static_cast<std::uint32_t>((end == 0 ? 9000 : 1000) + received[end])}});
    if (lost != Lost::kNever) return;
    std::vector<bool>& kept = arrived[other];
    kept.resize(std::max(kept.size(), begin + size));
    std::fill_n(kept.begin() + static_cast<std::ptrdiff_t>(begin), size, true);
    while (received[other] < kept.size() && kept[received[other]]) ++received[other];
  }
};

TwoEnds random_conversation(std::mt19937& random) {
  TwoEnds ends;
  for (std::string& stream : ends.streams) stream = random_stream(random, 2 + random() % 3000);
  ends.packets.push_back({0, Segment{.sequence = 999, .syn = true, .ack = false}});
  ends.packets.push_back({1, Segment{.from_server = true, .sequence = 8999, .syn = true, .acknowledgement = 1000}});
  for (unsigned time = 2; ends.received[0] < ends.streams[1].size() || ends.received[1] < ends.streams[0].size();
       ++time) {
    const std::size_t end = random() % 2;
    const std::size_t arrived = ends.received[1 - end];
    const bool again = arrived < ends.sent[end] && random() % 3 == 0;
    const std::size_t begin = again ? arrived : ends.sent[end];
    const std::size_t size = std::min<std::size_t>(random() % 80, ends.streams[end].size() - begin);
    const auto lost = static_cast<TwoEnds::Lost>(random() % 8 != 0 ? 0 : 1 + random() % 2);
    ends.send(time, end, begin, size, lost);
  }
  return ends;
}

TEST(TcpProperties, TwoTapsWithAnySkewGiveTheSameOctetsInAnOrderOfTheEnds) {
  for (unsigned seed = 0; seed < kRounds; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    TwoEnds ends = random_conversation(random);
    const auto skew =
        static_cast<unsigned>(random() % (seed % 2 == 0 ? 64 : 2000));  // the ends send some hundred packets
    const bool server_late = random() % 2 == 0;
    for (Sent& packet : ends.packets) packet.time += packet.segment.from_server == server_late ? skew : 0;
    std::vector<Sent> late;
    for (Sent& packet : ends.packets) {  // after those of the same time
      const auto after = std::ranges::upper_bound(late, packet.time, {}, &Sent::time);
      late.insert(after, packet);
    }
    ends.packets = std::move(late);
    TcpConnections tcp;
    std::array<std::string, 2> streams;
    std::uint64_t number = 0;
    const auto poll = [&] {
      while (const auto event = tcp.next()) {
        const auto* of_tcp = std::get_if<TcpEvent>(&event->event);
        const auto* told = of_tcp == nullptr ? nullptr : std::get_if<TcpOctets>(of_tcp);
        ASSERT_TRUE(of_tcp == nullptr || !std::holds_alternative<TcpGap>(*of_tcp));
        if (told == nullptr) continue;
        const auto from = static_cast<std::size_t>(told->from);
        ASSERT_TRUE(told->acknowledged);
        ASSERT_LE(*told->acknowledged, streams[1 - from].size());
        streams[from] += text(told->octets);
      }
    };
    for (const Sent& packet : ends.packets) {
      const Octets whole = ipv4(packet.segment);
      const auto size = static_cast<std::uint32_t>(whole.size());
      ASSERT_TRUE(tcp.take({.number = ++number, .link = LinkType::kRawIp, .captured = whole, .original_size = size}));
      ASSERT_NO_FATAL_FAILURE(poll());
    }
    tcp.finish();
    ASSERT_NO_FATAL_FAILURE(poll());
    const bool server_first = ends.packets.front().segment.from_server;
    EXPECT_EQ(streams[server_first ? 1 : 0], ends.streams[0]);
    EXPECT_EQ(streams[server_first ? 0 : 1], ends.streams[1]);
  }
}

// With segments missing: what is told is true, and the gaps are where nothing was captured.
TEST(TcpProperties, GapsAreExactlyWhatIsMissing) {
  for (unsigned seed = 0; seed < kRounds; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const std::string stream = random_stream(random, 1000);
    std::vector<Stretch> runs = random_runs(random, stream.size());
    std::erase_if(runs, [&](const Stretch& run) { return run.end != stream.size() && random() % 3 == 0; });
    std::ranges::shuffle(runs, random);
    std::vector<bool> captured(stream.size());
    TcpHistory history;
    handshake(history, seed);
    for (const Stretch& run : runs) {
      std::fill(captured.begin() + static_cast<std::ptrdiff_t>(run.begin),
                captured.begin() + static_cast<std::ptrdiff_t>(run.end), true);
      send(history, seed, stream, run);
    }
    history.finish();
    const auto& client = history.from(End::kFirst);
    ASSERT_EQ(client.stream.size(), stream.size());
    for (std::size_t i = 0; i < stream.size(); ++i) {
      ASSERT_EQ(client.places[i] != Place{}, captured[i]) << i;
      ASSERT_EQ(client.stream[i], captured[i] ? stream[i] : '?') << i;
    }
  }
}

Octets random_octets(std::mt19937& random, std::size_t size) {
  Octets octets(size);
  for (std::byte& octet : octets) octet = static_cast<std::byte>(random());
  return octets;
}

constexpr LinkType kLinks[]{LinkType::kEthernet, LinkType::kLinuxCooked, LinkType::kLinuxCooked2, LinkType::kNull,
                            LinkType::kLoop,     LinkType::kRawIp,       LinkType::kIpv4,         LinkType::kIpv6};

// Random octets, and packets of ours with a few octets changed. Which octets come out cannot be told, but they come in
// sequence.
TEST(TcpProperties, HostilePackets) {
  std::mt19937 random(1);
  TcpConnections tcp({.connections = 8, .buffered_per_direction = 10'000, .buffered = 20'000});
  TcpSequence sequence;
  const auto poll = [&](std::uint64_t number) {
    while (const auto event = tcp.next()) ASSERT_STREQ(sequence.take(*event), nullptr) << "packet " << number;
  };
  for (std::uint64_t number = 1; number <= 50'000; ++number) {
    const std::string payload = random_stream(random, random() % 60);
    const Segment segment{.from_server = random() % 2 == 0,
                          .sequence = static_cast<std::uint32_t>(random() % 4 == 0 ? random() : random() % 100),
                          .payload = payload,
                          .syn = random() % 20 == 0,
                          .ack = random() % 10 != 0,
                          .fin = random() % 20 == 0,
                          .rst = random() % 50 == 0,
                          .acknowledgement = static_cast<std::uint32_t>(random() % 4 == 0 ? random() : random() % 100),
                          .client_port = static_cast<std::uint16_t>(random() % 20)};
    Octets octets = random() % 10 == 0  ? random_octets(random, random() % 200)
                    : random() % 2 == 0 ? ipv4(segment)
                                        : ipv6(segment);
    if (random() % 4 == 0 && !octets.empty())
      octets[random() % std::min<std::size_t>(octets.size(), 60)] = static_cast<std::byte>(random());
    const Octets captured(octets.begin(), octets.end() - static_cast<std::ptrdiff_t>(
                                                             random() % 5 == 0 ? random() % (octets.size() + 1) : 0));
    ASSERT_TRUE(tcp.take({.number = number,
                          .link = random() % 20 == 0 ? kLinks[random() % std::size(kLinks)] : LinkType::kRawIp,
                          .captured = captured,
                          .original_size = static_cast<std::uint32_t>(octets.size())}));
    ASSERT_NO_FATAL_FAILURE(poll(number));
  }
  tcp.finish();
  poll(0);
  EXPECT_GT(tcp.counts().tcp, 20'000U);
  EXPECT_GT(tcp.counts().malformed, 1'000U);
}

// Mostly close to one of a few places, which no window joins: a stream may go on at another.
std::uint32_t random_number(std::mt19937& random) {
  if (random() % 16 == 0) return static_cast<std::uint32_t>(random());
  const std::uint32_t far = random() % 3 == 0 ? static_cast<std::uint32_t>(random() % 4) << 30U : 0;
  return far + static_cast<std::uint32_t>(random() % 60);
}

// Few connections of few packets, each of them a valid one: what a window, a FIN, a reset and a full buffer make of one
// another.
TEST(TcpProperties, HostileStreams) {
  for (unsigned seed = 0; seed < 2'000; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    TcpConnections tcp({.connections = 4, .buffered_per_direction = 4096, .buffered = 8192});
    TcpSequence sequence;
    const auto poll = [&] {
      while (const auto event = tcp.next()) ASSERT_STREQ(sequence.take(*event), nullptr);
    };
    const auto syns = 5 + random() % 100;
    const auto fins = 5 + random() % 60;
    for (std::uint64_t number = 1; number <= 60; ++number) {
      SCOPED_TRACE(number);
      const std::string payload(random() % 30, 'x');
      const Octets whole = ipv4({.from_server = random() % 2 == 0,
                                 .sequence = random_number(random),
                                 .payload = payload,
                                 .syn = random() % syns == 0,
                                 .ack = random() % 10 != 0,
                                 .fin = random() % fins == 0,
                                 .rst = random() % 100 == 0,
                                 .acknowledgement = random_number(random),
                                 .client_port = static_cast<std::uint16_t>(random() % 2)});
      const std::size_t cut = random() % 5 == 0 ? random() % (payload.size() + 1) : 0;
      ASSERT_TRUE(tcp.take({.number = number,
                            .link = LinkType::kRawIp,
                            .captured = Bytes(whole).first(whole.size() - cut),
                            .original_size = static_cast<std::uint32_t>(whole.size())}));
      ASSERT_NO_FATAL_FAILURE(poll());
    }
    tcp.finish();
    ASSERT_NO_FATAL_FAILURE(poll());
  }
}

}  // namespace
}  // namespace weft::conformance::testing::tcp_properties
