// SPDX-License-Identifier: Apache-2.0
#include "tools/probe/started_process.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <system_error>
#include <thread>

#include "probe/verdict.hpp"
#include "transport/system_words.hpp"

namespace weft::tools::probing {
namespace {

class Process final : public probe::StartedPeer {
 public:
  explicit Process(pid_t id) noexcept : id_(id) {}
  ~Process() override {
    using std::chrono::milliseconds;
    if (leaves_within(milliseconds(100))) return;
    ::kill(-id_, SIGTERM);
    if (leaves_within(milliseconds(1000))) return;
    ::kill(-id_, SIGKILL);
    ::waitpid(id_, nullptr, 0);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  bool running() override {
    if (!gone_) gone_ = ::waitpid(id_, nullptr, WNOHANG) != 0;
    return !gone_;
  }

 private:
  bool leaves_within(std::chrono::milliseconds time) {
    const auto deadline = std::chrono::steady_clock::now() + time;
    while (running()) {
      if (std::chrono::steady_clock::now() >= deadline) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return true;
  }

  pid_t id_;  // of the process and of its group
  bool gone_ = false;
};

}  // namespace

Outcome<std::vector<std::string>> words_of(const std::string& command) {
  std::vector<std::string> words;
  bool in_word = false;
  char quote = 0;
  for (const char letter : command) {
    if (quote == 0 && letter == ' ') {
      in_word = false;
      continue;
    }
    if (!in_word) words.emplace_back();
    in_word = true;
    if (quote == 0 && (letter == '\'' || letter == '"'))
      quote = letter;
    else if (letter == quote)
      quote = 0;
    else
      words.back() += letter;
  }
  if (quote != 0) return usage_error("--run: a quote has no end in '" + command + "'.");
  return words;
}

std::unique_ptr<probe::StartedPeer> start_process(const std::vector<std::string>& words, bool show) {
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  if (show) {
    ::posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO);
  } else {
    ::posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    ::posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  }
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t id = 0;
  const int error = ::posix_spawnp(&id, arguments.front(), &files, &attributes, arguments.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&files);
  if (error != 0) probe::fail("'" + words.front() + "' cannot be started: " + system_words(error));
  return std::make_unique<Process>(id);
}

}  // namespace weft::tools::probing
