// SPDX-License-Identifier: Apache-2.0
// The captures of real siw: what MPA and connection set-up have to say of them is what siw really does, file by file,
// and nothing else.
#include <gmock/gmock.h>

#include <filesystem>
#include <map>

#include "tests/captures/capture_file.hpp"
#include "tests/captures/expectations.hpp"
#include "tests/conformance/script.hpp"

using namespace weft::conformance;
using namespace weft::conformance::test;
using testing::IsEmpty;

namespace {

using Counts = std::map<std::string, std::size_t>;

// siw's departures, besides PAD octets (MPA-4.1-03, counted in tests/captures/expectations.cpp).
const std::map<std::string, Counts>& departures() {
  static const std::map<std::string, Counts> departures{
      // siw fills an MTU of 65536: its ULPDUs reach 65474 octets, and nothing above 64768 is allowed.
      {"03-write-bw-64k", {{"MPA-3-05", 3}}},
      {"08-write-1m", {{"MPA-3-05", 14}}},
      {"41-crc-write-bw-64k", {{"MPA-3-05", 3}}},
      // Its private GSO flag (0x08) in the reserved bits of Request and Reply.
      {"56-gso-mtu1500", {{"MPA2-6-04", 2}}},
  };
  return departures;
}

Script script_of(const weft::captures::Connection& connection) {
  Script script = Script::with_handshake(65495);
  for (const auto& chunk : connection.chunks) {
    script.send(chunk.from == weft::captures::Side::kClient ? End::kFirst : End::kSecond, chunk.octets);
  }
  return script;
}

std::vector<Script> scripts(std::string_view name) {
  std::vector<Script> result;
  for (const auto& connection : weft::captures::read_connections(weft::captures::sample_path(name))) {
    result.push_back(script_of(connection));
  }
  return result;
}

// Without those of DDP and RDMAP, which have tests of their own.
Counts mpa_violations(const ConnectionAudit& audit) {
  Counts counts;
  for (const std::string& clause : violations(audit)) {
    if (clause.starts_with("MPA")) ++counts[clause];
  }
  return counts;
}

struct Siw : testing::TestWithParam<weft::captures::Expectation> {};
INSTANTIATE_TEST_SUITE_P(Captures, Siw, testing::ValuesIn(weft::captures::expectations()), [](const auto& test) {
  std::string name(test.param.name);
  std::ranges::replace(name, '-', '_');
  return name;
});

TEST_P(Siw, BreaksWhatItIsKnownToBreak) {
  const auto& expected = GetParam();
  Counts expected_counts;
  if (const auto known = departures().find(std::string(expected.name)); known != departures().end()) {
    expected_counts = known->second;
  }
  if (expected.nonzero_pads > 0) expected_counts["MPA-4.1-03"] = expected.nonzero_pads;
  Counts counts;
  std::size_t connections = 0;
  std::size_t fpdus = 0;
  for (const Script& script : scripts(expected.name)) {
    const ConnectionAudit audit = script.audit();
    for (const auto& [clause, count] : mpa_violations(audit)) counts[clause] += count;
    if (!audit.iwarp()) continue;
    ++connections;
    for (const auto from : {Direction::kFromInitiator, Direction::kFromResponder}) {
      fpdus += audit.tally(from).fpdus;
      EXPECT_EQ(audit.tally(from).times_lost, 0u);
    }
    const auto told = warnings(audit);
    const bool rejected = audit.facts().reply && audit.facts().reply->reject;
    EXPECT_EQ(std::ranges::count(told, "MPA-4.4-05"), expected.crc || rejected ? 0 : 1);
  }
  EXPECT_EQ(counts, expected_counts);
  EXPECT_EQ(connections, expected.connections);
  std::size_t expected_fpdus = 0;
  for (const std::size_t count : expected.fpdus) expected_fpdus += count;
  EXPECT_EQ(fpdus, expected_fpdus);
}

// MPA-5.1-06
TEST_P(Siw, IsJudgedAlikeInAnyPieces) {
  for (const Script& script : scripts(GetParam().name)) {
    const auto whole = listed(script.audit());
    for (const std::size_t size : {61U, 1448U}) EXPECT_EQ(listed(script.chopped(size).audit()), whole) << size;
  }
}

TEST_P(Siw, BreaksNothingMoreWhereTheCaptureBeginsInTheMiddle) {
  for (const Script& script : scripts(GetParam().name)) {
    const Counts whole = mpa_violations(script.audit());
    for (const std::size_t skipped : {1U, 21U, 45U, 77U, 250U, 1001U, 5000U}) {
      for (const auto& [clause, count] : mpa_violations(script.beheaded(skipped).audit())) {
        const auto before = whole.find(clause);
        EXPECT_TRUE(before != whole.end() && count <= before->second) << clause << " without " << skipped << " octets";
      }
    }
  }
}

}  // namespace
