// SPDX-License-Identifier: Apache-2.0
// Options that cannot be kept are not taken silently.
#include <gtest/gtest.h>

#include <filesystem>

#include "command.hpp"

namespace weft::test {
namespace {

using Arguments = std::vector<std::string>;

class PcapOption : public testing::TestWithParam<Arguments> {};

TEST_P(PcapOption, RefusesStandardOutput) {
  const TemporaryDirectory directory;
  Arguments arguments{"-C", directory.file("."), weft_command()};
  arguments.insert(arguments.end(), GetParam().begin(), GetParam().end());
  arguments.insert(arguments.end(), {"--pcap", "-"});
  const Ended ended = Command(arguments, "env").wait();
  EXPECT_EQ(ended.exit_code, 2) << ended.out << ended.err;
  EXPECT_TRUE(is_one_line(ended.err)) << ended.err;
  EXPECT_NE(ended.err.find("--pcap: '-'"), std::string::npos) << ended.err;
  EXPECT_FALSE(std::filesystem::exists(directory.file("-")));
}

TEST_P(PcapOption, NamesAFileThatCannotBe) {
  Arguments arguments = GetParam();
  arguments.insert(arguments.end(), {"--pcap", "/nonexistent/x"});
  const Ended ended = run(arguments);
  EXPECT_EQ(ended.exit_code, 2) << ended.out << ended.err;
  EXPECT_TRUE(is_one_line(ended.err)) << ended.err;
  EXPECT_NE(ended.err.find("/nonexistent/x: No such file or directory"), std::string::npos) << ended.err;
}

INSTANTIATE_TEST_SUITE_P(Commands, PcapOption,
                         testing::Values(Arguments{"info"}, Arguments{"demo"}, Arguments{"bench", "lat"},
                                         Arguments{"rping", "-s"}, Arguments{"rping", "-c", "-a", "127.0.0.1"}));

// What follows "--" are operands (POSIX, Utility Syntax Guideline 10).
class DoubleDash : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::copy_file(WEFT_SAMPLE, directory_.file("-x.pcap")); }

  // In the directory of "-x.pcap".
  [[nodiscard]] Ended run_here(const Arguments& arguments) const {
    Arguments words{"-C", directory_.file("."), weft_command()};
    words.insert(words.end(), arguments.begin(), arguments.end());
    return Command(words, "env").wait();
  }
  [[nodiscard]] std::string path(const std::string& name) const { return directory_.file(name); }

 private:
  TemporaryDirectory directory_{};
};

TEST_F(DoubleDash, EndsTheOptions) {
  const Ended audited = run_here({"audit", "--summary", "./-x.pcap"});
  EXPECT_EQ(run_here({"audit", "--summary", "--", "-x.pcap"}).out, audited.out) << audited.err;
  EXPECT_EQ(run_here({"--", "audit", "--summary", "--", "-x.pcap"}).out, audited.out);
  EXPECT_EQ(run_here({"--log", "warn", "--", "audit", "--summary", "-x.pcap"}).exit_code, 2) << "an option of audit";
  const Ended dissected = run_here({"dissect", "--fields", "./-x.pcap"});
  EXPECT_GT(dissected.out.size(), 1000U) << dissected.err;
  EXPECT_EQ(run_here({"dissect", "--fields", "--", "-x.pcap"}).out, dissected.out);
  EXPECT_EQ(run_here({"explain", "--text", "--", "-x.pcap"}).out, run_here({"explain", "--text", "./-x.pcap"}).out);
  EXPECT_EQ(run_here({"keys", "--", "-made"}).exit_code, 0);
  EXPECT_TRUE(std::filesystem::is_directory(path("-made")));
}

TEST_F(DoubleDash, KeepsWordsBehindItFromBeingOptions) {
  const Ended json = run_here({"audit", "--", "--json", "out.json"});
  EXPECT_EQ(json.exit_code, 2);
  EXPECT_NE((json.out + json.err).find("--json: No such file"), std::string::npos) << json.out << json.err;
  EXPECT_FALSE(std::filesystem::exists(path("out.json")));
  EXPECT_EQ(run_here({"audit", "--", "--help"}).exit_code, 2);
}

TEST(Rping, SaysThatAClientIgnoresP) {
  const Ended ended = run({"rping", "-c", "-P", "-a", "127.0.0.1", "-p", std::to_string(free_port())});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_NE(ended.err.find("-P is for the server"), std::string::npos) << ended.err;
  EXPECT_NE(ended.err.find("(connection refused)."), std::string::npos) << "the cause is told once: " << ended.err;
}

}  // namespace
}  // namespace weft::test
