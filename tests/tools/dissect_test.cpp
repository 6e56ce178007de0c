// SPDX-License-Identifier: Apache-2.0
// `weft dissect` as a user runs it: the ladder, the fields, what it says when there is nothing to show, and pipes.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <csignal>
#include <fstream>
#include <sstream>

#include "command.hpp"

namespace weft::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string sample(const std::string& name) { return std::string(WEFT_PCAP_SAMPLES) + '/' + name; }

std::string octets_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// tshark reads the same in this capture: the messages of packets 6 to 20, with their STags, TOs, MSNs and sizes.
// clang-format off: one line of the ladder a line
constexpr const char* kStory =
    "connection 0, packets 1 to 23\n"
    "     seconds   packet  initiator 192.0.2.1:47174        192.0.2.2:7174 responder\n"
    "    0.000003        4  MPA Request: rev 2, CRC, IRD 8 ORD 8 ------------------->\n"
    "    0.000004        5  <--------------------- MPA Reply: rev 2, CRC, IRD 8 ORD 8\n"
    "    0.000005        6  Send: MSN 1, 16 octets --------------------------------->\n"
    "    0.000006        7  <--------------------------------- Send: MSN 1, 16 octets\n"
    "    0.000008        9  RDMA Write: 64 octets, STag 0x10203040 TO 0x1000, ------>\n"
    "                       2 FPDUs, packets 8 to 9\n"
    "    0.000009       10  RDMA Read Request: MSN 1, 24 octets, ------------------->\n"
    "                       source STag/TO 0x10203040/0x1000,\n"
    "                       sink 0x55667700/0x2000\n"
    "    0.000011       12  <------------------------- RDMA Read Response: 24 octets,\n"
    "                            STag 0x55667700 TO 0x2000, 2 FPDUs, packets 11 to 12\n"
    "    0.000013       14  Send: MSN 2, 26 octets, 2 FPDUs, packets 13 to 14 ------>\n"
    "    0.000014       15  Atomic Request FetchAdd: MSN 2, identifier 0x77, ------->\n"
    "                       STag 0x10203040 TO 0x1008\n"
    "    0.000015       16  <--------------- Atomic Response: MSN 1, identifier 0x77,\n"
    "                                                             original value 0x29\n"
    "    0.000016       17  Send with Invalidate: MSN 3, 17 octets, ---------------->\n"
    "                       invalidates STag 0x10203040\n"
    "    0.000017       18  Immediate Data: MSN 4, 38 20 6f 63 74 65 74 73 --------->\n"
    "    0.000018       19  Send: MSN 5, 19 octets --------------------------------->\n"
    "    0.000019       20  <--------------------------------- Send: MSN 2, 19 octets\n"
    "    0.000020       21  FIN ---------------------------------------------------->\n"
    "    0.000021       22  <---------------------------------------------------- FIN\n"
    "\n";
// clang-format on

TEST(Dissect, ShowsTheLadderOfAStory) {
  const Ended ended = run({"dissect", "--overview", sample("forged/story.pcap")});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(ended.out, kStory);
}

TEST(Dissect, ShowsTheLadderAndThenTheFields) {
  const std::string ladder = run({"dissect", "--overview", sample("forged/story.pcap")}).out;
  const std::string fields = run({"dissect", "--fields", sample("forged/story.pcap")}).out;
  EXPECT_THAT(fields, StartsWith("fields: layer, octet within the frame or FPDU, name, value, meaning\n"));
  EXPECT_EQ(run({"dissect", sample("forged/story.pcap")}).out, ladder + fields);
}

TEST(Dissect, SaysOfWhatAnOffsetIs) {
  const Ended ended = run({"dissect", "--packet", "10", sample("forged/story.pcap")});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("octets from octet 54 of packet 10 on, stream offset "));
}

// The sentences are those of mpa/, ddp/ and rdmap/text.hpp; without them the fields are as ever.
TEST(Dissect, ExplainsEachFieldAndEachBit) {
  const std::string plain = run({"dissect", "--packet", "10", sample("forged/story.pcap")}).out;
  const std::string text = run({"dissect", "--explain", "--packet", "10", sample("forged/story.pcap")}).out;
  EXPECT_THAT(text, AllOf(HasSubstr("\n                 The number of octets to read, which may be 0.\n"),
                          HasSubstr("\n                   L=1: Set if the segment is the last one of its message.\n")));
  std::istringstream lines(text);
  std::string fields;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("                 ")) fields += line + '\n';
  }
  EXPECT_EQ(fields, plain);
}

