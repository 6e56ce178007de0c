// SPDX-License-Identifier: Apache-2.0
// Every field of every frame in pcap-samples/, as weft's parsers read it and as tshark's dissectors do. tshark shares
// no code with weft, and the captures were written by the Linux kernel: the three have no mistake in common.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/captures/expectations.hpp"
#include "tests/captures/tshark.hpp"
#include "tests/captures/wire_fields.hpp"

namespace weft::captures {
namespace {

std::vector<Fields> sent_from(const Dissection& dissection, std::size_t connection, std::uint16_t port) {
  std::vector<Fields> fields;
  for (const Frame& frame : dissection.frames) {
    if (frame.connection == connection && frame.source_port == port) fields.push_back(frame.fields);
  }
  return fields;
}

void expect_agreement(const std::vector<Fields>& ours, const std::vector<Fields>& theirs) {
  EXPECT_EQ(ours.size(), theirs.size()) << "number of frames";
  for (std::size_t i = 0; i < std::min(ours.size(), theirs.size()); ++i) {
    ASSERT_EQ(ours[i], theirs[i]) << "frame " << i;  // the first difference is enough to read
  }
}

std::size_t count_crcs(const std::vector<Fields>& frames) {
  return static_cast<std::size_t>(
      std::ranges::count_if(frames, [](const Fields& f) { return f.contains("iwarp_mpa.crc_check"); }));
}

class Agreement : public testing::TestWithParam<Expectation> {};

TEST_P(Agreement, EveryFieldOfEveryFrame) {
  if (!have_tshark()) GTEST_SKIP() << "tshark is not installed: nothing is compared (Debian package tshark)";
  const Dissection theirs = dissect(sample_path(GetParam().name));
  EXPECT_THAT(theirs.notes, testing::IsEmpty());
  std::size_t frames = 0;
  std::size_t crcs = 0;
  const std::vector<Connection> connections = read_connections(sample_path(GetParam().name));
  for (std::size_t i = 0; i < connections.size(); ++i) {
    for (const Side side : {Side::kClient, Side::kServer}) {
      SCOPED_TRACE("connection " + std::to_string(i) + (side == Side::kClient ? ", client" : ", server"));
      const std::uint16_t port = side == Side::kClient ? connections[i].client_port : connections[i].server_port;
      const std::vector<Fields> ours = read_frames(connections[i], side);
      expect_agreement(ours, sent_from(theirs, i, port));
      frames += ours.size();
      crcs += count_crcs(ours);  // weft's receiver has verified these
    }
  }
  EXPECT_EQ(frames, theirs.frames.size());
  EXPECT_EQ(theirs.good_crcs, crcs);
  EXPECT_EQ(theirs.bad_crcs, 0U);
}

std::string test_name(const testing::TestParamInfo<Expectation>& info) {
  std::string name(info.param.name);
  std::ranges::replace(name, '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Samples, Agreement, testing::ValuesIn(expectations()), test_name);

}  // namespace
}  // namespace weft::captures
