// SPDX-License-Identifier: Apache-2.0
// WEFT_LOG, WEFT_PCAP, WEFT_POLICY and WEFT_CONFIG: what they set, what is told of nonsense, and who does not read
// them.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "command.hpp"
#include "common/crc32c_routine.hpp"
#include "compat/objects/settings.hpp"

namespace weft::compat::test {
namespace {

using weft::test::Command;
using weft::test::Ended;
using weft::test::TemporaryDirectory;
using Variables = std::map<std::string, std::string>;

verbs::Configuration settings(const Variables& variables) {
  const verbs::Variable look_up = [&](const char* name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  };
  return read_settings(look_up);
}

// The program that tells its settings and opens a device, in an environment with these variables too.
Ended told(std::vector<std::string> variables, const std::string& program = WEFT_SETTINGS_PROGRAM) {
  variables.push_back(program);
  return Command(variables, "/usr/bin/env").wait();
}

TEST(Settings, WithoutVariablesNothingIsSet) {
  const auto read = settings({});
  EXPECT_TRUE(read.complaints.empty());
  EXPECT_FALSE(read.log);
  EXPECT_EQ(read.pcap, "");
  EXPECT_TRUE(read.policy.startup.crc);
}

TEST(Settings, VariablesWinOverTheFile) {
  const TemporaryDirectory directory;
  const std::string file = directory.file("weft.conf");
  std::ofstream(file) << "log = debug\npcap = file.pcap\ncrc = off\nmpa-rev = 1\n";
  const auto alone = settings({{"WEFT_CONFIG", file}});
  EXPECT_EQ(alone.log, verbs::LogLevel::kDebug);
  EXPECT_EQ(alone.pcap, "file.pcap");
  EXPECT_FALSE(alone.policy.startup.crc);
  const auto both =
      settings({{"WEFT_CONFIG", file}, {"WEFT_LOG", "info"}, {"WEFT_PCAP", "mine.pcap"}, {"WEFT_POLICY", "crc=on"}});
  EXPECT_TRUE(both.complaints.empty());
  EXPECT_EQ(both.log, verbs::LogLevel::kInfo);
  EXPECT_EQ(both.pcap, "mine.pcap");
  EXPECT_TRUE(both.policy.startup.crc);
  EXPECT_EQ(both.policy.startup.mpa_revision, 1) << "what no variable says stays as in the file";
}

TEST(Settings, NonsenseIsNamedAndLeftOut) {
  const auto read = settings({{"WEFT_CONFIG", "/no/such/file"}, {"WEFT_LOG", "loud"}, {"WEFT_POLICY", "crc=off,x=1"}});
  ASSERT_EQ(read.complaints.size(), 3U);
  EXPECT_EQ(read.complaints[0].find("WEFT_CONFIG: /no/such/file"), 0U);
  EXPECT_EQ(read.complaints[1].find("WEFT_LOG: 'loud'"), 0U);
  EXPECT_EQ(read.complaints[2].find("WEFT_POLICY: unknown key 'x'"), 0U);
  EXPECT_TRUE(read.policy.startup.crc) << "half a policy is none";
}

TEST(SettingsOfAProgram, AreReadOnceAndComplainedAboutInOneLineEach) {
  EXPECT_EQ(told({}).out, "mpa-rev=2,crc=on\n");
  EXPECT_EQ(told({"WEFT_POLICY=mpa-rev=1,crc=off"}).out, "mpa-rev=1,crc=off\n");
  const Ended ended = told({"WEFT_POLICY=crc=perhaps", "WEFT_LOG="});
  EXPECT_EQ(ended.out, "mpa-rev=2,crc=on\n");
  EXPECT_EQ(ended.err, "weft: WEFT_POLICY: crc=perhaps: 'crc' takes on or off; ignored.\n");
  EXPECT_EQ(told({"WEFT_LOG=loud"}).err,
            "weft: WEFT_LOG: 'loud' is not one of debug, info, warn, error, off; ignored.\n")
      << "the C++ API below does not read the variable again";
}

TEST(SettingsOfAProgram, AFileThatCannotBeReadHidesNoDevice) {
  const Ended ended = told({"WEFT_CONFIG=/proc/self/mem"});
  EXPECT_EQ(ended.exit_code, 0) << "a device was opened";
  EXPECT_EQ(ended.out, "mpa-rev=2,crc=on\n");
  EXPECT_EQ(ended.err, "weft: WEFT_CONFIG: /proc/self/mem: Input/output error; ignored.\n");
}

TEST(SettingsOfAProgram, EachProcessHasItsOwnCapture) {
  const TemporaryDirectory directory;
  Command program({"WEFT_PCAP=" + directory.file("x-%p.pcap"), WEFT_SETTINGS_PROGRAM}, "/usr/bin/env");
  const std::string expected = directory.file("x-" + std::to_string(program.pid()) + ".pcap");
  EXPECT_EQ(program.wait().err, "");
  EXPECT_TRUE(std::filesystem::exists(expected)) << expected;
  const Ended ended = told({"WEFT_LOG=off", "WEFT_PCAP=/no/such/directory/x.pcap"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(ended.err.find("weft: WEFT_PCAP: cannot write /no/such/directory/x.pcap"), 0U) << ended.err;
  EXPECT_TRUE(weft::test::is_one_line(ended.err)) << ended.err;
}

// What weft run --pcap asks for. The program itself ends with 0.
TEST(SettingsOfAProgram, ACutCaptureChangesTheExitCode) {
  const std::string cut = "weft: the capture was cut short: cannot write /dev/full: No space left on device.\n";
  const Ended ended = told({"WEFT_PCAP=/dev/full", "WEFT_PCAP_EXIT=2"});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_TRUE(ended.err.ends_with(cut)) << ended.err;
  EXPECT_EQ(ended.out, told({}).out) << "what was printed is written before";
  for (const std::string code : {"0", "256", "no", ""}) {
    const Ended unasked = told({"WEFT_PCAP=/dev/full", "WEFT_PCAP_EXIT=" + code});
    EXPECT_EQ(unasked.exit_code, 0) << code;
    EXPECT_EQ(unasked.err.find(cut), std::string::npos) << unasked.err;
  }
  const TemporaryDirectory directory;
  EXPECT_EQ(told({"WEFT_PCAP=" + directory.file("x.pcap"), "WEFT_PCAP_EXIT=2"}).exit_code, 0);
}

// In this process, which afterwards has again what it chose by itself.
TEST(Settings, Crc32cIsTheRoutineThatIsAskedFor) {
  const Crc32cRoutine before = crc32c_in_use().routine;
  const TemporaryDirectory directory;
  const std::string file = directory.file("weft.conf");
  std::ofstream(file) << "crc32c = portable\n";
  auto alone = settings({{"WEFT_CONFIG", file}});
  verbs::apply_configuration(alone);
  EXPECT_EQ(crc32c_in_use().routine, Crc32cRoutine::kPortable);
  auto both = settings({{"WEFT_CONFIG", file}, {"WEFT_CRC32C", "isa-l"}});
  verbs::apply_configuration(both);
  EXPECT_EQ(crc32c_in_use().routine, Crc32cRoutine::kIsaL) << "the variable wins";
  const auto wrong = settings({{"WEFT_CRC32C", "fast"}});
  ASSERT_EQ(wrong.complaints.size(), 1U);
  EXPECT_EQ(wrong.complaints[0], "WEFT_CRC32C: 'fast' is not one of isa-l, portable");
  EXPECT_FALSE(wrong.crc32c);
  use_crc32c(before);
}

// A program that runs as another user than the one that started it.
TEST(SettingsOfAProgram, AreIgnoredUnderSetuid) {
  const TemporaryDirectory directory;
  const std::string copy = directory.file("program");
  std::filesystem::copy_file(WEFT_SETTINGS_PROGRAM, copy);
  struct statvfs filesystem{};
  constexpr uid_t kSomebody = 65534;
  if (::statvfs(copy.c_str(), &filesystem) != 0 || (filesystem.f_flag & ST_NOSUID) != 0 ||
      ::chown(copy.c_str(), kSomebody, kSomebody) != 0) {
    GTEST_SKIP() << "needs root, and a temporary folder that honours setuid";
  }
  ASSERT_EQ(::chmod(directory.file(".").c_str(), 0755), 0);
  ASSERT_EQ(::chmod(copy.c_str(), 04755), 0);
  const Ended ended = told({"WEFT_POLICY=crc=off", "WEFT_PCAP=/tmp/weft-must-not-exist.pcap", "WEFT_LOG=loud",
                            "WEFT_CRC32C=fast", "WEFT_CONFIG=/no/such/file"},
                           copy);
  EXPECT_EQ(ended.out, "mpa-rev=2,crc=on\n");
  EXPECT_EQ(ended.err, "");
  EXPECT_FALSE(std::filesystem::exists("/tmp/weft-must-not-exist.pcap"));
}

}  // namespace
}  // namespace weft::compat::test
