// SPDX-License-Identifier: Apache-2.0
// What weft run says of programs that the drop-in libraries will not reach; and that it runs them all the same.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <utility>

#include "command.hpp"
#include "tools/run/elf.hpp"
#include "tools/run/warnings.hpp"

namespace weft::test {
namespace {

namespace fs = std::filesystem;
using tools::run::notes_about;
using tools::run::warnings_about;

// The only warning, or nothing.
std::string warning(const std::string& program) {
  const auto all = warnings_about(program);
  EXPECT_LE(all.size(), 1U) << all.back();
  return all.empty() ? "" : all.front();
}

std::string contents(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_script(const std::string& path, const std::string& first_line) {
  std::ofstream(path) << first_line << "\necho hello\n";
  fs::permissions(path, fs::perms::owner_all);
}

TEST(RunWarnings, AnOrdinaryProgramGetsNone) {
  EXPECT_EQ(warning(RUN_PLAIN), "");
  EXPECT_EQ(warning("/bin/sh"), "");
  EXPECT_EQ(warning(RUN_RUNPATH), "") << "LD_LIBRARY_PATH is searched before DT_RUNPATH";
}

TEST(RunWarnings, StaticPrograms) {
  EXPECT_NE(warning(RUN_STATIC).find("statically linked"), std::string::npos);
  EXPECT_NE(warning(RUN_WITH_VERBS).find("seems to contain libibverbs"), std::string::npos);
}

TEST(RunWarnings, RpathIsNamed) {
  const std::string text = warning(RUN_RPATH);
  EXPECT_NE(text.find("DT_RPATH (/opt/verbs/lib)"), std::string::npos) << text;
}

TEST(RunWarnings, ScriptsAreJudgedByTheirInterpreter) {
  const TemporaryDirectory directory;
  const std::string script = directory.file("script");
  write_script(script, std::string("#! ") + RUN_STATIC + " -x");
  EXPECT_EQ(warning(script).find(RUN_STATIC), 0U) << warning(script);
  write_script(directory.file("outer"), "#!" + script);
  EXPECT_EQ(warning(directory.file("outer")).find(RUN_STATIC), 0U);
  write_script(script, std::string("#!/usr/bin/env -S A=1 ") + RUN_RPATH);
  EXPECT_EQ(warning(script).find(RUN_RPATH), 0U);
  for (const char* line : {"#!/bin/sh", "#!", "#!   ", "#!/usr/bin/env", "#!/no/such/interpreter", ""}) {
    write_script(script, line);
    EXPECT_EQ(warning(script), "") << line;
  }
  write_script(script, "#!" + script);
  EXPECT_EQ(warning(script), "") << "its own interpreter";
}

TEST(RunWarnings, ForeignProcessors) {
  const TemporaryDirectory directory;
  std::string octets = contents(RUN_PLAIN);
  octets[18] = '\x7f';  // e_machine
  std::ofstream(directory.file("foreign")) << octets;
  EXPECT_NE(warning(directory.file("foreign")).find("another kind of processor"), std::string::npos);
}

TEST(RunWarnings, SetuidPrograms) {
  const TemporaryDirectory directory;
  const std::string copy = directory.file("program");
  fs::copy_file(RUN_PLAIN, copy);
  struct statvfs filesystem{};
  constexpr uid_t kSomebody = 65534;
  if (::statvfs(copy.c_str(), &filesystem) != 0 || (filesystem.f_flag & ST_NOSUID) != 0 ||
      ::chown(copy.c_str(), kSomebody, kSomebody) != 0) {
    GTEST_SKIP() << "needs root, and a temporary folder that honours setuid";
  }
  for (const mode_t mode : {04755U, 02755U}) {
    ASSERT_EQ(::chmod(copy.c_str(), mode), 0);
    EXPECT_NE(warning(copy).find("setuid"), std::string::npos);
    EXPECT_NE(warning(copy).find("ld.so.conf.d"), std::string::npos);
  }
  ASSERT_EQ(::chown(copy.c_str(), ::getuid(), ::getgid()), 0);
  ASSERT_EQ(::chmod(copy.c_str(), 06755), 0);
  EXPECT_EQ(warning(copy), "") << "it is ours: nothing changes";
}

// The file may be anything: whatever is cut off or overwritten, reading it ends.
TEST(RunWarnings, BrokenFilesAreSurvived) {
  const std::string whole = contents(RUN_RPATH);
  for (std::size_t size = 0; size < 2000; ++size) static_cast<void>(tools::run::read_elf(whole.substr(0, size)));
  std::string octets = whole.substr(0, 8192);
  for (std::size_t at = 16; at < octets.size(); ++at) {
    const char before = std::exchange(octets[at], '\xff');
    static_cast<void>(tools::run::read_elf(octets));
    octets[at] = before;
  }
}

TEST(RunNotes, ProgramsThatDoNotNameTheLibraries) {
  ASSERT_EQ(notes_about(RUN_PLAIN).size(), 1U);
  EXPECT_NE(notes_about(RUN_PLAIN).front().find("needs neither"), std::string::npos);
  EXPECT_TRUE(notes_about(RUN_STATIC).empty());
  for (const char* const wrapper : {"/bin/sh", "/bin/bash", "/usr/bin/env", "/usr/bin/python3"}) {
    if (!std::filesystem::exists(wrapper)) continue;
    EXPECT_TRUE(notes_about(wrapper).empty()) << wrapper << ": what it starts is not known";
    EXPECT_EQ(warning(wrapper), "");
  }
}

TEST(RunWarnings, AreOnStandardErrorAndTheProgramRuns) {
  const TemporaryDirectory directory;
  for (const char* name : {"libibverbs.so.1", "librdmacm.so.1"}) std::ofstream(directory.file(name)) << '.';
  ::setenv("WEFT_LIBRARY_PATH", directory.file(".").c_str(), 1);
  const Ended ended = run({"run", "--", RUN_STATIC});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(ended.out, "it ran\n");
  EXPECT_TRUE(is_one_line(ended.err)) << ended.err;
  EXPECT_EQ(ended.err.find("weft run: "), 0U);
  EXPECT_EQ(run({"run", "--log", "error", "--", RUN_STATIC}).err, "");
  EXPECT_EQ(run({"run", "--", RUN_PLAIN}).err, "");
  EXPECT_TRUE(is_one_line(run({"run", "--log", "info", "--", RUN_PLAIN}).err)) << "the note";
  ::unsetenv("WEFT_LIBRARY_PATH");
}

}  // namespace
}  // namespace weft::test
