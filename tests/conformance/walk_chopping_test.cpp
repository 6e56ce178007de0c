// SPDX-License-Identifier: Apache-2.0
// What is found is a function of the octets: however TCP hands them over, in one piece or octet by octet, every sample
// gives the same findings at the same octets (MPA-5.1-06).
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <random>
#include <vector>

#include "conformance/capture_reader.hpp"
#include "conformance/connection_audit.hpp"
#include "conformance/tcp_connections.hpp"
#include "tests/captures/capture_file.hpp"
#include "tests/conformance/script.hpp"

using namespace weft::conformance;
using namespace weft::conformance::test;
using testing::IsEmpty;
using testing::Not;

namespace {

// What TCP tells of one connection, with octets of its own.
struct Step {
  TcpEvent event{};
  Octets octets{};
};
using Steps = std::vector<Step>;

void take_events(TcpConnections& tcp, std::map<std::size_t, Steps>& into) {
  while (const auto next = tcp.next()) {
    const auto* event = std::get_if<TcpEvent>(&next->event);
    if (event == nullptr) continue;
    Step step{*event, {}};
    if (auto* piece = std::get_if<TcpOctets>(&step.event)) {
      step.octets.assign(piece->octets.begin(), piece->octets.end());
      piece->octets = {};
    }
    into[next->connection].push_back(std::move(step));
  }
}

std::map<std::size_t, Steps> connections(const std::string& path) {
  std::map<std::size_t, Steps> result;
  auto reader = CaptureReader::open(path);
  if (!reader) return result;
  TcpConnections tcp;
  for (;;) {
    const auto next = reader->next();
    const auto* packet = std::get_if<Packet>(&next);
    if (packet == nullptr) break;
    tcp.take(*packet);
    take_events(tcp, result);
  }
  tcp.finish();
  take_events(tcp, result);
  return result;
}

// `size` says how large the next piece is.
std::vector<std::string> findings(const Steps& steps, const std::function<std::size_t()>& size) {
  ConnectionAudit audit(0);
  for (const Step& step : steps) {
    const auto* whole = std::get_if<TcpOctets>(&step.event);
    if (whole == nullptr) {
      audit.on(step.event);
      continue;
    }
    for (std::size_t at = 0; at < step.octets.size();) {
      const auto begin = step.octets.begin() + static_cast<std::ptrdiff_t>(at);
      const std::size_t count = std::min(size(), step.octets.size() - at);
      const Octets passing(begin, begin + static_cast<std::ptrdiff_t>(count));
      TcpOctets piece = *whole;
      piece.octets = passing;
      piece.place.octet += static_cast<std::uint32_t>(at);
      piece.stream_offset += at;
      audit.on(piece);
      at += count;
    }
  }
  audit.finish();
  return listed(audit);
}

// With packets of its own for each piece: clause, direction and offset in the stream are left to compare.
std::vector<std::string> findings_in_packets(const Steps& steps, std::size_t size) {
  ConnectionAudit audit(0);
  std::uint64_t packet = 0;
  for (Step step : steps) {
    auto* whole = std::get_if<TcpOctets>(&step.event);
    if (whole == nullptr) {
      if (auto* closed = std::get_if<TcpClosed>(&step.event)) closed->packet = ++packet;
      if (!std::holds_alternative<TcpSegment>(step.event)) audit.on(step.event);
      continue;
    }
    const std::uint64_t begin = whole->stream_offset;
    for (std::size_t at = 0; at < step.octets.size(); at += size) {
      whole->octets = std::span(step.octets).subspan(at, std::min(size, step.octets.size() - at));
      whole->place = {++packet, 54};
      whole->stream_offset = begin + at;
      audit.on(step.event);
    }
  }
  audit.finish();
  std::vector<std::string> result;
  for (const Finding& finding : audit.findings().all()) {
    const std::string direction = !finding.direction ? "both" : std::to_string(static_cast<int>(*finding.direction));
    result.push_back(std::string(finding.rule->clause) + " " + direction + " " + std::to_string(finding.stream_offset));
  }
  return result;
}

// The same as one run of octets of each end between two of the other: nothing is left of the packets.
Steps joined(const Steps& steps) {
  Steps result;
  for (const Step& step : steps) {
    const auto* piece = std::get_if<TcpOctets>(&step.event);
    auto* last = result.empty() ? nullptr : std::get_if<TcpOctets>(&result.back().event);
    if (std::holds_alternative<TcpSegment>(step.event)) continue;
    if (piece != nullptr && last != nullptr && last->from == piece->from) {
      result.back().octets.insert(result.back().octets.end(), step.octets.begin(), step.octets.end());
    } else {
      result.push_back(step);
    }
  }
  return result;
}

std::vector<std::string> samples() {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(WEFT_PCAP_SAMPLES)) {
    const bool small = entry.path().extension() == ".pcap" && entry.file_size() < 400'000;
    if (small) paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  return paths;
}

struct Chopping : testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Samples, Chopping, testing::ValuesIn(samples()), [](const auto& test) {
  const std::filesystem::path path(test.param);
  std::string name = path.parent_path().stem().string() + "_" + path.stem().string();
  std::ranges::replace_if(name, [](char c) { return c == '-' || c == '.'; }, '_');
  return name;
});

