// SPDX-License-Identifier: Apache-2.0
// The demo's capture in a Wireshark as it is installed: every FPDU is seen, and nothing is called malformed.
#include <gtest/gtest.h>

#include <string>

#include "command.hpp"

namespace weft::test {
namespace {

using Arguments = std::vector<std::string>;

std::string tshark(const std::string& capture, const std::string& filter) {
  Command command({"WIRESHARK_CONFIG_DIR=/nonexistent", "tshark", "-r", capture, "-Y", filter, "-o",
                   "tcp.try_heuristic_first:TRUE"},  // as the demo's last lines say: the port is the system's choice
                  "env");
  return command.wait().out;
}

class DemoInWireshark : public testing::TestWithParam<Arguments> {};

TEST_P(DemoInWireshark, NothingIsMalformed) {
  if (Command({"-c", "tshark --version"}, "sh").wait().exit_code != 0)
    GTEST_SKIP() << "tshark is not installed: nobody has looked for malformed packets (Debian package tshark)";
  const TemporaryDirectory directory;
  const std::string capture = directory.file("d.pcap");
  Arguments arguments{"demo", "--pcap", capture};
  arguments.insert(arguments.end(), GetParam().begin(), GetParam().end());
  const Ended ended = run(arguments);
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_NE(ended.out.find("wireshark -o tcp.try_heuristic_first:TRUE " + capture), std::string::npos) << ended.out;
  EXPECT_EQ(tshark(capture, "_ws.malformed"), "");
  EXPECT_NE(tshark(capture, "iwarp_ddp_rdmap"), "");
}

INSTANTIATE_TEST_SUITE_P(Framings, DemoInWireshark,
                         testing::Values(Arguments{}, Arguments{"--no-crc"}, Arguments{"--mpa-rev", "1"},
                                         Arguments{"--markers"}));

}  // namespace
}  // namespace weft::test
