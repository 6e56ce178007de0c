// SPDX-License-Identifier: Apache-2.0
// weft run: the program that takes its place, the environment that it finds, and what is refused.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "command.hpp"

namespace weft::test {
namespace {

class Run : public testing::Test {
 protected:
  Run() {
    for (const char* name :
         {"WEFT_PCAP", "WEFT_PCAP_EXIT", "WEFT_LOG", "WEFT_POLICY", "WEFT_CONFIG", "LD_LIBRARY_PATH"})
      ::unsetenv(name);
    for (const char* name : {"libibverbs.so.1", "librdmacm.so.1"}) std::ofstream(file(name)) << "no library";
    ::setenv("WEFT_LIBRARY_PATH", folder().c_str(), 1);
  }
  ~Run() override { ::unsetenv("WEFT_LIBRARY_PATH"); }

  [[nodiscard]] std::string file(const std::string& name) const { return directory_.file(name); }
  [[nodiscard]] std::string folder() const { return std::filesystem::path(file("x")).parent_path().string(); }

  // What the shell says of a variable, after `weft run` with these options.
  [[nodiscard]] static std::string variable(std::vector<std::string> options, const std::string& name) {
    for (const std::string& word : {std::string("--"), std::string("sh"), std::string("-c")}) options.push_back(word);
    options.push_back("printf %s \"${" + name + "-unset}\"");
    options.insert(options.begin(), "run");
    const Ended ended = run(options);
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
    return ended.out;
  }

