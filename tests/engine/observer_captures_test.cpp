// SPDX-License-Identifier: Apache-2.0
// The captures of the Linux kernel's siw through the observer: whole connections, both directions, every layer, in the
// order of the capture. What siw said must add up to what the manifest says of it.
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/observer.hpp"
#include "tests/captures/capture_file.hpp"
#include "tests/captures/expectations.hpp"
#include "tests/captures/wire_fields.hpp"

namespace weft::engine::test {
namespace {

struct Replay {
  std::array<std::size_t, 8> fpdus{};
  std::vector<captures::ExpectedTerminate> terminates{};
  std::size_t frames = 0, nonzero_pads = 0;
  std::vector<std::string> faults{};
};

void note(Replay& replay, const SegmentSeen& seen) {
  ++replay.fpdus.at(std::to_underlying(seen.segment.opcode));
  replay.nonzero_pads += seen.segment.pad_nonzero ? 1 : 0;
  if (const auto* terminate = std::get_if<TerminateDelivered>(&seen.segment.delivery)) {
    const rdmap::ErrorCode error = terminate->report.meant().error;
    replay.terminates.push_back({std::to_underlying(error.layer), error.type, error.code});
  }
}

void note(Replay& replay, const Observation& seen) {
  if (std::holds_alternative<StartupSeen>(seen)) ++replay.frames;
  if (const auto* segment = std::get_if<SegmentSeen>(&seen)) note(replay, *segment);
  if (const auto* fault = std::get_if<FaultSeen>(&seen)) replay.faults.emplace_back(fault->fault.sentence);
}

void replay_connection(Replay& replay, const captures::Connection& connection) {
  AcceptEverything at_server, at_client;
  Observer observer(at_server, at_client);
  const auto drain = [&] {
    while (const auto seen = observer.next()) note(replay, *seen);
  };
  for (const captures::Chunk& chunk : connection.chunks) {
    observer.feed(chunk.from == captures::Side::kClient ? Direction::kFromInitiator : Direction::kFromResponder,
                  chunk.octets);
    drain();
  }
}

class Captures : public testing::TestWithParam<captures::Expectation> {};

TEST_P(Captures, AreUnderstoodToTheLastOctet) {
  const captures::Expectation& expected = GetParam();
  Replay replay;
  std::size_t connections = 0;
  for (const auto& connection : captures::read_connections(captures::sample_path(expected.name))) {
    if (!captures::speaks_mpa(connection)) continue;
    ++connections;
    replay_connection(replay, connection);
  }
  EXPECT_EQ(connections, expected.connections);
  EXPECT_EQ(replay.fpdus, expected.fpdus);
  EXPECT_EQ(replay.terminates, expected.terminates);
  EXPECT_EQ(replay.nonzero_pads, expected.nonzero_pads);
  EXPECT_EQ(replay.faults, std::vector<std::string>{});
}

std::string test_name(const testing::TestParamInfo<captures::Expectation>& info) {
  std::string name(info.param.name);
  std::ranges::replace(name, '-', '_');
  std::ranges::replace(name, '.', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Siw, Captures, testing::ValuesIn(captures::expectations()), test_name);

}  // namespace
}  // namespace weft::engine::test
