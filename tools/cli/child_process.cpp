// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/child_process.hpp"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "transport/system_words.hpp"

namespace weft::tools {
namespace {

[[noreturn]] void run_child(const std::function<ExitCode(int)>& body, UniqueFd channel, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(static_cast<int>(ExitCode::kFailure));  // it died before prctl took effect
  const ExitCode code = body(channel.get());
  std::fflush(nullptr);
  ::_exit(static_cast<int>(code));
}

std::string describe(int status) {
  if (WIFSIGNALED(status)) return std::string("ended by signal ") + ::strsignal(WTERMSIG(status));
  return "exit code " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

Outcome<ChildProcess> ChildProcess::start(const std::function<ExitCode(int)>& body) {
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
    return failure(std::string("cannot create a socket pair: ") + system_words(errno));
  }
  UniqueFd ours(pair[0]);
  UniqueFd theirs(pair[1]);
  std::fflush(nullptr);  // else both processes would print what is buffered now
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return failure(std::string("cannot start a second process: ") + system_words(errno));
  if (pid == 0) {
    ours = UniqueFd();
    run_child(body, std::move(theirs), parent);
  }
  return ChildProcess(pid, std::move(ours));
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), channel_(std::move(other.channel_)) {}

ChildProcess::~ChildProcess() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

Outcome<void> ChildProcess::wait() {
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return failure("the second process failed: " + describe(status) + ".");
}

// Its end of the channel goes with it.
void ChildProcess::let_it_speak() const {
  pollfd gone{.fd = channel_.get(), .events = 0, .revents = 0};
  static_cast<void>(::poll(&gone, 1, 1000));
}

Outcome<void> write_exactly(int fd, const void* data, std::size_t size) {
  const char* at = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t written = ::send(fd, at, size, MSG_NOSIGNAL);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return failure("the other process has gone.");
    at += written;
    size -= static_cast<std::size_t>(written);
  }
  return {};
}

Outcome<void> read_exactly(int fd, void* data, std::size_t size) {
  char* at = static_cast<char*>(data);
  while (size > 0) {
    const ssize_t got = ::recv(fd, at, size, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return failure("the other process has gone.");
    at += got;
    size -= static_cast<std::size_t>(got);
  }
  return {};
}

}  // namespace weft::tools
