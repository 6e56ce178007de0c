// SPDX-License-Identifier: Apache-2.0
// What the forger makes without a fault is what mpa/ makes, octet by octet; with one, only that is wrong.
#include "probe/forge.hpp"

#include <gtest/gtest.h>

#include "mpa/fpdu_sender.hpp"
#include "probe/messages.hpp"
#include "rdmap/terminate.hpp"

namespace weft::probe {
namespace {

std::vector<std::byte> sealed(mpa::FpduSender& sender, Bytes ulpdu) {
  std::vector<std::byte> room(sender.fpdu_size(ulpdu.size()));
  std::ranges::copy(ulpdu, room.begin() + static_cast<std::ptrdiff_t>(sender.prefix_size()));
  sender.seal(room, ulpdu.size());
  return room;
}

// Sizes whose ends come to lie before, at and after Markers.
TEST(Forge, FpdusAreThoseOfMpa) {
  for (const bool markers : {false, true}) {
    for (const bool crc : {false, true}) {
      mpa::FpduSender sender({.crc = crc, .markers = markers});
      Framer framer({.crc = crc, .markers = markers});
      for (std::size_t size = 1; size < 1100; size += size < 40 ? 1 : 13) {
        const auto ulpdu = pattern(size);
        ASSERT_EQ(framer.fpdu(ulpdu), sealed(sender, ulpdu)) << size << (markers ? " with" : " without") << " Markers";
      }
    }
  }
}

std::string refusal(mpa::Framing framing, const FpduFault& fault, std::size_t size = 600) {
  Framer framer(framing);
  FrameReader reader(framing);
  auto octets = framer.fpdu(pattern(size), fault);
  const auto taken = reader.take(octets);
  return taken ? "" : taken.error();
}

TEST(Forge, FaultsAreSeenAndNothingElseIsWrong) {
  const mpa::Framing markers{.crc = true, .markers = true};
  const std::string crc = "the CRC of the peer's FPDU is wrong",
                    marker = "a Marker of the peer's does not point to the beginning of its FPDU";
  EXPECT_EQ(refusal(markers, {}), "");
  EXPECT_EQ(refusal(markers, {.pad = std::byte{7}}, 601), "") << "PAD is covered as it is";
  EXPECT_EQ(refusal(markers, {.marker_reserved = 0xFFFF}), "") << "its CRC covers it as it is";
  EXPECT_EQ(refusal(markers, {.marker_pointer_xor = 3}), "") << "the two low bits mean nothing";
  EXPECT_EQ(refusal(markers, {.marker_pointer_xor = 4}), marker);
  EXPECT_EQ(refusal(markers, {.marker_pointer_xor = 4, .marker = 1}), marker);
  EXPECT_EQ(refusal(markers, {.marker_pointer_xor = 4, .marker = 9}), "") << "there is no tenth";
  EXPECT_EQ(refusal(markers, {.crc_xor = 1}), crc);
  EXPECT_EQ(refusal(markers, {.crc = 0}), crc);
  EXPECT_EQ(refusal({.crc = false}, {.crc = 0}), "");
  for (std::size_t at = 2; at < 600; at += 31) EXPECT_EQ(refusal({}, {.flip = at}), crc) << at;
}

TEST(Forge, LengthSaysWhatItIsTold) {
  Framer framer;
  const auto octets = framer.fpdu(pattern(20), {.length = 4});
  EXPECT_EQ(mpa::UlpduLength::get(octets), 4);
  EXPECT_EQ(octets.size(), mpa::bare_fpdu_size(20));
}

TEST(Forge, StartupFramesAreThoseOfMpa) {
  const auto octets = forge(mpa::FrameKind::kRequest, {.revision = 2, .markers = true, .private_data = pattern(10)});
  const auto frame = mpa::parse_startup_frame(octets, mpa::FrameKind::kRequest).value().value();
  EXPECT_EQ(frame.size(), octets.size());
  EXPECT_TRUE(frame.markers && frame.crc && !frame.reject);
  EXPECT_EQ(frame.enhanced, (mpa::EnhancedData{.ird = 16, .ord = 16}));
  EXPECT_TRUE(std::ranges::equal(frame.private_data, pattern(10)));
}

TEST(Forge, StartupFramesWithFaults) {
  const auto long_one = forge(mpa::FrameKind::kReply, {.enhanced = {}, .private_data = pattern(513)});
  EXPECT_EQ(mpa::parse_startup_frame(long_one, mpa::FrameKind::kReply).error(), mpa::Fault::kPrivateDataTooLong);
  const auto said = forge(mpa::FrameKind::kReply, {.enhanced = {}, .private_data_length = 0xFFFF});
  EXPECT_EQ(said.size(), mpa::kFixedFrameSize);
  EXPECT_EQ((Be<18, std::uint16_t>::get(said)), 0xFFFF);
  const auto without = forge(mpa::FrameKind::kReply, {.enhanced_flag = false});
  EXPECT_FALSE(mpa::parse_startup_frame(without, mpa::FrameKind::kReply).value().value().enhanced);
  EXPECT_EQ(forge(mpa::FrameKind::kReply, {.enhanced = {}, .reserved = 0x0F})[16], std::byte{0x4F});
}

TEST(Messages, AreNumberedByQueue) {
  Messages make;
  EXPECT_EQ(ddp::UntaggedLayout::MsnField::get(make.send({})), 1U);
  EXPECT_EQ(ddp::UntaggedLayout::MsnField::get(make.send_segment(pattern(4), 0, false)), 2U);
  EXPECT_EQ(ddp::UntaggedLayout::MsnField::get(make.send_segment(pattern(4), 4, true)), 2U);
  EXPECT_EQ(ddp::UntaggedLayout::MsnField::get(make.read_request({})), 1U) << "another queue";
  EXPECT_EQ(make.next_msn(0), 3U);
}

// RFC 5040 section 4.4 and RFC 7306 section 5.2: the lengths after the DDP header.
TEST(Messages, HaveTheLengthsOfTheRfcs) {
  Messages make;
  EXPECT_EQ(make.read_request({}).size(), 18U + 28U);
  EXPECT_EQ(make.atomic({}).size(), 18U + 52U);
  EXPECT_EQ(make.atomic_response({}).size(), 18U + 12U);
  EXPECT_EQ(make.immediate(1).size(), 18U + 8U);
  EXPECT_EQ(make.write({1}, {2}, pattern(3)).size(), 14U + 3U);
}

}  // namespace
}  // namespace weft::probe
