// SPDX-License-Identifier: Apache-2.0
// Verdicts of cases on peers that are peculiar and right, and on peers with faults that few peers have.
#include <gtest/gtest.h>

#include "probe/cases/errors.hpp"
#include "probe/messages.hpp"
#include "scripted.hpp"

namespace weft::probe::test {
namespace {

constexpr std::uint8_t kReadWrite = Region::kRead | Region::kWrite;
constexpr Region kPlain{.stag = {0x101}, .offset = {0x1000}, .length = 1U << 16U, .rights = kReadWrite};

CaseResult result_of(Scripted& way, const std::string& name) {
  way.offered = kListens | kStream | kReceives | kRegions | kOrders | kAtomics | kReads;
  way.case_patience = std::chrono::milliseconds(100);
  const Report report = run_of(way, name);
  if (report.cases.size() != 1) throw std::runtime_error("not one case: " + name);
  return report.cases.front();
}

// Without RFC 7306 each atomic is an opcode that nobody expects.
TEST(PeerWithoutAtomics, IsNotJudgedByThem) {
  for (const char* const name : {"atomic-unknown-stag", "atomic-no-right", "atomic-of-the-peer"}) {
    Scripted way;
    way.advert = {.session = 1, .regions = {kPlain}};
    way.on_open = [](Connected& pair) {
      pair.say(Framer().fpdu(Messages().terminate(rdmap::make_terminate(kOpcode))));
      pair.peer->shutdown_write();
    };
    EXPECT_EQ(result_of(way, name).verdict, Verdict::kNotApplicable) << name;
  }
}

}  // namespace
}  // namespace weft::probe::test
