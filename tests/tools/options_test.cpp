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

TEST(Rping, SaysThatAClientIgnoresP) {
  const Ended ended = run({"rping", "-c", "-P", "-a", "127.0.0.1", "-p", std::to_string(free_port())});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_NE(ended.err.find("-P is for the server"), std::string::npos) << ended.err;
  EXPECT_NE(ended.err.find("(connection refused)."), std::string::npos) << "the cause is told once: " << ended.err;
}

}  // namespace
}  // namespace weft::test
