// SPDX-License-Identifier: Apache-2.0
// A user's own profile: what its file may say, what it says of faults, and what is done with a peer.
#include "probe/profile.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <sstream>
#include <thread>

#include "probe/socket.hpp"
#include "probe/way_listening.hpp"
#include "probe/way_profile.hpp"

namespace weft::probe {
namespace {

const std::string kFirst = "weft probe profile 1\n";

std::string fault_of(const std::string& lines) {
  const auto read = parse_profile(kFirst + lines);
  return read ? "none" : read.error();
}

TEST(Profile, IsRead) {
  const auto read = parse_profile(
      "# a ULP\n\n" + kFirst +
      "private-data 0102 \"ab\" zeros:2   # six octets\nempty-write no\nat-a-time 3\ntakes-sends yes\natomics yes\n"
      "expect send 20\nsend ff\nexpect read 01\nexpect write\n"
      "region private-data stag 0 offset 4/4 length =65536 rights read,write\n"
      "region send 1 stag 8 offset =0x1000 length 12/2 rights atomic\n"
      "read 77 {offset} {stag} {size:2}\nalive read\n");
  ASSERT_TRUE(read) << read.error();
  const std::vector<std::byte> data{std::byte{1}, std::byte{2}, std::byte{'a'}, std::byte{'b'}, {}, {}};
  EXPECT_EQ(read->private_data, data);
  EXPECT_FALSE(read->empty_write);
  EXPECT_TRUE(read->takes_sends && read->atomics && read->alive_by_read);
  EXPECT_EQ(read->at_a_time, 3U);
  ASSERT_EQ(read->steps.size(), 4U);
  EXPECT_EQ(read->steps[0].size, 20U);
  EXPECT_EQ(read->steps[2].kind, ProfileStep::kExpectRead);
  ASSERT_EQ(read->regions.size(), 2U);
  EXPECT_EQ(read->regions[0].offset.width, 4U);
  EXPECT_TRUE(read->regions[0].length.constant);
  EXPECT_EQ(read->regions[0].rights, Region::kRead | Region::kWrite);
  EXPECT_EQ(read->regions[1].source, 1U);
  EXPECT_EQ(read->regions[1].offset.value, 0x1000U);
  const auto filled = read->read->filled({0x01020304}, {0x1112131415161718}, 0x2122);
  ASSERT_EQ(filled.size(), 15U);
  EXPECT_EQ(filled[0], std::byte{0x77});
  EXPECT_EQ(filled[1], std::byte{0x11});
  EXPECT_EQ(filled[9], std::byte{0x01});
  EXPECT_EQ(filled[14], std::byte{0x22});
}

TEST(Profile, SaysHowAStreamIsSeenToLive) {
  EXPECT_FALSE(parse_profile(kFirst + "read {stag}\nalive read\nalive empty-read\n")->alive_by_read);
  EXPECT_TRUE(parse_profile(kFirst + "read {stag}\nalive empty-read\nalive read\n")->alive_by_read);
  EXPECT_EQ(fault_of("alive never"), "line 2: 'alive never' is no line of a profile");
}

TEST(Profile, FaultsNameTheirLine) {
  EXPECT_EQ(fault_of("\nbogus 1\n"), "line 3: 'bogus 1' is no line of a profile");
  EXPECT_EQ(fault_of("send 0"), "line 2: '0' has half an octet too many");
  EXPECT_EQ(fault_of("send 0g"), "line 2: '0g' is not hexadecimal");
  EXPECT_EQ(fault_of("send \"ab"), "line 2: a quote has no end");
  EXPECT_EQ(fault_of("send {stag}"), "line 2: '{stag}' is not hexadecimal");
  EXPECT_EQ(fault_of("read {key}"), "line 2: 'key' is no field: stag, offset and size are");
  EXPECT_EQ(fault_of("read {stag:9}"), "line 2: 9 is more than 8");
  EXPECT_EQ(fault_of("read {stag:0}"), "line 2: a field has 1 to 8 octets");
  EXPECT_EQ(fault_of("private-data zeros:509"), "line 2: 509 is more than 508");
  EXPECT_EQ(fault_of("private-data zeros:508 00"), "line 2: these are more than 508 octets");
  EXPECT_EQ(fault_of("send zeros:99999999999999999999999"), "line 2: '99999999999999999999999' is no number");
  EXPECT_EQ(fault_of("at-a-time 0"), "line 2: at least one connection is needed");
  EXPECT_EQ(fault_of("expect nothing"), "line 2: expect takes send [OCTETS], read DATA, or write");
  EXPECT_EQ(fault_of("region send 1 stag 0 offset 4 length 8 rights read"),
            "line 2: no line above expects a Send number 1");
  EXPECT_EQ(fault_of("region private-data stag 0 offset 4 rights read"),
            "line 2: a region needs stag, offset, length and rights, each with a word after it");
  EXPECT_EQ(fault_of("region private-data stag 0 offset 4 length 8 rights all"),
            "line 2: 'all' is no right: read, write and atomic are");
  EXPECT_EQ(fault_of("empty-write perhaps"), "line 2: empty-write takes yes or no");
  EXPECT_TRUE(fault_of("alive read").find("how a Read is provoked") != std::string::npos);
  EXPECT_EQ(parse_profile("send 01").error(), "line 1: a profile begins with the line 'weft probe profile 1'");
  EXPECT_FALSE(parse_profile(""));
}

TEST(Profile, HasBounds) {
  std::string many;
  for (std::size_t i = 0; i <= Profile::kMostSteps; ++i) many += "send 00\n";
  EXPECT_EQ(fault_of(many), "line 66: more than 64 steps");
  many.clear();
  for (std::size_t i = 0; i <= kMostRegions; ++i) many += "region private-data stag 0 offset 4 length 12 rights read\n";
  EXPECT_EQ(fault_of(many), "line 28: more than 26 regions");
  EXPECT_FALSE(parse_profile(kFirst + std::string(Profile::kMostText, '\n')));
}

// Whatever the file holds, it is read or refused by a sentence.
TEST(Profile, OfAnyOctetsIsReadOrRefused) {
  std::mt19937 numbers(1);
  const std::string good =
      kFirst +
      "private-data 01 \"a\" zeros:2\nexpect send 20\nregion send 1 stag 8 offset 0 length 12 rights read\n"
      "read {offset:8} {stag} {size}\n";
  for (int i = 0; i < 20000; ++i) {
    std::string text = good;
    for (int change = 0; change < 4; ++change)
      text[kFirst.size() + numbers() % (text.size() - kFirst.size())] = static_cast<char>(numbers());
    const auto read = parse_profile(text);
    EXPECT_TRUE(read || read.error().starts_with("line ")) << (read ? "" : read.error());
  }
}

TEST(Profile, OfTheExamplesIsRead) {
  for (const std::string name : {"rping-server.profile", "rping-client.profile"}) {
    std::ifstream file(std::string(WEFT_SOURCE_DIR) + "/examples/probe/" + name);
    std::stringstream text;
    text << file.rdbuf();
    const auto read = parse_profile(text.str());
    EXPECT_TRUE(read) << name << ": " << (read ? "" : read.error());
  }
}

// A peer that connects, and tells of its memory in its first Send; then it takes what is written there.
TEST(ByProfile, LeadsThroughTheOpening) {
  auto socket = std::move(*ListeningSocket::open(*transport::Endpoint::parse("127.0.0.1:0")));
  const auto at = socket->local();
  std::vector<std::byte> said(16), replied;
  Be<0, std::uint64_t>::put(said, 0x7000);
  Be<8, std::uint32_t>::put(said, 0x55);
  Be<12, std::uint32_t>::put(said, 65536);
  std::size_t written = 0;
  std::jthread peer([&] {
    const Duration patience = std::chrono::seconds(5);
    Conversation by(std::move(*connect_to(at, now() + patience)), false, patience);
    const StartUp start_up{};
    by.send_frame(start_up);
    const PeerFrame reply = by.expect_frame(mpa::FrameKind::kReply);
    replied.assign(reply.frame.private_data.begin(), reply.frame.private_data.end());
    by.start_fpdus(start_up, reply.frame);
    by.send_ulpdu(by.make().send(said));
    while (written < 65536) written += by.expect_message(rdmap::Opcode::kWrite).payload().size();
  });
  const auto profile = parse_profile(
      kFirst + "private-data cafe\nexpect send 16\nregion send 1 stag 8 offset 0 length 12 rights read,write\n");
  ASSERT_TRUE(profile) << profile.error();
  EXPECT_TRUE(first_is_the_peers(*profile));
  const auto way =
      way_by_profile("mine", *profile, way_from_peer("raw", {.socket = std::move(socket), .leaves_first = true}));
  EXPECT_EQ(way->offers(), kConnects | kStream | kRegions);
  std::unique_ptr<Conversation> by;
  const Advert advert = way->open({}, by);
  ASSERT_EQ(advert.regions.size(), 1U);
  EXPECT_EQ(advert.regions[0], (Region{.stag = {0x55}, .offset = {0x7000}, .length = 65536, .rights = 3}));
  peer.join();
  EXPECT_EQ(written, 65536U);
  EXPECT_EQ(replied, (std::vector<std::byte>{std::byte{0xCA}, std::byte{0xFE}}));
}

// Leads `profile` through an opening with a peer that connects and does this.
std::unique_ptr<Conversation> opened_with(const Profile& profile, Advert& advert,
                                          const std::function<void(Conversation&)>& peer_does) {
  auto socket = std::move(*ListeningSocket::open(*transport::Endpoint::parse("127.0.0.1:0")));
  const auto at = socket->local();
  const std::jthread peer([&] {
    const Duration patience = std::chrono::seconds(5);
    Conversation by(std::move(*connect_to(at, now() + patience)), false, patience);
    by.send_frame({});
    by.start_fpdus({}, by.expect_frame(mpa::FrameKind::kReply).frame);
    peer_does(by);
  });
  const auto way =
      way_by_profile("mine", profile, way_from_peer("raw", {.socket = std::move(socket), .leaves_first = true}));
  std::unique_ptr<Conversation> by;
  advert = way->open({}, by);
  return by;
}

TEST(ByProfile, OffersWhatTheFileSays) {
  const auto offers = [](const std::string& lines) {
    return way_by_profile("mine", *parse_profile(kFirst + lines), way_from_peer("raw", {}))->offers();
  };
  EXPECT_EQ(offers(""), kConnects | kStream);
  EXPECT_EQ(offers("takes-sends yes\n"), kConnects | kStream | kReceives);
  EXPECT_EQ(offers("atomics yes\n"), kConnects | kStream | kAtomics);
  EXPECT_EQ(offers("read {stag}\n"), kConnects | kStream | kReads);
}

TEST(ByProfile, TakesNoSendThatIsTooShort) {
  const auto profile = parse_profile(kFirst + "expect send 16\n");
  Advert advert;
  const auto sent = [&](std::size_t size) {
    return opened_with(*profile, advert, [&](Conversation& by) { by.send_ulpdu(by.make().send(pattern(size))); });
  };
  EXPECT_NE(sent(16), nullptr);
  try {
    sent(15);
    FAIL() << "it is too short";
  } catch (const Judgement& judgement) {
    EXPECT_STREQ(judgement.what(), "the peer's Send 1 has 15 octets; the profile expects 16 or more");
  }
}

// An answer of more than one segment has each octet in its place, and so has what fills the peer's memory.
TEST(ByProfile, AnswersAndFillsInSeveralPieces) {
  const auto profile =
      parse_profile(kFirst + "expect read 0102\nregion private-data stag =5 offset =4096 length =40000 rights write\n");
  ASSERT_TRUE(profile) << profile.error();
  constexpr std::uint32_t kSize = 40000;
  std::vector<std::byte> answered, filled(kSize);
  Advert advert;
  opened_with(*profile, advert, [&](Conversation& by) {
    by.send_ulpdu(
        by.make().read_request({.sink_stag = {7}, .sink_offset = {0x100}, .size = kSize, .source_stag = {9}}));
    answered = by.expect_read_response({7}, {0x100}, kSize);
    for (std::size_t got = 0; got < kSize;) {
      const PeerFpdu fpdu = by.expect_fpdu("a Write");
      const auto at = ddp::TaggedLayout::ToField::get(fpdu.ulpdu) - 4096;
      ASSERT_LE(at + fpdu.payload().size(), kSize);
      std::ranges::copy(fpdu.payload(), filled.begin() + static_cast<std::ptrdiff_t>(at));
      got += fpdu.payload().size();
    }
  });
  ASSERT_EQ(answered.size(), kSize);
  EXPECT_EQ(answered[0], std::byte{1});
  EXPECT_EQ(answered[1], std::byte{2});
  EXPECT_EQ(std::ranges::count(answered, std::byte{0}), kSize - 2);
  ASSERT_EQ(advert.regions.size(), 1U);
  for (std::size_t i = 0; i < kSize; ++i) ASSERT_EQ(filled[i], first_content(advert.regions[0], i)) << i;
}

}  // namespace
}  // namespace weft::probe