 private:
  TemporaryDirectory directory_;
};

TEST_F(Run, KeepsTheExitStatus) {
  EXPECT_EQ(run({"run", "--", "true"}).exit_code, 0);
  EXPECT_EQ(run({"run", "--", "sh", "-c", "exit 41"}).exit_code, 41);
  EXPECT_EQ(run({"--", "run", "--", "sh", "-c", "exit 42"}).exit_code, 42);
  EXPECT_EQ(run({"run", "sh", "-c", "exit $#", "--", "--"}).exit_code, 1) << "a later one is the program's";
  EXPECT_EQ(run({"run", "--", "sh", "-c", "kill -TERM $$"}).exit_code, -SIGTERM);
}

TEST_F(Run, IsTheSameProcess) {
  Command command({"run", "--", "sh", "-c", "echo pid $$; exec sleep 30"});
  ASSERT_TRUE(command.wait_for_output("pid " + std::to_string(command.pid()) + '\n'));
  command.signal(SIGINT);
  EXPECT_EQ(command.wait().exit_code, -SIGINT);
}

TEST_F(Run, LeavesTheWordsOfTheProgramAlone) {
  const Ended ended = run({"run", "--", "printf", "<%s>", "--log", "loud", "[a,b]", "", "--", "-h", "%"});
  EXPECT_EQ(ended.out, "<--log><loud><[a,b]><><--><-h><%>");
  EXPECT_EQ(ended.err, "");
}

// As with env, nice and strace: the first word that is no option of weft's is the program, whatever it is called.
TEST_F(Run, NeedsNoMarkBeforeTheProgram) {
  const Ended ended = run({"run", "printf", "<%s>", "--log", "loud", "info", "--json", "x.json", "--", "-h"});
  EXPECT_EQ(ended.out, "<--log><loud><info><--json><x.json><--><-h>") << ended.err;
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(run({"--log", "debug", "run", "--policy", "crc=off", "sh", "-c", "echo $WEFT_LOG $WEFT_POLICY"}).out,
            "debug crc=off\n");
}

TEST_F(Run, NeverRunsASubcommandOfWeft) {
  std::filesystem::create_directories(file("bin"));
  for (const char* name : {"rping", "info", "bench", "help"}) {
    std::ofstream(file("bin/") + name) << "#!/bin/sh\necho stock \"$0\" \"$@\"\n";
    std::filesystem::permissions(file("bin/") + name, std::filesystem::perms::owner_all);
  }
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", (file("bin") + ':' + path).c_str(), 1);
  for (const char* name : {"rping", "info", "bench", "help"}) {
    const std::string expected = "stock " + file("bin/") + name + " -s --log loud\n";
    EXPECT_EQ(run({"run", name, "-s", "--log", "loud"}).out, expected) << name;
    EXPECT_EQ(run({"run", "--", name, "-s", "--log", "loud"}).out, expected) << name;
  }
  ::setenv("PATH", path.c_str(), 1);
}

TEST_F(Run, PutsTheLibrariesInFront) {
  EXPECT_EQ(variable({}, "LD_LIBRARY_PATH"), folder());
  ::setenv("LD_LIBRARY_PATH", "/opt/a:/opt/b", 1);
  EXPECT_EQ(variable({}, "LD_LIBRARY_PATH"), folder() + ":/opt/a:/opt/b");
  ::setenv("LD_LIBRARY_PATH", "", 1);
  EXPECT_EQ(variable({}, "LD_LIBRARY_PATH"), folder()) << "an empty part would be the current folder";
}

TEST_F(Run, PreloadsTheSocketLibraryIfAskedFor) {
  EXPECT_EQ(variable({}, "LD_PRELOAD"), "unset");
  const Ended without = run({"run", "--sockets", "true"});
  EXPECT_EQ(without.exit_code, 2);
  EXPECT_NE(without.err.find("--sockets: there is no " + file("librspreload.so")), std::string::npos) << without.err;
  std::ofstream(file("librspreload.so")) << "no library";  // the loader says so, and goes on
  EXPECT_EQ(variable({"--sockets"}, "LD_PRELOAD"), file("librspreload.so"));
  ::setenv("LD_PRELOAD", "/opt/a.so", 1);
  EXPECT_EQ(variable({"--sockets"}, "LD_PRELOAD"), file("librspreload.so") + ":/opt/a.so");
  ::unsetenv("LD_PRELOAD");
}

TEST_F(Run, PreloadsTheAnswersForPathsOfRoceDevices) {
  EXPECT_EQ(variable({"--device", "iwarp"}, "LD_PRELOAD"), "unset");
  const Ended without = run({"run", "--device", "roce", "true"});
  EXPECT_EQ(without.exit_code, 2);
  EXPECT_NE(without.err.find("--device: there is no " + file("libweftpaths.so")), std::string::npos) << without.err;
  for (const char* name : {"libweftpaths.so", "librspreload.so"}) std::ofstream(file(name)) << "no library";
  EXPECT_EQ(variable({"--device", "roce"}, "LD_PRELOAD"), file("libweftpaths.so"));
  EXPECT_EQ(variable({"--device", "roce", "--sockets"}, "LD_PRELOAD"),
            file("librspreload.so") + ':' + file("libweftpaths.so"));
}

TEST_F(Run, SetsWhatIsAskedForAndNothingElse) {
  for (const char* name : {"WEFT_PCAP", "WEFT_PCAP_EXIT", "WEFT_LOG", "WEFT_POLICY", "WEFT_CONFIG"}) {
    EXPECT_EQ(variable({}, name), "unset") << name;
  }
  EXPECT_EQ(variable({"--log", "info"}, "WEFT_LOG"), "info");
  EXPECT_EQ(variable({"--policy", "crc=off"}, "WEFT_POLICY"), "crc=off");
  const std::string here = std::filesystem::current_path().string();
  EXPECT_EQ(variable({"--policy", "tls=off,tls-ca=ca.pem"}, "WEFT_POLICY"), "tls=off,tls-ca=" + here + "/ca.pem");
  EXPECT_EQ(variable({"--pcap", file("x-%p.pcap")}, "WEFT_PCAP"), file("x-%p.pcap"));
  EXPECT_TRUE(variable({"--pcap", "x.pcap"}, "WEFT_PCAP").starts_with('/'));
  std::ofstream(file("weft.conf")) << "crc = off\n";
  EXPECT_EQ(variable({"--config", file("weft.conf")}, "WEFT_CONFIG"), file("weft.conf"));
  EXPECT_EQ(variable({"--pcap", "x.pcap"}, "WEFT_PCAP_EXIT"), "2");
  EXPECT_FALSE(std::filesystem::exists("x.pcap")) << "the capture is the program's to make";
}

TEST_F(Run, EndsWith2WhereTheCaptureIsCut) {
  const Ended ended =
      run({"run", "--pcap", "/dev/full", weft_command(), "bench", "lat", "--iters", "1", "--repetitions", "1"});
  EXPECT_EQ(ended.exit_code, 2);
  const std::string sentence = "the capture was cut short: cannot write /dev/full: No space left on device.";
  const std::size_t at = ended.err.find(sentence);
  EXPECT_NE(at, std::string::npos) << ended.err;
  EXPECT_EQ(ended.err.find(sentence, at + 1), std::string::npos) << "once: " << ended.err;
}

TEST_F(Run, TakesGlobalOptionsInFrontToo) {
  const Ended ended =
      run({"--log", "debug", "--pcap", file("y.pcap"), "run", "--", "sh", "-c", "echo $WEFT_LOG $WEFT_PCAP"});
  EXPECT_EQ(ended.out, "debug " + file("y.pcap") + '\n');
}

TEST_F(Run, FindsTheLibrariesBesideTheInstalledCommand) {
  ::unsetenv("WEFT_LIBRARY_PATH");
  for (const char* name : {"usr/bin", "usr/lib/weft"}) std::filesystem::create_directories(file(name));
  std::filesystem::copy_file(weft_command(), file("usr/bin/weft"));
  const std::vector<std::string> words{"run", "--", "sh", "-c", "printf %s \"$LD_LIBRARY_PATH\""};
  const Ended without = Command(words, file("usr/bin/weft")).wait();
  EXPECT_EQ(without.exit_code, 2);
  EXPECT_TRUE(is_one_line(without.err)) << without.err;
  for (const char* remedy : {"not installed", "Debian package weft", "cmake --install", "WEFT_LIBRARY_PATH"})
    EXPECT_NE(without.err.find(remedy), std::string::npos) << remedy;
  EXPECT_EQ(without.err.find("cmake --build"), std::string::npos) << "there is nothing to build";
  for (const char* name : {"libibverbs.so.1", "librdmacm.so.1"}) std::ofstream(file("usr/lib/weft/") + name) << '.';
  EXPECT_EQ(Command(words, file("usr/bin/weft")).wait().out, file("usr/lib/weft"));
}

// A build folder in which only the command was built.
TEST_F(Run, LibrariesThatAreNotBuiltAreToBeBuilt) {
  ::unsetenv("WEFT_LIBRARY_PATH");
  for (const char* name : {"build/tools", "build/compat/lib"}) std::filesystem::create_directories(file(name));
  std::filesystem::copy_file(weft_command(), file("build/tools/weft"));
  std::ofstream(file("build/CMakeCache.txt")) << "# of CMake\n";
  const Ended ended = Command({"run", "--", "true"}, file("build/tools/weft")).wait();
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_TRUE(is_one_line(ended.err)) << ended.err;
  const std::string command =
      "cmake --build '" + file("build") + "' --target weft_ibverbs weft_rdmacm weft_paths weft_rspreload\n";
  EXPECT_TRUE(ended.err.ends_with(command)) << ended.err;
  EXPECT_EQ(ended.err.find("install"), std::string::npos) << ended.err;
  for (const char* name : {"libibverbs.so.1", "librdmacm.so.1"}) std::ofstream(file("build/compat/lib/") + name) << '.';
  EXPECT_EQ(Command({"run", "--", "true"}, file("build/tools/weft")).wait().exit_code, 0);
}

TEST_F(Run, ProgramsThatCannotBeRunHaveTheShellsExitCodes) {
  std::ofstream(file("data")) << "no program";
  for (const auto& [program, code] : {std::pair<std::string, int>{"no-such-program-anywhere", 127},
                                      {"/no/such/program", 127},
                                      {file("data"), 126},
                                      {folder(), 126}}) {
    const Ended ended = run({"run", "--", program});
    EXPECT_EQ(ended.exit_code, code) << program;
    EXPECT_TRUE(is_one_line(ended.err)) << ended.err;
    EXPECT_NE(ended.err.find(program), std::string::npos) << ended.err;
  }
}

TEST_F(Run, MistakesAreOneSentenceAndExitCode2) {
  std::ofstream(file("bad.conf")) << "crc = on\nfrobnicate = 1\n";
  std::ofstream(file("old.conf")) << "mpa-rev = 1\n";
  const std::vector<std::pair<std::vector<std::string>, std::string>> mistakes = {
      {{}, "name the program to run"},
      {{"--frobnicate"}, "--frobnicate"},
      {{"--policy", "crc=perhaps", "--", "true"}, "--policy: crc=perhaps"},
      {{"--policy", "x=1", "--", "true"}, "unknown key 'x'"},
      {{"--policy", "mpa-rev=1,peer-to-peer=on", "--", "true"}, "peer-to-peer"},
      {{"--config", file("old.conf"), "--policy", "peer-to-peer=on", "--", "true"}, "peer-to-peer"},
      {{"--config", file("bad.conf"), "--", "true"}, "bad.conf:2: unknown key 'frobnicate'"},
      {{"--config", file("none.conf"), "--", "true"}, file("none.conf")},
      {{"--pcap", "/no/such/directory/x.pcap", "--", "true"}, "/no/such/directory/x.pcap"},
      {{"--pcap", folder(), "--", "true"}, folder()},
      {{"--pcap", "-", "--", "true"}, "--pcap"},
      {{"--log", "loud", "--", "true"}, "loud"}};
  for (auto [arguments, names] : mistakes) {
    arguments.insert(arguments.begin(), "run");
    const Ended ended = run(arguments);
    EXPECT_EQ(ended.exit_code, 2) << names;
    EXPECT_TRUE(is_one_line(ended.err)) << ended.err;
    EXPECT_NE(ended.err.find(names), std::string::npos) << names << "; " << ended.err;
  }
  EXPECT_EQ(run({"info", "--", "true"}).exit_code, 2) << "only weft run takes a program";
}

TEST_F(Run, MissingLibrariesAreAnError) {
  std::filesystem::create_directory(file("a:b"));
  for (const char* name : {"libibverbs.so.1", "librdmacm.so.1"}) std::ofstream(file("a:b/") + name) << '.';
  for (const std::string& path : {std::string("/no/such/folder"), std::string("/tmp"), file("a:b")}) {
    ::setenv("WEFT_LIBRARY_PATH", path.c_str(), 1);
    const Ended ended = run({"run", "--", "true"});
    EXPECT_EQ(ended.exit_code, 2) << path;
    EXPECT_TRUE(is_one_line(ended.err)) << ended.err;
    EXPECT_NE(ended.err.find(path), std::string::npos) << ended.err;
  }
}

TEST_F(Run, HelpListsEveryKeyOfThePolicy) {
  const std::string text = run({"run", "--help"}).out;
  for (const char* word : {"mpa-rev", "crc", "rtr", "no-receive-timeout", "keepalive", "--policy", "--config", "%p"}) {
    EXPECT_NE(text.find(word), std::string::npos) << word;
  }
}

}  // namespace
}  // namespace weft::test
