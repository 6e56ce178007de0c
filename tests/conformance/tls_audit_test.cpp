// SPDX-License-Identifier: Apache-2.0
// Captures whose octets go once more through TLS: the auditor finds inside what it found in clear.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "conformance/capture_reader.hpp"
#include "conformance/connection_audit.hpp"
#include "conformance/tcp_connections.hpp"
#include "tests/conformance/tls_wire.hpp"

namespace weft::conformance::test {
namespace {

const std::filesystem::path kSamples = WEFT_PCAP_SAMPLES;

// What the ends of its only connection said, in turns.
std::vector<Flight> conversation(const std::filesystem::path& capture) {
  std::vector<Flight> turns;
  TcpConnections tcp;
  const auto drain = [&] {
    while (const auto event = tcp.next()) {
      const auto* const of_tcp = std::get_if<TcpEvent>(&event->event);
      const auto* const octets = of_tcp == nullptr ? nullptr : std::get_if<TcpOctets>(of_tcp);
      if (octets != nullptr) turns.push_back({octets->from, {octets->octets.begin(), octets->octets.end()}});
    }
  };
  auto reader = CaptureReader::open(capture);
  EXPECT_TRUE(reader) << capture;
  const auto damage = read_packets(*reader, [&](const Packet& packet) {
    tcp.take(packet);
    drain();
  });
  EXPECT_FALSE(damage);
  tcp.finish();
  drain();
  return turns;
}

struct Judged {
  std::multiset<std::string_view> clauses{};
  std::uint64_t fpdus{};
  std::uint64_t packet{};  // of the first finding
};

Judged judge(const std::vector<Flight>& flights, KeyLog* keys) {
  ConnectionAudit audit(0);
  TlsLayer layer(keys);
  const auto hear = [&](const TcpEvent& event) {
    layer.feed(event);
    while (const TcpEvent* clear = layer.next()) audit.on(*clear);
  };
  std::uint64_t packet = 0, offsets[2]{};
  hear(TcpOpened{.handshake_seen = true});
  for (const Flight& flight : flights) {
    std::uint64_t& offset = offsets[static_cast<std::size_t>(flight.from)];
    hear(TcpOctets{flight.from,
                   flight.octets,
                   {++packet, Listener::kHeaders},
                   offset,
                   offsets[static_cast<std::size_t>(opposite(flight.from))]});
    offset += flight.octets.size();
  }
  for (const End end : {End::kFirst, End::kSecond}) hear(TcpClosed{end, Closing::kFin, packet});
  layer.finish();
  while (const TcpEvent* clear = layer.next()) audit.on(*clear);
  audit.finish();
  Judged judged{.fpdus = audit.tally(Direction::kFromInitiator).fpdus + audit.tally(Direction::kFromResponder).fpdus};
  for (const Finding& finding : audit.findings().all()) {
    judged.clauses.insert(finding.rule->clause);
    if (judged.packet == 0) judged.packet = finding.place.packet;
  }
  return judged;
}

TEST(TlsAudit, FindsInsideTlsWhatItFindsInClear) {
  for (const char* name : {"forged/story.pcap", "broken/mpa-4.1-03.pcap", "broken/mpa-4.4-13.pcap",
                           "broken/mpa-4.4-05.pcap", "broken/mpa-7.1.1-04-other-protocol.pcap",
                           "broken/mpa-7.1.2-13.pcap", "broken/mpa-7.1.2-17.pcap", "broken/rdmap-5.2-01.pcap"}) {
    const auto turns = conversation(kSamples / name);
    const Judged clear = judge(turns, nullptr);
    TlsWire wire("TLS_AES_256_GCM_SHA384");
    const std::size_t before = wire.flights.size();
    for (const Flight& turn : turns) wire.say(turn.from, turn.octets);
    KeyLog keys = KeyLog::of_text(wire.key_log);
    const Judged inside = judge(wire.flights, &keys);
    EXPECT_EQ(inside.clauses, clear.clauses) << name;
    EXPECT_EQ(inside.fpdus, clear.fpdus) << name;
    EXPECT_EQ(clear.clauses.empty(), std::string_view(name) == "forged/story.pcap") << name;
    EXPECT_EQ(inside.packet, clear.packet == 0 ? 0 : clear.packet + before) << name;
    EXPECT_TRUE(judge(wire.flights, nullptr).clauses.empty()) << name;
  }
}

}  // namespace
}  // namespace weft::conformance::test
