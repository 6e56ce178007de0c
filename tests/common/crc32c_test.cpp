// SPDX-License-Identifier: Apache-2.0
// Each routine against check values from outside (the CRC catalogue's check input; the examples of iSCSI, RFC 3720
// appendix B.4, whose CRC MPA takes, MPA-4.4-13), and against the other over lengths, alignments and cuts.
#include "common/crc32c.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "common/crc32c_routine.hpp"

namespace weft {
namespace {

constexpr std::uint32_t kBegin = 0xffffffff;

std::uint32_t crc_by(Crc32cRoutine routine, Bytes octets) { return ~advance_crc32c(routine, kBegin, octets); }

std::vector<std::byte> noise(std::size_t size) {
  std::vector<std::byte> octets(size);
  std::uint32_t state = 1;
  for (std::byte& octet : octets) octet = static_cast<std::byte>((state = state * 1664525 + 1013904223) >> 24);
  return octets;
}

// The process has the routine that it chose again when a test ends.
class Crc32cRoutines : public testing::TestWithParam<Crc32cRoutine> {
 protected:
  ~Crc32cRoutines() override { use_crc32c(choose_crc32c(crc32c_features()).routine); }
};

TEST_P(Crc32cRoutines, CheckValue) {
  const std::string_view digits = "123456789";
  EXPECT_EQ(crc_by(GetParam(), std::as_bytes(std::span(digits))), 0xE3069283U);
  EXPECT_EQ(crc_by(GetParam(), {}), 0U);
}

TEST_P(Crc32cRoutines, IscsiExamples) {
  std::array<std::byte, 32> octets{};
  EXPECT_EQ(crc_by(GetParam(), octets), 0x8a9136aaU);
  octets.fill(std::byte{0xff});
  EXPECT_EQ(crc_by(GetParam(), octets), 0x62a8ab43U);
  for (std::size_t i = 0; i < 32; ++i) octets[i] = static_cast<std::byte>(i);
  EXPECT_EQ(crc_by(GetParam(), octets), 0x46dd794eU);
  std::ranges::reverse(octets);
  EXPECT_EQ(crc_by(GetParam(), octets), 0x113fdb5cU);
}

// The last example of that appendix: a SCSI Read (10) command PDU.
TEST_P(Crc32cRoutines, IscsiCommand) {
  constexpr std::array<std::uint8_t, 48> kCommand{0x01, 0xc0, 0, 0, 0, 0, 0,    0, 0,    0, 0, 0,    0, 0, 0, 0,
                                                  0x14, 0,    0, 0, 0, 0, 0x04, 0, 0,    0, 0, 0x14, 0, 0, 0, 0x18,
                                                  0x28, 0,    0, 0, 0, 0, 0,    0, 0x02, 0, 0, 0,    0, 0, 0, 0};
  EXPECT_EQ(crc_by(GetParam(), std::as_bytes(std::span(kCommand))), 0xd9963a56U);
}

TEST_P(Crc32cRoutines, PiecesEqualTheWhole) {
  use_crc32c(GetParam());
  const std::vector<std::byte> octets = noise(1000);
  const Bytes whole(octets);
  for (std::size_t cut = 0; cut <= octets.size(); cut += 37) {
    EXPECT_EQ(Crc32c{}.update(whole.first(cut)).update(whole.subspan(cut)).value(), crc32c(whole)) << cut;
  }
}

TEST_P(Crc32cRoutines, IsTheOneInUseOnceAskedFor) {
  use_crc32c(GetParam());
  const Crc32cChoice by_itself = choose_crc32c(crc32c_features());
  EXPECT_EQ(crc32c_in_use().routine, GetParam());
  EXPECT_EQ(crc32c_in_use().reason, GetParam() == by_itself.routine ? by_itself.reason : "asked for");
}

INSTANTIATE_TEST_SUITE_P(Crc32c, Crc32cRoutines, testing::Values(Crc32cRoutine::kIsaL, Crc32cRoutine::kPortable),
                         [](const auto& info) { return info.param == Crc32cRoutine::kIsaL ? "IsaL" : "Portable"; });

TEST(Crc32c, RoutinesAgreeOnEveryLengthAndAlignment) {
  const std::vector<std::byte> octets = noise(8 + 1500);
  for (std::size_t offset = 0; offset < 8; ++offset) {
    for (std::size_t size = 0; size <= 1500; size += size < 300 ? 1 : 61) {
      const Bytes piece = Bytes(octets).subspan(offset, size);
      ASSERT_EQ(crc_by(Crc32cRoutine::kIsaL, piece), crc_by(Crc32cRoutine::kPortable, piece)) << offset << ' ' << size;
    }
  }
  const std::vector<std::byte> large = noise(70'003);
  EXPECT_EQ(crc_by(Crc32cRoutine::kIsaL, large), crc_by(Crc32cRoutine::kPortable, large));
}

TEST(Crc32c, OneRoutineFinishesWhatTheOtherBegan) {
  const std::vector<std::byte> octets = noise(777);
  const Bytes whole(octets);
  for (std::size_t cut = 0; cut <= octets.size(); cut += 11) {
    const auto begun = advance_crc32c(Crc32cRoutine::kIsaL, kBegin, whole.first(cut));
    EXPECT_EQ(~advance_crc32c(Crc32cRoutine::kPortable, begun, whole.subspan(cut)), crc32c(whole)) << cut;
  }
}

TEST(Crc32c, MayBeSwitchedWhileItIsComputed) {
  const std::vector<std::byte> octets = noise(4096);
  const std::uint32_t expected = crc32c(octets);
  std::thread other([] {
    for (int i = 0; i < 2000; ++i) use_crc32c(i % 2 == 0 ? Crc32cRoutine::kPortable : Crc32cRoutine::kIsaL);
  });
  for (int i = 0; i < 500; ++i) EXPECT_EQ(crc32c(octets), expected);
  other.join();
  use_crc32c(choose_crc32c(crc32c_features()).routine);
}

#if defined(__x86_64__)
TEST(Crc32c, ChoiceFollowsTheProcessor) {
  const Crc32cChoice old = choose_crc32c({});
  EXPECT_EQ(old.routine, Crc32cRoutine::kPortable);
  EXPECT_NE(old.reason.find("no SSE4.2"), std::string_view::npos);
  EXPECT_EQ(choose_crc32c({.sse4_2 = true}).routine, Crc32cRoutine::kIsaL);
  const Crc32cChoice usual = choose_crc32c({.sse4_2 = true, .pclmulqdq = true});
  EXPECT_EQ(usual.routine, Crc32cRoutine::kIsaL);
  EXPECT_EQ(usual.reason, "the processor has SSE4.2 and PCLMULQDQ");
  const Crc32cChoice newest = choose_crc32c({.sse4_2 = true, .pclmulqdq = true, .avx512 = true});
  EXPECT_EQ(newest.reason, "the processor has AVX-512 and VPCLMULQDQ");
}
#endif

TEST(Crc32c, IsChosenAtStartUp) {
  EXPECT_EQ(crc32c_in_use().routine, choose_crc32c(crc32c_features()).routine);
  EXPECT_EQ(name(Crc32cRoutine::kIsaL), "isa-l");
  EXPECT_EQ(name(Crc32cRoutine::kPortable), "portable");
}

}  // namespace
}  // namespace weft
