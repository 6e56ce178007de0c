// SPDX-License-Identifier: Apache-2.0
// Files that commands write: complete or absent, mode 0600 if they contain payload. Incomplete captures are reported.
// Files that commands cannot read. --json[=FILE], the same in every command.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "command.hpp"

namespace weft::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using Names = std::vector<std::string>;

class Files : public testing::Test {
 protected:
  // A script for sh in an empty folder; "$0" is weft.
  Ended sh(const std::string& script) const {
    return Command({"-c", "cd '" + folder() + "' && umask 022 && " + script, weft_command()}, "sh")
        .wait(std::chrono::seconds(120));
  }
  [[nodiscard]] std::string file(const std::string& name) const { return directory_.file(name); }
  [[nodiscard]] std::string folder() const { return file("."); }

  [[nodiscard]] Names names() const {
    Names all;
    for (const auto& entry : std::filesystem::directory_iterator(folder())) all.push_back(entry.path().filename());
    return all;
  }
  [[nodiscard]] std::string contents(const std::string& name) const {
    std::ifstream stream(file(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  void put(const std::string& name, const std::string& text) const { std::ofstream(file(name)) << text; }
  [[nodiscard]] mode_t mode_of(const std::string& name) const {
    struct stat about{};
    EXPECT_EQ(::lstat(file(name).c_str(), &about), 0) << name;
    return about.st_mode & 0777U;
  }

 private:
  TemporaryDirectory directory_{};
};

// --- Captures that are cut

// The largest file that a process may write stands for a full disk; blocks of 512 octets.
TEST_F(Files, ACutCaptureIsAFailureThatIsExplained) {
  for (const std::string command : {"demo", "bench lat --size 4096 --iters 50 --repetitions 1"}) {
    const Ended ended = sh("ulimit -f 16; exec \"$0\" --pcap f.pcap " + command);
    EXPECT_EQ(ended.exit_code, 2) << command << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("the capture was cut short: cannot write f.pcap: File too large.\n")) << command;
    EXPECT_LE(std::filesystem::file_size(file("f.pcap")), 16U * 512U);
    const Ended read = run({"dissect", file("f.pcap")});
    EXPECT_EQ(read.exit_code, 0) << "whole packets up to there: " << read.err;
    EXPECT_EQ(mode_of("f.pcap"), 0600U);
  }
}

TEST_F(Files, ACutCaptureOfAPingIsAFailureThatIsExplained) {
  const std::string port = std::to_string(free_port());
  Command server({"rping", "-s", "-P", "-d", "-a", "127.0.0.1", "-p", port});
  ASSERT_TRUE(server.wait_for_output("listening"));
  const Ended ended = sh("ulimit -f 16; exec \"$0\" --pcap f.pcap rping -c -a 127.0.0.1 -C 9 -S 4096 -p " + port);
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_THAT(ended.err, HasSubstr("the capture was cut short: cannot write f.pcap: File too large.\n"));
  EXPECT_THAT(ended.err, HasSubstr("9 pings")) << "they go on without it";
}

// --- Whole or not there

TEST_F(Files, AReportIsWholeOrNotThere) {
  const std::string suite = "bench suite --only 'lat send 64, blocking wait' --iters 1 --repetitions 1";
  for (const std::string& command :
       {std::string("audit --quiet --json=f " WEFT_SAMPLE), std::string("audit --quiet --junit f " WEFT_SAMPLE),
        std::string("dissect --json=f " WEFT_SAMPLE), std::string("explain --demo -o f"),
        std::string("explain --demo --json=f"), std::string("info --json=f"),
        std::string("bench lat --iters 1 --repetitions 1 --json=f"), suite + " --json=f"}) {
    const std::string cut = "ulimit -f 1; exec \"$0\" " + command + " >/dev/null";
    const Ended ended = sh(cut);
    EXPECT_EQ(ended.exit_code, 2) << command << ended.err;
    EXPECT_EQ(ended.err.substr(ended.err.find(": ")), ": cannot write f: File too large.\n") << command;
    const auto expect_no_report = [&] {  // but the error may fit where the report does not
      if (!names().empty()) {
        EXPECT_THAT(contents("f"), HasSubstr("error")) << command;
      }
    };
    expect_no_report();
    put("f", "what was there");
    EXPECT_EQ(sh(cut).exit_code, 2) << command;
    expect_no_report();
    std::filesystem::remove(file("f"));
  }
}

TEST_F(Files, KeysAreAllThereOrNone) {
  const Ended ended = sh("ulimit -f 1; exec \"$0\" keys k");
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_THAT(ended.err, HasSubstr("cannot write k/"));
  EXPECT_THAT(names(), IsEmpty());
  const Ended untold = sh("exec \"$0\" keys k >/dev/full");
  EXPECT_EQ(untold.exit_code, 2) << "what is in which file was not said";
  EXPECT_THAT(names(), IsEmpty()) << "it can be repeated";
  std::filesystem::create_directory(file("k"));
  put("k/client.pem", "somebody's");
  EXPECT_EQ(run({"keys", file("k")}).exit_code, 2);
  EXPECT_EQ(contents("k/client.pem"), "somebody's");
  EXPECT_FALSE(std::filesystem::exists(file("k/ca.pem")));
}

// The capture comes from a pipe that never ends.
TEST_F(Files, AnInterruptLeavesAWholeFile) {
  Command command({"-c",
                   "cd '" + folder() +
                       "' && mkfifo p && exec 3<>p && cat '" WEFT_SAMPLE "' >&3 && exec \"$0\" dissect --json=f - <&3",
                   weft_command()},
                  "sh");
  const auto begun = [this] {
    return std::ranges::any_of(names(), [](const std::string& name) { return name.starts_with("f.part-"); });
  };
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!begun() && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  ASSERT_TRUE(begun()) << command.err();
  command.signal(SIGINT);
  EXPECT_NE(command.wait().exit_code, kTimedOut);
  EXPECT_FALSE(begun());
}

// --- Pipes to read from

bool has_open(const Command& command, const std::string& path) {
  struct stat wanted{};
  EXPECT_EQ(::stat(path.c_str(), &wanted), 0);
  std::error_code gone;
  const std::string open = "/proc/" + std::to_string(command.pid()) + "/fd";
  for (std::filesystem::directory_iterator one(open, gone), end; !gone && one != end; one.increment(gone)) {
    struct stat about{};
    if (::stat(one->path().c_str(), &about) == 0 && about.st_dev == wanted.st_dev && about.st_ino == wanted.st_ino)
      return true;
  }
  return false;
}

// Without a writer the pipe cannot be read, and with one that is quiet neither. The handler of ^C is there before the
// pipe is opened.
TEST_F(Files, AnInterruptEndsTheWaitForAPipe) {
  const std::string pipe = file("p");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  struct Reading {
    Names words{};
    int exit_code = 130;
  };
  const std::vector<Reading> readings{{{"audit", pipe}, 2},  // no capture: nothing of it came
                                      {{"dissect", pipe}, 2},
                                      {{"explain", "--text", pipe}, 2},
                                      {{"audit", "--keylog", pipe, WEFT_SAMPLE}},
                                      {{"dissect", "--keylog", pipe, WEFT_SAMPLE}},
                                      {{"explain", "--text", "--keylog", pipe, WEFT_SAMPLE}},
                                      {{"audit", "--known", pipe, WEFT_SAMPLE}},
                                      {{"probe", "--known", pipe, "127.0.0.1:1"}},
                                      {{"probe", "--profile", pipe, "127.0.0.1:1"}},
                                      {{"probe", "--replay", pipe, "127.0.0.1:1"}}};
  for (const auto& [words, exit_code] : readings) {
    for (const bool writer : {false, true}) {
      SCOPED_TRACE(testing::PrintToString(words) + (writer ? " with a writer" : ""));
      Command command(words);
      const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
      while (!has_open(command, pipe) && std::chrono::steady_clock::now() < deadline)
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
      ASSERT_TRUE(has_open(command, pipe)) << command.err();
      const int quiet = writer ? ::open(pipe.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC) : -1;
      EXPECT_EQ(quiet >= 0, writer);
      command.signal(SIGINT);
      EXPECT_EQ(command.wait().exit_code, exit_code);
      if (quiet >= 0) ::close(quiet);
    }
  }
}

TEST_F(Files, DevicesPipesAndLinksWorkAsTargets) {
  EXPECT_EQ(sh("exec \"$0\" audit --quiet --junit /dev/stdout " WEFT_SAMPLE).out.substr(0, 5), "<?xml");
  EXPECT_THAT(sh("mkfifo p; cat p & \"$0\" audit --quiet --junit p " WEFT_SAMPLE "; wait").out, HasSubstr("<?xml"));
  put("real", "old");
  std::filesystem::create_symlink("real", file("link"));
  EXPECT_EQ(sh("exec \"$0\" audit --quiet --junit link " WEFT_SAMPLE).exit_code, 1);
  EXPECT_TRUE(std::filesystem::is_symlink(file("link")));
  EXPECT_THAT(contents("real"), HasSubstr("<?xml"));
  std::filesystem::create_symlink("/dev/null", file("null"));
  EXPECT_EQ(sh("exec \"$0\" audit --quiet --junit null " WEFT_SAMPLE).exit_code, 1);
}

// In /tmp another user may lay a link to a file of ours.
TEST_F(Files, LinksOfOthersAreNotFollowed) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make a link of another user";
  put("real", "what was there");
  std::filesystem::create_symlink("real", file("link"));
  ASSERT_EQ(::lchown(file("link").c_str(), 65534, 65534), 0);
  for (const std::string option : {"--junit link", "--json=link"}) {
    const Ended ended = sh("exec \"$0\" audit --quiet " + option + " " WEFT_SAMPLE);
    EXPECT_EQ(ended.exit_code, 2) << option;
    EXPECT_EQ(ended.err, "weft audit: cannot write link: it is a symbolic link of another user.\n");
  }
  EXPECT_EQ(contents("real"), "what was there");
  EXPECT_THAT(names(), testing::UnorderedElementsAre("link", "real"));
}

// No reader comes, or it does not read: the command ends by itself, or by a signal.
TEST_F(Files, APipeWithoutAReaderKeepsNobodyWaiting) {
  const Ended ended = sh("mkfifo p; exec \"$0\" audit --quiet --junit p " WEFT_SAMPLE);
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_EQ(ended.err, "weft audit: cannot write p: it is a pipe without a reader.\n");
  const int reader = ::open(file("p").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  Command command({"explain", "--demo", "-o", file("p")});
  pollfd some{.fd = reader, .events = POLLIN, .revents = 0};
  ASSERT_EQ(::poll(&some, 1, 20'000), 1);
  command.signal(SIGTERM);  // the page is longer than what a pipe holds
  EXPECT_NE(command.wait().exit_code, kTimedOut);
  ::close(reader);
}

TEST_F(Files, WithPayloadAreTheirOwnersAlone) {
  sh("\"$0\" explain --demo -o page.html; \"$0\" explain --demo --json=model; \"$0\" dissect --json=fields " WEFT_SAMPLE
     "; \"$0\" audit --quiet --json=report --junit junit " WEFT_SAMPLE "; \"$0\" info --json=info");
  for (const char* name : {"page.html", "model", "fields", "report"}) EXPECT_EQ(mode_of(name), 0600U) << name;
  for (const char* name : {"junit", "info"}) EXPECT_EQ(mode_of(name), 0644U) << name;
  sh("chmod 640 junit; chmod 644 report; \"$0\" audit --quiet --json=report --junit junit " WEFT_SAMPLE);
  EXPECT_EQ(mode_of("junit"), 0640U) << "it stays as it was";
  EXPECT_EQ(mode_of("report"), 0600U);
}

// --- Files that cannot be read

TEST_F(Files, AnEmptyCaptureHasItsOwnSentence) {
  put("e.pcap", "");
  for (const std::string command : {"audit", "dissect", "explain"}) {
    const Ended ended = sh("exec \"$0\" " + command + " e.pcap");
    EXPECT_EQ(ended.exit_code, 2);
    EXPECT_EQ(ended.err, "weft " + command + ": e.pcap is empty (0 octets): not a capture.\n");
    EXPECT_THAT(sh("exec \"$0\" " + command + " - </dev/null").err,
                HasSubstr("the standard input is empty (0 octets)"));
  }
}

// A process of root's may read everything until it gives that up.
TEST_F(Files, WhatIsForbiddenNamesTheUser) {
  put("secret.pcap", "x");
  const std::string may_not = ::geteuid() == 0 ? "setpriv --bounding-set=-dac_override,-dac_read_search " : "";
  for (const std::string command : {"audit", "dissect", "explain"}) {
    const Ended ended = sh("chmod 0 secret.pcap; exec " + may_not + "\"$0\" " + command + " secret.pcap");
    EXPECT_EQ(ended.exit_code, 2) << ended.err;
    EXPECT_EQ(ended.err, "weft " + command + ": cannot read secret.pcap: Permission denied (running as uid " +
                             std::to_string(::geteuid()) + ").\n");
    EXPECT_THAT(sh("exec \"$0\" " + command + " no.pcap").err,
                HasSubstr("cannot read no.pcap: No such file or directory"));
  }
  const Ended written = sh("mkdir d; chmod 500 d; exec " + may_not + "\"$0\" explain --demo -o d/page.html");
  EXPECT_EQ(written.exit_code, 2);
  EXPECT_THAT(written.err, HasSubstr("cannot write d/page.html: Permission denied (running as uid "));
}

// UBSan's check of virtual tables opens a pipe, and LeakSanitizer opens /proc: both fail here.
TEST_F(Files, TooManyOpenFilesNameTheLimit) {
  put("no-vptr", "vptr:*\n");
  const std::string limit =
      "export UBSAN_OPTIONS=suppressions=no-vptr ASAN_OPTIONS=detect_leaks=0; "
      "for fd in 3 4 5 6 7 8 9; do eval \"exec $fd>&-\"; done; ulimit -n ";  // what ctest left open
  for (const std::string command : {"audit " WEFT_SAMPLE, "dissect " WEFT_SAMPLE, "explain " WEFT_SAMPLE}) {
    const Ended ended = sh(limit + "4; exec \"$0\" " + command);
    EXPECT_EQ(ended.exit_code, 2) << ended.err;
    EXPECT_TRUE(is_one_line(ended.err)) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("Too many open files (the limit is 4: ulimit -n)"));
  }
  const Ended ping = sh(limit + "6; exec \"$0\" rping -c -a 127.0.0.1 -C 1");
  EXPECT_EQ(ping.exit_code, 1);
  EXPECT_TRUE(is_one_line(ping.err)) << ping.err;
  EXPECT_THAT(ping.err, HasSubstr("Too many open files (the limit is 6: ulimit -n)"));
}

// --- --json[=FILE]

TEST_F(Files, JsonGoesToStandardOutputAloneOrToAFile) {
  for (const std::string& command :
       {std::string("audit @ " WEFT_SAMPLE), std::string("explain --demo @"), std::string("info @"),
        std::string("bench lat --iters 1 --repetitions 1 @"),
        std::string("bench suite --only 'lat send 64, blocking wait' --iters 1 --repetitions 1 @")}) {
    const auto with = [&](const std::string& option) {
      std::string words = command;
      return sh("exec \"$0\" " + words.replace(words.find('@'), 1, option));
    };
    for (const std::string option : {"--json", "--json=-"}) {
      const Ended ended = with(option);
      EXPECT_TRUE(nlohmann::json::accept(ended.out)) << command << option << ended.out << ended.err;
    }
    for (const std::string option : {"--json=f", "--json f.json"}) {
      const Ended ended = with(option);
      EXPECT_FALSE(nlohmann::json::accept(ended.out)) << command << option << ended.out << ended.err;
      EXPECT_TRUE(nlohmann::json::accept(contents(option.substr(7)))) << command << option << ended.err;
    }
  }
}

TEST_F(Files, JsonOfDissectIsALineEach) {
  const std::string out = sh("exec \"$0\" dissect --json " WEFT_SAMPLE).out;
  std::istringstream lines(out);
  for (std::string line; std::getline(lines, line);) EXPECT_TRUE(nlohmann::json::accept(line)) << line;
  EXPECT_EQ(sh("exec \"$0\" dissect --json=f " WEFT_SAMPLE).out, "");
  EXPECT_EQ(contents("f"), out);
  EXPECT_THAT(out, Not(IsEmpty()));
}

TEST_F(Files, JsonIsExplainedAlikeEverywhere) {
  for (const std::string command :
       {"audit", "probe", "dissect", "explain", "info", "bench lat", "bench setup", "bench suite"}) {
    std::istringstream words(sh("exec \"$0\" " + command + " --help").out);
    std::string help;
    for (std::string word; words >> word;) help += word + ' ';
    EXPECT_THAT(help, HasSubstr("--json[=FILE] ")) << command;
    EXPECT_THAT(help, HasSubstr("; without FILE or with -: to standard output, instead of the text")) << command;
  }
}

}  // namespace
}  // namespace weft::test
