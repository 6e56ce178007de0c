// SPDX-License-Identifier: Apache-2.0
// Standard output that takes nothing: the command says so and fails, or ends as other Unix tools do.
#include <gtest/gtest.h>

#include <csignal>
#include <string>
#include <vector>

#include "command.hpp"

#define WEFT_SUITE "bench suite --only 'lat send 64, blocking wait' --iters 1 --repetitions 1"

namespace weft::test {
namespace {

// `script` is for sh; "$0" is weft, "$1" a port, "$2" a file in an empty directory.
Ended run_script(const std::string& script, std::uint16_t port = 0) {
  const TemporaryDirectory directory;
  Command shell({"-c", script, weft_command(), std::to_string(port), directory.file("f")}, "sh");
  return shell.wait(std::chrono::seconds(120));
}

class FullDisk : public testing::TestWithParam<std::string> {};

TEST_P(FullDisk, IsAFailureThatIsExplained) {
  const Ended ended = run_script("exec \"$0\" " + GetParam() + " >/dev/full");
  EXPECT_EQ(ended.exit_code, 2) << ended.err;
  EXPECT_TRUE(is_one_line(ended.err)) << ended.err;
  EXPECT_NE(ended.err.find("standard output: No space left on device"), std::string::npos) << ended.err;
}

TEST_P(FullDisk, AndSoIsAClosedDescriptor) {
  const Ended ended = run_script("exec \"$0\" " + GetParam() + " >&-");
  EXPECT_EQ(ended.exit_code, 2) << ended.err;
  EXPECT_NE(ended.err.find("standard output: Bad file descriptor"), std::string::npos) << ended.err;
}

INSTANTIATE_TEST_SUITE_P(Commands, FullDisk,
                         testing::Values("info", "info --json", "--help", "rping --help", "--version", "help bench lat",
                                         "dissect " WEFT_SAMPLE, "dissect --json " WEFT_SAMPLE,
                                         "explain --text " WEFT_SAMPLE, "explain --json " WEFT_SAMPLE,
                                         "explain -o - " WEFT_SAMPLE, "audit " WEFT_SAMPLE, "audit --list",
                                         "audit --json " WEFT_SAMPLE, "demo --pcap \"$2\"", "keys \"$2\"",
                                         "probe --list", "probe-peer -s -p 0", "run --help",
                                         "bench lat --iters 1 --repetitions 1 --json", WEFT_SUITE));

// Descriptor 4 is a pipe whose reader has gone before anything is written.
constexpr const char* kGone = "mkfifo \"$2.pipe\"; exec 3<>\"$2.pipe\"; exec 4>\"$2.pipe\"; exec 3<&-; ";

// SIGPIPE ends the command without a word, as it ends others.
TEST_P(FullDisk, AClosedPipeEndsTheCommand) {
  const Ended ended = run_script(kGone + ("exec \"$0\" " + GetParam() + " >&4 4>&-"));
  EXPECT_EQ(ended.exit_code, -SIGPIPE);
  EXPECT_EQ(ended.err, "");
  const Ended ignored = run_script("trap '' PIPE; " + (kGone + ("exec \"$0\" " + GetParam() + " >&4 4>&-")));
  EXPECT_EQ(ignored.exit_code, 2);
  EXPECT_NE(ignored.err.find("standard output: Broken pipe"), std::string::npos) << ignored.err;
}

// But not one that was asked for a report in a file: nothing is printed, and the report is that of an undisturbed run.
TEST(PrintedToNobody, AReportIsWrittenInFull) {
  const std::string all = " - <\"" WEFT_SAMPLE "\"";  // printed as it goes
  for (const std::string& command : {"audit --json=f" + all, "audit --junit f" + all, "audit --summary --json=f" + all,
                                     std::string("audit --json=f " WEFT_SAMPLE " " WEFT_SAMPLE),
                                     std::string("explain --demo -o f"), std::string("info --json=f")}) {
    for (const std::string nobody : {">&4 4>&-", ">/dev/full"}) {
      const Ended ended = run_script("cd \"${2%/*}\"; \"$0\" " + command + " >/dev/null; mv f expected; " + kGone +
                                     "\"$0\" " + command + ' ' + nobody + "; code=$?; cmp f expected && exit $code");
      EXPECT_EQ(ended.exit_code, 2) << command << nobody << ended.out << ended.err;
      EXPECT_NE(ended.err.find("cannot write to standard output"), std::string::npos) << command << ended.err;
    }
  }
}

// Their figures are never the same.
TEST(PrintedToNobody, FiguresAreWrittenInFull) {
  for (const std::string command : {WEFT_SUITE, "bench lat --iters 1 --repetitions 1"}) {
    for (const std::string nobody : {">&4 4>&-", ">/dev/full"}) {
      const Ended ended =
          run_script(kGone + ("\"$0\" " + command + " --json=\"$2\" " + nobody) + "; code=$?; cat \"$2\"; exit $code");
      EXPECT_EQ(ended.exit_code, 2) << command << nobody << ended.err;
      EXPECT_NE(ended.out.find("\"weft\""), std::string::npos) << command << nobody << ended.out;
    }
  }
}

// Files that the options name.
TEST(FullDiskOfAFile, IsAFailureThatIsExplained) {
  const std::vector<std::string> commands{"audit --quiet --json=/dev/full " WEFT_SAMPLE,
                                          "audit --quiet --junit /dev/full " WEFT_SAMPLE,
                                          "demo --pcap /dev/full",
                                          "explain --demo -o /dev/full",
                                          "explain --demo --json=/dev/full",
                                          "dissect --json=/dev/full " WEFT_SAMPLE,
                                          "info --json=/dev/full",
                                          "bench lat --iters 1 --repetitions 1 --json=/dev/full",
                                          WEFT_SUITE " --json=/dev/full",
                                          WEFT_SUITE " --output /dev/full",
                                          WEFT_SUITE " --plot /dev/full"};
  for (const std::string& command : commands) {
    const Ended ended = run_script("exec \"$0\" " + command);
    EXPECT_EQ(ended.exit_code, 2) << command << ended.err;
    EXPECT_TRUE(is_one_line(ended.err)) << command << ended.err;
    EXPECT_NE(ended.err.find("cannot write /dev/full: No space left on device"), std::string::npos)
        << command << ended.err;
  }
}

// An rping server, its client with `client` after it in the shell, and what the shell made of the client's end.
Ended ping(const std::string& before, const std::string& client) {
  const std::uint16_t port = free_port();
  Command server({"rping", "-s", "-P", "-d", "-a", "127.0.0.1", "-p", std::to_string(port)});
  EXPECT_TRUE(server.wait_for_output("listening"));
  return run_script(before + "\"$0\" rping -c -a 127.0.0.1 -p \"$1\" -C 0 -v " + client, port);
}

TEST(EndlessPings, EndWhenNobodyReadsThem) {
  const Ended ended = ping("", "| head -1");
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_TRUE(is_one_line(ended.out)) << ended.out;
  EXPECT_EQ(ended.err, "") << "SIGPIPE ends the client without a word";
}

TEST(EndlessPings, EndAlsoWhereSigpipeIsIgnored) {
  const Ended ended = ping("trap '' PIPE; ", "| head -1");
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_NE(ended.err.find("standard output"), std::string::npos) << ended.err;
}

TEST(EndlessPings, EndWhenTheDiskIsFull) {
  const Ended ended = ping("exec ", ">/dev/full");
  EXPECT_EQ(ended.exit_code, 2) << ended.err;
  EXPECT_NE(ended.err.find("standard output: No space left on device"), std::string::npos) << ended.err;
}

}  // namespace
}  // namespace weft::test
