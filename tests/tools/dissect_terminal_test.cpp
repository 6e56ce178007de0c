// SPDX-License-Identifier: Apache-2.0
// What `weft dissect` says on a terminal and nowhere else: how far it has read, and that it reads standard input.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <regex>
#include <sstream>

#include "command.hpp"
#include "terminal.hpp"

namespace weft::test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kFrames = WEFT_PCAP_SAMPLES "/forged/story.pcap";
constexpr const char* kReading = "weft dissect: reading packets from the standard input until it ends or ^C.";

// A capture with the packets of another one, `times` times.
void repeat(const std::string& from, const std::string& to, int times) {
  constexpr std::size_t kFileHeader = 24;
  std::ifstream in(from, std::ios::binary);
  const std::string octets{std::istreambuf_iterator<char>(in), {}};
  std::ofstream out(to, std::ios::binary);
  out << octets.substr(0, kFileHeader);
  for (int i = 0; i < times; ++i) out << octets.substr(kFileHeader);
}

class OnATerminal : public testing::Test {
 protected:
  // `script` is for sh; "$0" is weft, "$1" the terminal, "$2" the capture.
  Ended run_script(const std::string& script, const std::string& capture = kFrames) {
    Command shell({"-c", script, weft_command(), terminal_.path(), capture}, "sh");
    return shell.wait();
  }

  Terminal terminal_;
};

TEST_F(OnATerminal, DissectShowsHowFarItHasReadAndWipesIt) {
  const TemporaryDirectory directory;
  const std::string capture = directory.file("long.pcap");
  repeat(kFrames, capture, 400);  // of 23 packets
  const Ended ended = run_script(R"(exec "$0" dissect --overview "$2" 2>"$1")", capture);
  EXPECT_EQ(ended.exit_code, 0) << terminal_.text();
  const std::string& shown = terminal_.text();
  EXPECT_THAT(shown, ContainsRegex("\r\\[#+ +\\]  [0-9]+ %, 4096 packets"));
  EXPECT_THAT(shown, ContainsRegex("\r\\[#+ +\\]  [0-9]+ %, 8192 packets"));
  EXPECT_TRUE(shown.ends_with('\r' + std::string(78, ' ') + '\r')) << shown;
}

// The bar would stand between the lines.
TEST_F(OnATerminal, FieldsOnTheSameTerminalHaveNoBar) {
  const TemporaryDirectory directory;
  const std::string capture = directory.file("long.pcap");
  repeat(kFrames, capture, 400);
  const Ended ended = run_script(R"(exec "$0" dissect --packet 6 "$2" >"$1" 2>"$1")", capture);
  EXPECT_EQ(ended.exit_code, 0) << terminal_.text();
  EXPECT_THAT(terminal_.text(), HasSubstr("packet 6"));
  EXPECT_THAT(terminal_.text(), Not(HasSubstr("4096 packets")));
}

TEST_F(OnATerminal, DissectSaysThatItReadsStandardInput) {
  const Ended ended = run_script(R"(exec "$0" dissect --overview - <"$2" 2>"$1")");
  EXPECT_EQ(ended.exit_code, 0) << terminal_.text();
  EXPECT_THAT(terminal_.text(), testing::StartsWith(kReading));
}

TEST_F(OnATerminal, ElsewhereItSaysNothing) {
  EXPECT_EQ(run_script(R"(exec "$0" dissect --overview - <"$2")").err, "");
  EXPECT_EQ(run_script(R"(exec "$0" dissect --overview "$2" 2>"$1")").exit_code, 0);
  EXPECT_THAT(terminal_.text(), Not(HasSubstr("reading packets"))) << "of a file";
}

// --- What is for people fits the terminal.

// Longest line, without the codes of colors.
std::size_t longest_line(std::string text) {
  static const std::regex kCodes("\x1b\\[[0-9;]*m|\r");
  text = std::regex_replace(text, kCodes, "");
  std::size_t longest = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) longest = std::max(longest, line.size());
  return longest;
}

class Fits : public testing::TestWithParam<unsigned short> {};

TEST_P(Fits, TheTerminal) {
  for (const char* words : {"--help", "bench lat --help", "run --help", "probe --help", "dissect --overview \"$2\"",
                            "audit 20-term-write-bad-stag.pcap", "audit 31-privdata.pcap"}) {
    Terminal terminal(GetParam());
    const std::string script = std::string("cd " WEFT_PCAP_SAMPLES R"( && "$0" )") + words + R"( >"$1")";
    static_cast<void>(Command({"-c", script, weft_command(), terminal.path(), kFrames}, "sh").wait());
    EXPECT_GT(terminal.text().size(), 200U) << words;
    EXPECT_LE(longest_line(terminal.text()), GetParam()) << words << '\n' << terminal.text();
  }
}

INSTANTIATE_TEST_SUITE_P(Columns, Fits, testing::Values(40, 80, 132));

TEST(WithoutATerminal, ReportsFit80Columns) {
  const std::vector<std::vector<std::string>> commands{{"dissect", "--overview", kFrames},
                                                       {"audit", WEFT_PCAP_SAMPLES "/20-term-write-bad-stag.pcap"},
                                                       {"run", "--help"}};
  for (const std::vector<std::string>& words : commands) {
    const Ended ended = run(words);
    EXPECT_GT(longest_line(ended.out), 60U);
    EXPECT_LE(longest_line(ended.out), 80U) << ended.out;
  }
}

}  // namespace
}  // namespace weft::test
