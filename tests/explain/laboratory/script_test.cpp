// SPDX-License-Identifier: Apache-2.0
#include "explain/laboratory/script.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft::explain::laboratory::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Script, EveryLineIsRead) {
  const auto script = parse_script(
      "role initiator\nrevision 2\ncrc 0\nmarkers 1\nenhanced 1\npeer_to_peer 1\nrtr send read\nird 3\nord 0x10\n"
      "private_data 00ff\nreject 1\nno_receive terminate\nemss 1000\nfirst_atomic_id 9\n\n"
      "region 0x10 0x7000 32 rw a0a1\nregion 17 0 0 -\nreceive 7\nreceive 9\n"
      "post 4 read 0x10 0x7000 7 0x8 32\npost 9 cmp_swap 0x10 0x7008 5 6 8 1 2 3 4\n");
  ASSERT_TRUE(script) << script.error();
  EXPECT_EQ(script->role, mpa::Role::kInitiator);
  EXPECT_EQ(script->policy.revision, 2);
  EXPECT_FALSE(script->policy.crc);
  EXPECT_TRUE(script->policy.markers);
  EXPECT_TRUE(script->policy.enhanced);
  EXPECT_TRUE(script->policy.peer_to_peer);
  EXPECT_EQ(script->policy.rtr, (mpa::RtrTypes{true, false, true}));
  EXPECT_EQ(script->policy.ird, 3);
  EXPECT_EQ(script->policy.ord, 16);
  EXPECT_THAT(script->private_data, ElementsAre(std::byte{0}, std::byte{255}));
  EXPECT_TRUE(script->reject);
  EXPECT_EQ(script->no_receive, engine::NoReceive::kTerminate);
  EXPECT_EQ(script->emss, 1000U);
  EXPECT_EQ(script->first_atomic_id, 9U);
  ASSERT_EQ(script->regions.size(), 2U);
  const RegionScript& region = script->regions[0];
  EXPECT_EQ(region.stag, 16U);
  EXPECT_EQ(region.begin, 0x7000U);
  EXPECT_EQ(region.size, 32U);
  EXPECT_EQ(region.access, rdmap::Access::kLocalWrite | rdmap::Access::kRemoteRead | rdmap::Access::kRemoteWrite);
  EXPECT_EQ(region.octets.size(), 2U);
  EXPECT_THAT(script->receives, ElementsAre(7U, 9U));
  ASSERT_EQ(script->work.size(), 2U);
  EXPECT_EQ(script->work[0].what, engine::Operation::kRead);
  EXPECT_EQ(script->work[0].source_offset, 8U);
  EXPECT_EQ(script->work[1].what, engine::Operation::kCmpSwap);
  EXPECT_EQ(script->work[1].atomic.compare_mask, 4U);
}

class WrongScripts : public testing::TestWithParam<std::string_view> {};

TEST_P(WrongScripts, AreRefusedByTheirLine) {
  const auto script = parse_script("role responder\n" + std::string(GetParam()));
  ASSERT_FALSE(script);
  EXPECT_THAT(script.error(), HasSubstr("of the script: "));
}

INSTANTIATE_TEST_SUITE_P(
    Script, WrongScripts,
    testing::Values("role", "role server", "rolle responder", "crc yes", "crc 1 1", "crc", "ird 16384", "revision 256",
                    "revision -1", "revision 1x", "private_data 0", "private_data 0g", "region 1 2 3", "region 1 2 3 x",
                    "region 1 2 1 r 0001", "region 0x100000000 0 1 r", "region 1 0xffffffffffffffff 2 r", "receive",
                    "receive 4294967297", "post 1 local 1 2 3 4 5", "post 1 read 1 2 3 4", "post 1 read 1 2 3 4 5 6",
                    "rtr all", "post 5 send 1 2 3 4 5\npost 4 send 1 2 3 4 5", "no_receive never", "emss 65536"));

TEST(Script, ARegionMayEndExactlyAt2To64) {
  EXPECT_TRUE(parse_script("role responder\nregion 1 0xffffffffffffffff 1 r\n"));
}

TEST(Script, TheRoleMustBeThere) {
  ASSERT_FALSE(parse_script("crc 1\n"));
  ASSERT_FALSE(parse_script(""));
}

TEST(Script, AnStagNamesOneRegion) {
  const auto script = parse_script("role responder\nregion 1 0 1 r\nregion 1 9 1 w\n");
  ASSERT_FALSE(script);
  EXPECT_EQ(script.error(), "two regions of the script have the same STag");
}

TEST(Script, ItsLengthIsBounded) {
  ASSERT_FALSE(parse_script("role responder\n" + std::string(Script::kMostLines, '\n')));
  ASSERT_FALSE(parse_script(std::string(Script::kMostText + 1, '\n')));
}

}  // namespace
}  // namespace weft::explain::laboratory::test
