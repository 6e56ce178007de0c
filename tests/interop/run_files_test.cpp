// SPDX-License-Identifier: Apache-2.0
// Of the runs that failed only the last one's files stay. Needs no virtual machine.
#include "tests/interop/run_files.hpp"
#include "tests/temporary_directory.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string>

namespace weft::interop {
namespace {

namespace fs = std::filesystem;

class RunFiles : public testing::Test {
 protected:
  void leave(const std::string& name, std::chrono::hours ago) const {
    std::ofstream(directory_ / name) << "octets";
    fs::last_write_time(directory_ / name, fs::file_time_type::clock::now() - ago);
  }
  [[nodiscard]] bool there(const std::string& name) const { return fs::exists(directory_ / name); }

  const weft::test::TemporaryDirectory temporary_{};
  const fs::path& directory_ = temporary_.path();
};

// The number of a process that has ended.
pid_t ended_process() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  return child;
}

std::string stem(pid_t process) { return "interop-" + std::to_string(process); }

TEST_F(RunFiles, OnlyTheLastRunsStay) {
  using std::chrono::hours;
  const pid_t oldest = ended_process();
  const pid_t older = ended_process();
  const pid_t last = ended_process();
  leave(stem(oldest) + ".pcap", hours(9));
  leave(stem(oldest) + ".log", hours(9));
  leave(stem(older) + ".pcap", hours(5));
  leave(stem(older) + ".pid", hours(5));
  leave(stem(last) + ".log", hours(3));  // begun first, but the capture was written to the end
  leave(stem(last) + ".pcap", hours(1));
  remove_earlier_runs(directory_);
  EXPECT_FALSE(there(stem(oldest) + ".pcap"));
  EXPECT_FALSE(there(stem(oldest) + ".log"));
  EXPECT_FALSE(there(stem(older) + ".pcap"));
  EXPECT_FALSE(there(stem(older) + ".pid"));
  EXPECT_TRUE(there(stem(last) + ".log"));
  EXPECT_TRUE(there(stem(last) + ".pcap"));
}

TEST_F(RunFiles, OfARunUnderWayAndOfOthersStay) {
  using std::chrono::hours;
  leave(stem(::getpid()) + ".pcap", hours(9));
  leave("interop_test", hours(9));
  leave("interop-x.pcap", hours(9));
  leave(stem(ended_process()) + ".log", hours(1));
  remove_earlier_runs(directory_);
  EXPECT_TRUE(there(stem(::getpid()) + ".pcap"));
  EXPECT_TRUE(there("interop_test"));
  EXPECT_TRUE(there("interop-x.pcap"));
}

TEST_F(RunFiles, NoDirectoryIsNoError) { remove_earlier_runs(directory_ / "none"); }

}  // namespace
}  // namespace weft::interop
