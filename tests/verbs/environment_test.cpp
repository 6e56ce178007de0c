// SPDX-License-Identifier: Apache-2.0
// WEFT_LOG, WEFT_PCAP and WEFT_CRC32C in a program that uses the C++ API: read with its first device, once, and beaten by
// what the program chooses.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "command.hpp"
#include "verbs/environment.hpp"

namespace weft::verbs::test {
namespace {

using weft::test::Command;
using weft::test::Ended;
using weft::test::TemporaryDirectory;

// The program in an environment with these variables, and with these arguments.
std::vector<std::string> line(std::vector<std::string> variables, const std::vector<std::string>& arguments = {},
                              const std::string& program = WEFT_ENVIRONMENT_PROGRAM) {
  std::vector<std::string> words{"-u", "WEFT_LOG", "-u", "WEFT_PCAP", "-u", "WEFT_CRC32C"};
  words.insert(words.end(), variables.begin(), variables.end());
  words.push_back(program);
  words.insert(words.end(), arguments.begin(), arguments.end());
  return words;
}
Ended told(const std::vector<std::string>& words) { return Command(words, "/usr/bin/env").wait(); }

const std::string kByItself = [] {
  const std::string out = told(line({})).out;  // "at first: log=warn crc32c=..."
  return out.substr(0, out.find('\n')).substr(out.find("log="));
}();

TEST(Environment, NothingIsSetWithoutIt) {
  EXPECT_EQ(kByItself.substr(0, kByItself.find(' ')), "log=warn");
  EXPECT_EQ(told(line({})).out, "at first: " + kByItself + "\nafter it: " + kByItself + '\n');
  const Ended empty = told(line({"WEFT_LOG=", "WEFT_PCAP=", "WEFT_CRC32C="}));
  EXPECT_EQ(empty.out, "at first: " + kByItself + "\nafter it: " + kByItself + '\n');
  EXPECT_EQ(empty.err, "");
}

TEST(Environment, IsReadWithTheFirstDevice) {
  const Ended ended = told(line({"WEFT_LOG=debug", "WEFT_CRC32C=portable"}));
  EXPECT_EQ(ended.out, "at first: " + kByItself + "\nafter it: log=debug crc32c=portable\n");
  EXPECT_EQ(ended.err, "");
}

TEST(Environment, EachProcessHasItsOwnCapture) {
  const TemporaryDirectory directory;
  Command program(line({"WEFT_PCAP=" + directory.file("x-%p.pcap")}), "/usr/bin/env");
  const std::string expected = directory.file("x-" + std::to_string(program.pid()) + ".pcap");
  EXPECT_EQ(program.wait().err, "");
  EXPECT_TRUE(std::filesystem::exists(expected)) << expected;
}

TEST(Environment, TheProgramsOwnChoiceWins) {
  for (const std::string when : {"before", "after"}) {
    const TemporaryDirectory directory;
    const std::string theirs = directory.file("environment.pcap"), own = directory.file("program.pcap");
    const Ended ended = told(line({"WEFT_LOG=debug", "WEFT_CRC32C=portable", "WEFT_PCAP=" + theirs}, {when, own}));
    EXPECT_TRUE(ended.out.ends_with("after it: log=error crc32c=isa-l\n")) << when << ": " << ended.out;
    EXPECT_TRUE(std::filesystem::exists(own)) << when;
    EXPECT_EQ(std::filesystem::exists(theirs), when == "after") << "begun with the device, if at all";
  }
}

// Once, although a second device is opened; and the others are taken all the same.
TEST(Environment, WhatIsWrongIsToldOnceAndChangesNothing) {
  const Ended ended = told(line({"WEFT_LOG=loud", "WEFT_CRC32C=fast", "WEFT_PCAP=/no/such/directory/x.pcap"}));
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(ended.out, "at first: " + kByItself + "\nafter it: " + kByItself + '\n');
  const auto told_once = [&](const std::string& sentence) {
    const std::size_t at = ended.err.find("weft warning: environment: " + sentence);
    return at != std::string::npos && ended.err.find(sentence, at + sentence.size() + 27) == std::string::npos;
  };
  EXPECT_TRUE(told_once("WEFT_LOG: 'loud' is not one of debug, info, warn, error, off; ignored")) << ended.err;
  EXPECT_TRUE(told_once("WEFT_CRC32C: 'fast' is not one of isa-l, portable; ignored")) << ended.err;
  EXPECT_TRUE(told_once("WEFT_PCAP: cannot write /no/such/directory/x.pcap: ")) << ended.err;
  const Ended portable = told(line({"WEFT_LOG=loud", "WEFT_CRC32C=portable"}));
  EXPECT_TRUE(portable.out.ends_with("after it: log=warn crc32c=portable\n")) << portable.out;
}

// A program that runs as another user than the one that started it.
TEST(Environment, IsIgnoredUnderSetuid) {
  const TemporaryDirectory directory;
  const std::string copy = directory.file("program");
  std::filesystem::copy_file(WEFT_ENVIRONMENT_PROGRAM, copy);
  struct statvfs filesystem{};
  constexpr uid_t kSomebody = 65534;
  if (::statvfs(copy.c_str(), &filesystem) != 0 || (filesystem.f_flag & ST_NOSUID) != 0 ||
      ::chown(copy.c_str(), kSomebody, kSomebody) != 0) {
    GTEST_SKIP() << "needs root, and a temporary folder that honours setuid";
  }
  ASSERT_EQ(::chmod(directory.file(".").c_str(), 0777), 0);
  ASSERT_EQ(::chmod(copy.c_str(), 04755), 0);
  const std::string capture = directory.file("x.pcap");
  const Ended ended = told(line({"WEFT_LOG=debug", "WEFT_CRC32C=fast", "WEFT_PCAP=" + capture}, {}, copy));
  EXPECT_EQ(ended.out, "at first: " + kByItself + "\nafter it: " + kByItself + '\n');
  EXPECT_EQ(ended.err, "");
  EXPECT_FALSE(std::filesystem::exists(capture));
}

TEST(Environment, AFacadeReadsItByTheSameRules) {
  Configuration settings{.pcap = "file.pcap"};
  read_variables(settings, [](const char* name) -> std::optional<std::string> {
    if (std::string(name) == "WEFT_LOG") return "info";
    if (std::string(name) == "WEFT_CRC32C") return "fast";
    return std::nullopt;
  });
  EXPECT_EQ(settings.log, LogLevel::kInfo);
  EXPECT_EQ(settings.pcap, "file.pcap") << "what no variable says stays";
  EXPECT_EQ(settings.complaints, std::vector<std::string>{"WEFT_CRC32C: 'fast' is not one of isa-l, portable"});
}

}  // namespace
}  // namespace weft::verbs::test