void expect_the_same_in_any_pieces(const Steps& steps) {
  const auto whole = findings(steps, [] { return std::size_t{1} << 20; });
  for (const std::size_t size : {1U, 2U, 5U, 23U, 64U, 500U}) {
    EXPECT_EQ(findings(steps, [&] { return size; }), whole) << "pieces of " << size;
  }
  for (unsigned seed = 1; seed <= 5; ++seed) {
    std::minstd_rand random(seed);
    EXPECT_EQ(findings(steps, [&] { return std::size_t{1} + random() % (seed * 40); }), whole) << "seed " << seed;
  }
}

TEST_P(Chopping, GivesTheSameFindings) {
  const auto found = connections(GetParam());
  EXPECT_THAT(found, Not(IsEmpty()));
  for (const auto& [number, steps] : found) {
    expect_the_same_in_any_pieces(steps);
    expect_the_same_in_any_pieces(joined(steps));
  }
}

TEST_P(Chopping, IntoPacketsGivesTheSameFindings) {
  for (const auto& [number, steps] : connections(GetParam())) {
    const Steps whole = joined(steps);
    for (const std::size_t size : {1U, 3U, 40U, 700U}) {
      EXPECT_EQ(findings_in_packets(whole, size), findings_in_packets(whole, 1U << 20)) << "packets of " << size;
    }
  }
}

// Without the handshake it is not known whether a startup frame is to come.
TEST_P(Chopping, GivesTheSameFindingsInMidConnection) {
  for (auto& [number, steps] : connections(GetParam())) {
    Steps late = steps;
    std::erase_if(late, [](const Step& step) { return std::holds_alternative<TcpOpened>(step.event); });
    expect_the_same_in_any_pieces(late);
  }
}

// What the fuzz target found: startup that is broken, and octets after it that seem to be FPDUs with Markers.
Script two_replies() {
  Frame reply{.key = kReplyKey};
  Script script = Script::with_handshake();
  script.send(End::kFirst, build({.key = "MPA ID Reqq Fram"}));
  script.send(End::kSecond, build(reply) + FpduStream(true, false).add(terminate_message()));
  script.send(End::kFirst, build(reply) + FpduStream(false, true).add(send(1, pattern(100))));
  script.send(End::kFirst, pattern(300) + build(reply)).send(End::kSecond, pattern(200));
  return script.close(End::kFirst).close(End::kSecond);
}

Script rejected_with_markers() {
  Script script = Script::with_handshake();
  script.send(End::kFirst, build({.flags = 0xc0}));
  script.send(End::kSecond,
              build({.key = kReplyKey, .flags = 0xe0}) + FpduStream(true, true).add(send(1, pattern(40))));
  FpduStream markers(false, true);
  script.send(End::kFirst, markers.add(send(1, pattern(700))) + markers.add(send(3, pattern(70))) + pattern(90));
  return script.close(End::kSecond).close(End::kFirst);
}

Script rejected_with_terminate() {
  Script script = Script::with_handshake();
  script.send(End::kFirst, build({.flags = 0xd0, .revision = 2, .private_data = enhanced(1, 4)}));
  const Octets error = untagged(7, 2, 1, {std::byte{0x20}, std::byte{6}, {}, {}});
  script.send(End::kSecond, build({.key = kReplyKey, .flags = 0x70, .revision = 2, .private_data = enhanced(4, 16)}) +
                                FpduStream(true, true).add(error, {.crc_flip = 1}) + pattern(50));
  return script.send(End::kFirst, pattern(90)).close(End::kSecond).close(End::kFirst);
}

TEST(BrokenStartup, AnyChoppingGivesTheSame) {
  for (const Script& script : {two_replies(), rejected_with_markers(), rejected_with_terminate()}) {
    for (const std::size_t size : {1U, 2U, 7U, 16U, 33U, 100U}) {
      EXPECT_EQ(script.chopped(size).walk(), script.walk()) << size;
      EXPECT_EQ(listed(script.chopped(size).audit()), listed(script.audit())) << size;
    }
  }
}

}  // namespace
