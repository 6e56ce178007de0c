// SPDX-License-Identifier: Apache-2.0
// Loading the drop-in libraries does nothing: seen from outside, by the system calls of a program that has them and
// does nothing itself. Programs fork, become daemons, drop rights and close descriptors after they were loaded.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <regex>
#include <string>
#include <vector>

#include "tests/skips/sanitizers.hpp"

namespace {

constexpr int kMayNotTrace = 125;

[[noreturn]] void become(std::vector<std::string> command, std::vector<std::string> environment) {
  const auto pointers = [](std::vector<std::string>& words) {
    std::vector<char*> all;
    for (std::string& word : words) all.push_back(word.data());
    all.push_back(nullptr);
    return all;
  };
  if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0) {
    ::execve(command[0].c_str(), pointers(command).data(), pointers(environment).data());
  }
  ::_exit(kMayNotTrace);
}

// The rest of its page, and the next one, which may not be there: such a read ends where memory does.
std::string text_at(pid_t process, std::uint64_t address) {
  constexpr std::size_t kPage = 4096;
  std::array<char, 2 * kPage + 1> octets{};
  const std::size_t rest = kPage - address % kPage;
  const iovec into{octets.data(), rest + kPage};
  const std::array<iovec, 2> from{
      {{reinterpret_cast<void*>(address), rest}, {reinterpret_cast<void*>(address + rest), kPage}}};
  return ::process_vm_readv(process, &into, 1, from.data(), from.size(), 0) > 0 ? octets.data() : "?";
}

bool is_the_loaders(const std::string& path) {
  static const std::regex library(R"(.*\.so(\.[0-9.]+)?)");
  return path == "/etc/ld.so.cache" || std::regex_match(path, library);
}

// What a constructor has no business with; empty when the call is none of that.
std::string complaint(pid_t process, const __ptrace_syscall_info& info) {
  const auto& call = info.entry;
  switch (call.nr) {
    case SYS_openat: {
      const std::string path = text_at(process, call.args[1]);
      return is_the_loaders(path) ? "" : "opens " + path;
    }
    case SYS_clone:
    case SYS_clone3: return "starts a thread or a process";
    case SYS_execve: return "starts a program";
    case SYS_rt_sigaction: return "takes a signal";
    case SYS_socket:
    case SYS_eventfd2:
    case SYS_epoll_create1:
    case SYS_timerfd_create:
    case SYS_pipe2: return "makes a descriptor";
    case SYS_fcntl:
    case SYS_ioctl: return "does something to a descriptor";
    default: return "";
  }
}

struct Watched {
  std::vector<std::string> complaints{};
  int calls = 0;
  int ended = 0;  // as waitpid() says it
};

Watched watch(const std::vector<std::string>& command, const std::vector<std::string>& environment) {
  const pid_t process = ::fork();
  if (process == 0) become(command, environment);
  Watched seen;
  for (bool begun = false; ::waitpid(process, &seen.ended, 0) == process && WIFSTOPPED(seen.ended); begun = true) {
    if (!begun) ::ptrace(PTRACE_SETOPTIONS, process, 0L, long{PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL});
    __ptrace_syscall_info info{};
    const bool known = ::ptrace(PTRACE_GET_SYSCALL_INFO, process, sizeof info, &info) > 0;
    if (known && info.op == PTRACE_SYSCALL_INFO_ENTRY) {
      ++seen.calls;
      if (const std::string what = complaint(process, info); !what.empty()) seen.complaints.push_back(what);
    }
    ::ptrace(PTRACE_SYSCALL, process, nullptr, nullptr);
  }
  return seen;
}

TEST(CompatConstructors, OpenNothingAndStartNothing) {
  if (weft::test::kAddressSanitizer)
    GTEST_SKIP() << "the sanitizer's run-time library opens files, and would have to be in the program";
  const Watched seen = watch({"/bin/true"}, {"LC_ALL=C", "LD_PRELOAD=" WEFT_DROP_IN_FOLDER
                                                         "/libibverbs.so.1:" WEFT_DROP_IN_FOLDER "/librdmacm.so.1"});
  if (WIFEXITED(seen.ended) && WEXITSTATUS(seen.ended) == kMayNotTrace) GTEST_SKIP() << "ptrace is not allowed here";
  EXPECT_TRUE(WIFEXITED(seen.ended) && WEXITSTATUS(seen.ended) == 0) << seen.ended;
  EXPECT_GT(seen.calls, 20);  // the loader's
  for (const std::string& what : seen.complaints) ADD_FAILURE() << "loading weft's libraries: " << what;
}

// So that the test above cannot be blind.
TEST(CompatConstructors, WatchingSeesAFile) {
  const Watched seen = watch({"/bin/cat", "/dev/null"}, {"LC_ALL=C"});
  if (WIFEXITED(seen.ended) && WEXITSTATUS(seen.ended) == kMayNotTrace) GTEST_SKIP() << "ptrace is not allowed here";
  EXPECT_NE(std::find(seen.complaints.begin(), seen.complaints.end(), "opens /dev/null"), seen.complaints.end());
}

}  // namespace
