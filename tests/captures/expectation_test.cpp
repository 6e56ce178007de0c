// SPDX-License-Identifier: Apache-2.0
// Each capture holds what its manifest says: revision, CRC, IRD and ORD, and how many FPDUs of each kind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "tests/captures/expectations.hpp"
#include "tests/captures/wire_fields.hpp"

namespace weft::captures {
namespace {

std::uint32_t enhanced_data(const Fields& startup) {
  const std::string& octets = startup.at("iwarp_mpa.privatedata");
  std::string digits = octets.substr(0, 11);
  std::erase(digits, ':');
  return static_cast<std::uint32_t>(std::stoul(digits, nullptr, 16));
}

void expect_startup(const Fields& request, const Fields& reply, const Expectation& expected, std::size_t connection) {
  const std::string revision = std::to_string(expected.revision);
  EXPECT_EQ(request.at("iwarp_mpa.rev"), revision);
  EXPECT_EQ(reply.at("iwarp_mpa.rev"), revision);
  EXPECT_EQ(reply.at("iwarp_mpa.crc_flag"), expected.crc ? "1" : "0");
  EXPECT_EQ(reply.at("iwarp_mpa.marker_flag"), "0");
  EXPECT_EQ(reply.at("iwarp_mpa.rej_flag"), expected.name == "30-reject" ? "1" : "0");
  if (expected.enhanced.empty()) return;
  const Enhanced& enhanced = expected.enhanced[std::min(connection, expected.enhanced.size() - 1)];
  EXPECT_EQ(enhanced_data(request), enhanced.request);
  EXPECT_EQ(enhanced_data(reply), enhanced.reply);
}

class Manifest : public testing::TestWithParam<Expectation> {};

TEST_P(Manifest, HoldsWhatItSays) {
  std::size_t spoken = 0;
  std::array<std::size_t, 8> fpdus{};
  for (const Connection& connection : read_connections(sample_path(GetParam().name))) {
    if (!speaks_mpa(connection)) continue;
    const std::vector<Fields> client = read_frames(connection, Side::kClient);
    const std::vector<Fields> server = read_frames(connection, Side::kServer);
    ASSERT_FALSE(client.empty() || server.empty());
    expect_startup(client[0], server[0], GetParam(), spoken++);
    for (const auto* frames : {&client, &server}) {
      for (std::size_t i = 1; i < frames->size(); ++i) ++fpdus.at(std::stoul((*frames)[i].at("iwarp_rdma.opcode")));
    }
  }
  EXPECT_EQ(spoken, GetParam().connections);
  EXPECT_EQ(fpdus, GetParam().fpdus);
}

INSTANTIATE_TEST_SUITE_P(Samples, Manifest, testing::ValuesIn(expectations()),
                         [](const auto& info) { return test_name(info.param); });

TEST(ManifestTable, NamesEveryFileAndNoOther) {
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(WEFT_PCAP_SAMPLES)) {
    if (entry.path().extension() == ".pcap") files.insert(entry.path().stem());
  }
  std::set<std::string> named;
  for (const Expectation& expected : expectations()) named.insert(std::string(expected.name));
  EXPECT_EQ(files, named);
}

}  // namespace
}  // namespace weft::captures
