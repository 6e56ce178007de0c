// SPDX-License-Identifier: Apache-2.0
// `weft demo`: succeeds, and tshark finds in its capture what it claims, with good CRCs and nothing malformed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <map>

#include "command.hpp"
#include "mpa/fpdu_receiver.hpp"
#include "tests/captures/capture_file.hpp"
#include "tests/captures/tshark.hpp"

namespace weft::test {
namespace {

using Arguments = std::vector<std::string>;

TEST(Demo, PassesAndWritesWhereItIsTold) {
  const TemporaryDirectory directory;
  const std::string capture = directory.file("d.pcap");
  const Ended ended = run({"demo", "--pcap", capture});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(ended.err, "");
  for (const char* expected : {"Send  ", "RDMA Write", "RDMA Read", "FetchAdd", "CmpSwap", "Send with Invalidate",
                               "MPA  ", "DDP  ", "RDMAP  ", "every CRC32C right", "Verdict: PASSED"}) {
    EXPECT_NE(ended.out.find(expected), std::string::npos) << expected << "\n" << ended.out;
  }
  EXPECT_TRUE(std::filesystem::exists(capture));
}

TEST(Demo, WritesDemoPcapIntoTheCurrentDirectory) {
  const TemporaryDirectory directory;
  Command command({"-C", directory.file("."), weft_command(), "demo"}, "env");
  const Ended ended = command.wait();
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_TRUE(std::filesystem::exists(directory.file("demo.pcap")));
}

TEST(Demo, GlobalOptionsMayComeFirst) {
  const TemporaryDirectory directory;
  EXPECT_EQ(run({"--log", "error", "--pcap", directory.file("d.pcap"), "demo"}).exit_code, 0);
  EXPECT_TRUE(std::filesystem::exists(directory.file("d.pcap")));
}

TEST(Demo, TwoAtATimeDoNotMeet) {
  const TemporaryDirectory directory;
  Command one({"demo", "--pcap", directory.file("1.pcap")});
  Command two({"demo", "--pcap", directory.file("2.pcap")});
  EXPECT_EQ(one.wait().exit_code, 0) << one.err();
  EXPECT_EQ(two.wait().exit_code, 0) << two.err();
}

// Whole messages by opcode: segments with the L flag.
std::map<std::string, int> count_messages(const captures::Dissection& seen) {
  std::map<std::string, int> messages;
  for (const captures::Frame& frame : seen.frames) {
    const auto opcode = frame.fields.find("iwarp_rdma.opcode");
    if (opcode != frame.fields.end() && frame.fields.at("iwarp_ddp.last_flag") == "1") ++messages[opcode->second];
  }
  return messages;
}

std::size_t fpdus(const captures::Dissection& seen) {
  return static_cast<std::size_t>(std::ranges::count(seen.frames, captures::FrameType::kFpdu, &captures::Frame::type));
}

class DemoCapture : public testing::TestWithParam<Arguments> {};

// Every operation is there, under its number, and tshark agrees with each CRC.
TEST_P(DemoCapture, IsWhatTsharkSees) {
  if (!captures::have_tshark()) {
    GTEST_SKIP() << "tshark is not installed: nobody but weft has read what the demo writes (Debian package tshark)";
  }
  const TemporaryDirectory directory;
  const std::string capture = directory.file("d.pcap");
  Arguments arguments{"demo", "--pcap", capture};
  arguments.insert(arguments.end(), GetParam().begin(), GetParam().end());
  ASSERT_EQ(run(arguments).exit_code, 0);
  const captures::Dissection seen = captures::dissect(capture);
  const std::map<std::string, int> messages = count_messages(seen);
  // Two Sends beside the first ask the server to look at its memory; it answers four times.
  const std::map<std::string, int> expected{{"0", 1}, {"1", 1}, {"2", 1}, {"3", 7}, {"4", 1}, {"10", 3}, {"11", 3}};
  EXPECT_EQ(messages, expected);
  EXPECT_THAT(seen.notes, testing::IsEmpty());
  const bool crc = std::ranges::find(GetParam(), "--no-crc") == GetParam().end();
  EXPECT_EQ(seen.good_crcs, crc ? fpdus(seen) : 0U);
  EXPECT_EQ(seen.bad_crcs, 0U);
}

INSTANTIATE_TEST_SUITE_P(Framings, DemoCapture,
                         testing::Values(Arguments{}, Arguments{"--no-crc"}, Arguments{"--mpa-rev", "1"},
                                         Arguments{"--markers"}, Arguments{"--markers", "--no-crc"}));

// tshark loses a stream with Markers in which a packet holds more than one FPDU (docs/tshark.md).
TEST(Demo, WithMarkersEachFpduHasAPacket) {
  const TemporaryDirectory directory;
  ASSERT_EQ(run({"demo", "--markers", "--pcap", directory.file("d.pcap")}).exit_code, 0);
  const auto connections = captures::read_connections(directory.file("d.pcap"));
  ASSERT_EQ(connections.size(), 1U);
  for (const captures::Side side : {captures::Side::kClient, captures::Side::kServer}) {
    mpa::FpduReceiver fpdus({.crc = true, .markers = true});
    std::size_t packets = 0;
    for (captures::Chunk chunk : connections.front().chunks) {
      if (chunk.from != side || packets++ == 0) continue;  // the first is the startup frame
      const auto fpdu = fpdus.next(chunk.octets);
      ASSERT_TRUE(fpdu && *fpdu) << "packet " << packets;
      EXPECT_EQ((*fpdu)->consumed, chunk.octets.size()) << "packet " << packets;
    }
    EXPECT_GT(packets, 10U);
  }
}

TEST(Demo, WithMarkers) {
  const TemporaryDirectory directory;
  const Ended ended = run({"demo", "--markers", "--pcap", directory.file("d.pcap")});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_NE(ended.out.find(" Markers\n"), std::string::npos) << ended.out;
  EXPECT_EQ(ended.out.find("no Markers"), std::string::npos) << ended.out;
}

TEST(Demo, WithTls) {
  const TemporaryDirectory directory;
  const Ended ended =
      run({"--log", "info", "demo", "--policy", "tls=require,crc=off", "--pcap", directory.file("d.pcap")});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, testing::ContainsRegex("TLS 1.3 +ok   TLS_.*; the peer is CN=both ends of this run"));
  EXPECT_THAT(ended.out, testing::HasSubstr("no CRC")) << "what the other keys say holds, too";
  EXPECT_THAT(ended.err, testing::HasSubstr("TLS 1.3 with TLS_"));
}

// Files that are named are the ones that count: without a CA the client cannot tell who the server is.
TEST(Demo, KeysOfItsOwnAreForThoseWhoNameNone) {
  const TemporaryDirectory directory;
  ASSERT_EQ(run({"keys", directory.file("keys")}).exit_code, 0);
  const std::string one = "tls=require,tls-certificate=" + directory.file("keys/server.pem");
  const Ended alone = run({"demo", "--policy", one, "--pcap", directory.file("d.pcap")});
  EXPECT_EQ(alone.exit_code, 1) << alone.out;
  EXPECT_THAT(alone.err, testing::HasSubstr("to connect needs it"));
  const Ended both =
      run({"demo", "--policy", one + ",tls-ca=" + directory.file("keys/ca.pem"), "--pcap", directory.file("d.pcap")});
  EXPECT_EQ(both.exit_code, 0) << both.err;
  EXPECT_THAT(both.out, testing::HasSubstr("the peer is CN=weft server"));
  const Ended wrong = run({"demo", "--policy", "tls=perhaps"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, testing::HasSubstr("--policy: tls=perhaps"));
}

TEST(Demo, DiesQuietlyWithItsParent) {
  const TemporaryDirectory directory;
  Command command({"demo", "--pcap", directory.file("d.pcap")});
  command.signal(SIGKILL);
  EXPECT_EQ(command.wait().exit_code, -SIGKILL);
}

}  // namespace
}  // namespace weft::test