TEST(Dissect, ShowsATerminateInRed) {
  const std::string capture = sample("21-term-read-bad-stag.pcap");
  const std::string text = run({"--color", "always", "dissect", capture}).out;
  EXPECT_THAT(text, HasSubstr("\x1b[1;31mTerminate:"));
  EXPECT_THAT(text, HasSubstr("\x1b[1;31mError Code "));
  EXPECT_THAT(text, HasSubstr("\x1b[36mMPA Request:"));
}

// A packet whose octets belong to an FPDU that ends later has that FPDU shown.
TEST(Dissect, ShowsTheWholeFpduOfAPacketInItsMiddle) {
  const Ended ended = run({"dissect", "--packet", "12", sample("56-gso-mtu1500.pcap")});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("packets "));
}

struct Nothing {
  std::vector<std::string> arguments;
  std::string sentence;
};

class NothingToShow : public testing::TestWithParam<Nothing> {};

TEST_P(NothingToShow, IsOneSentenceAndExitCode1) {
  std::vector<std::string> words{"dissect"};
  words.insert(words.end(), GetParam().arguments.begin(), GetParam().arguments.end());
  words.push_back(sample("forged/story.pcap"));
  const Ended ended = run(words);
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_EQ(ended.out, "");
  EXPECT_EQ(ended.err, "weft dissect: " + GetParam().sentence + '\n');
}

INSTANTIATE_TEST_SUITE_P(
    Dissect, NothingToShow,
    testing::Values(Nothing{{"--packet", "99"}, "there is no packet 99: the capture has 1 to 23."},
                    Nothing{{"--packet", "0"}, "there is no packet 0: the capture has 1 to 23."},
                    Nothing{{"--packet", "1"}, "packet 1 carries no octet of an iWARP connection."},
                    Nothing{{"--connection", "7"}, "there is no iWARP connection 7: that of the capture is 0."},
                    Nothing{{"--connection", "7", "--packet", "10"},
                            "packet 10 is of connection 0, not of connection 7."}));

TEST(Dissect, WithoutIwarpNothingIsSelectedEither) {
  const Ended ended = run({"dissect", "--packet", "1", sample("32-refused-no-mpa.pcap")});
  EXPECT_EQ(ended.exit_code, 3);
  EXPECT_THAT(ended.err, HasSubstr("no iWARP connection in "));
}

TEST(Dissect, RefusesAnOverviewOfAPacket) {
  EXPECT_EQ(run({"dissect", "--overview", "--packet", "1", "x.pcap"}).exit_code, 2);
  EXPECT_EQ(run({"dissect", "--overview", "--fields", "x.pcap"}).exit_code, 2);
}

// What a pipe brings is told as it comes, and ^C ends a quiet one: what was read is a success.
TEST(Dissect, TellsWhatAPipeBringsUntilInterrupted) {
  const TemporaryDirectory directory;
  const std::string pipe = directory.file("packets");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  Command command({"dissect", pipe});
  std::ofstream writer(pipe, std::ios::binary);  // waits for the reader
  writer << octets_of(sample("forged/story.pcap")) << std::flush;
  EXPECT_TRUE(command.wait_for_output("Immediate Data:"));
  EXPECT_TRUE(command.wait_for_output("FPDU 3 of the initiator"));
  command.signal(SIGINT);
  const Ended ended = command.wait();
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  const auto line = ended.out.find("RDMA Read Request:");
  const auto fields = ended.out.find("SinkSTag");
  EXPECT_LT(line, fields);  // the line of the ladder is the heading
}

TEST(Dissect, AQuietPipeCanBeInterrupted) {
  const TemporaryDirectory directory;
  const std::string pipe = directory.file("packets");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  Command command({"dissect", pipe});
  const std::ofstream writer(pipe, std::ios::binary);  // the reader is there, and so is its handler of ^C
  command.signal(SIGINT);
  EXPECT_EQ(command.wait().exit_code, 2);  // no capture: nothing of it came
}

}  // namespace
}  // namespace weft::test
