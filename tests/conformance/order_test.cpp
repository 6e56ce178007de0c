// SPDX-License-Identifier: Apache-2.0
// The order of the two directions in a capture is not that of the wire: two taps, a span port and the queues of a network
// card deliver them out of step. What is found must not depend on it, because acknowledgment numbers tell.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "conformance/capture/packet_decoder.hpp"
#include "conformance/capture_audit.hpp"
#include "conformance/capture_reader.hpp"

using namespace weft::conformance;
using testing::IsEmpty;
using testing::Not;

namespace {

struct Kept {
  Packet packet{};
  std::vector<std::byte> octets{};
  bool low{};  // the end with the lower address and port sent it
};
using Capture = std::vector<Kept>;

Capture read(const std::string& path) {
  Capture result;
  auto reader = CaptureReader::open(path);
  if (!reader) return result;
  capture::PacketDecoder decoder;
  const auto failed = read_packets(*reader, [&](const Packet& packet) {
    const auto tcp = decoder.decode(packet);
    const bool low = tcp && tcp->source < tcp->destination;
    result.push_back({packet, {packet.captured.begin(), packet.captured.end()}, low});
  });
  EXPECT_FALSE(failed) << path;
  return result;
}

// The packets of one capture and their places. Packets of one place stay as they were.
using Places = std::vector<std::pair<std::size_t, const Kept*>>;
Capture in_order(Places order) {
  std::ranges::sort(order);
  Capture result;
  for (const auto& one : order) result.push_back(*one.second);
  return result;
}

// The packets of one direction come so many packets later than they were captured.
Capture shifted(const Capture& capture, bool low, std::size_t by) {
  Places order;
  for (std::size_t i = 0; i < capture.size(); ++i) {
    order.emplace_back(2 * (i + (capture[i].low == low ? by : 0)) + (capture[i].low == low ? 1 : 0), &capture[i]);
  }
  return in_order(std::move(order));  // no two places are equal
}

// Clause, direction and offset in the stream of what is found; `violations`: of these alone.
std::vector<std::string> findings(const Capture& capture, bool violations) {
  std::vector<std::string> result;
  CaptureAudit audit;
  const auto drain = [&] {
    while (const auto report = audit.next()) {
      for (const Finding& finding : report->findings) {
        if (violations && finding.rule->severity != Severity::kViolation) continue;
        // Without a startup frame, the end whose packet comes first counts as the Initiator.
        const bool known = report->roles_known && finding.direction;
        const std::string from = known ? std::to_string(static_cast<int>(*finding.direction)) : "either";
        result.push_back(std::string(finding.rule->clause) + " " + from + " " + std::to_string(finding.stream_offset));
      }
    }
  };
  std::uint64_t number = 0;
  for (const Kept& kept : capture) {
    const std::vector<std::byte> passing = kept.octets;
    Packet packet = kept.packet;
    packet.number = ++number;
    packet.captured = passing;
    audit.take(packet);
    drain();
  }
  audit.finish();
  drain();
  std::ranges::sort(result);
  return result;
}

std::vector<std::string> samples() {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(WEFT_PCAP_SAMPLES)) {
    if (entry.path().extension() == ".pcap") paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  return paths;
}

struct Order : testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Samples, Order, testing::ValuesIn(samples()), [](const auto& test) {
  const std::filesystem::path path(test.param);
  std::string name = path.parent_path().stem().string() + "_" + path.stem().string();
  std::ranges::replace_if(name, [](char c) { return c == '-' || c == '.'; }, '_');
  return name;
});

TEST_P(Order, OneDirectionCapturedLateChangesNothing) {
  const Capture capture = read(GetParam());
  ASSERT_THAT(capture, Not(IsEmpty()));
  const auto expected = findings(capture, false);
  for (const bool low : {true, false}) {
    for (std::size_t by = 1; by <= 8; ++by) {
      EXPECT_EQ(findings(shifted(capture, low, by), false), expected) << (low ? "low" : "high") << " by " << by;
    }
  }
}

// Each packet comes up to `places` places later.
Capture moved(const Capture& capture, std::size_t places, std::minstd_rand& random) {
  Places order;
  for (std::size_t i = 0; i < capture.size(); ++i) order.emplace_back(i + random() % (places + 1), &capture[i]);
  return in_order(std::move(order));
}

// Clause and offset: the roles of the ends may be unknown.
std::set<std::string> without_direction(const std::vector<std::string>& findings) {
  std::set<std::string> result;
  for (const auto& one : findings) result.insert(one.substr(0, one.find(' ')) + one.substr(one.rfind(' ')));
  return result;
}

// What they prove may be lost with the order, as after a reset that lies too early. An end that breaks a rule may break another
// one in another order.
TEST_P(Order, PacketsThatMoveAFewPlacesAccuseNobody) {
  if (GetParam().find("/broken/") != std::string::npos) return;
  const Capture capture = read(GetParam());
  const auto expected = without_direction(findings(capture, true));
  std::minstd_rand random(1);
  for (int round = 0; round < 8; ++round) {
    const auto found = without_direction(findings(moved(capture, 6, random), true));
    EXPECT_TRUE(std::ranges::includes(expected, found)) << round << ": " << testing::PrintToString(found);
  }
}

TEST_P(Order, TwoTapsWithAnySkewChangeNoViolation) {
  const Capture capture = read(GetParam());
  const auto expected = findings(capture, true);
  std::minstd_rand random(1);
  for (int round = 0; round < 8; ++round) {
    const bool low = random() % 2 == 0;
    const std::size_t by = round == 0 ? capture.size() : 1 + random() % 300;
    EXPECT_EQ(findings(shifted(capture, low, by), true), expected) << (low ? "low" : "high") << " by " << by;
  }
}

// Of what correct ends sent.
TEST_P(Order, APacketThatIsMissingAccusesNobody) {
  const Capture capture = read(GetParam());
  if (!findings(capture, true).empty()) return;
  for (std::size_t i = 0; i < capture.size(); ++i) {
    Capture rest = capture;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_THAT(findings(rest, true), IsEmpty()) << i + 1;
  }
}

TEST_P(Order, AnEarlyEndAccusesNobody) {
  const Capture capture = read(GetParam());
  if (!findings(capture, true).empty()) return;
  for (std::size_t size = 1; size < capture.size(); ++size) {
    EXPECT_THAT(findings({capture.begin(), capture.begin() + static_cast<std::ptrdiff_t>(size)}, true), IsEmpty())
        << size;
  }
}

}  // namespace
