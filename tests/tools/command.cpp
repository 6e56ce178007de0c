// SPDX-License-Identifier: Apache-2.0
#include "command.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <thread>

namespace weft::test {
namespace {

// Several processes may write to it: the kernel keeps one offset for them, and locks it for no file of this kind. Only what is
// appended overwrites nothing.
int output_file(const char* name) {
  const int file = ::memfd_create(name, MFD_CLOEXEC);
  if (file < 0 || ::fcntl(file, F_SETFL, O_APPEND) != 0) throw std::runtime_error("no file in memory");
  return file;
}

std::string contents(int fd) {
  std::string text;
  char piece[4096];
  for (;;) {
    const ssize_t got = ::pread(fd, piece, sizeof piece, static_cast<off_t>(text.size()));
    if (got <= 0) return text;
    text.append(piece, static_cast<std::size_t>(got));
  }
}

[[noreturn]] void become(const std::string& program, const std::vector<std::string>& arguments, int out, int err) {
  std::vector<char*> argv{const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(err, STDERR_FILENO);
  ::execvp(program.c_str(), argv.data());
  ::_exit(127);
}

}  // namespace

const std::string& weft_command() {
  static const std::string kPath = [] {
    const char* const chosen = std::getenv("WEFT_COMMAND");
    return std::string(chosen != nullptr ? chosen : WEFT_OF_THIS_BUILD);
  }();
  return kPath;
}

Command::Command(const std::vector<std::string>& arguments, const std::string& program)
    : out_(output_file("out")), err_(output_file("err")) {
  const std::string path = program.empty() ? weft_command() : program;
  pid_ = ::fork();
  if (pid_ < 0) throw std::runtime_error("fork failed");
  if (pid_ == 0) become(path, arguments, out_, err_);
}

Command::~Command() {
  if (!ended_) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  ::close(out_);
  ::close(err_);
}

bool Command::collect() {
  if (!ended_ && ::waitpid(pid_, &status_, WNOHANG) == pid_) ended_ = true;
  return ended_;
}

bool Command::wait_for(std::string_view text, int descriptor, std::chrono::seconds at_most) {
  const auto deadline = std::chrono::steady_clock::now() + at_most;
  for (;;) {
    const bool over = collect() || std::chrono::steady_clock::now() > deadline;
    if (contents(descriptor).find(text) != std::string::npos) return true;
    if (over) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

bool Command::wait_for_output(std::string_view text, std::chrono::seconds at_most) {
  return wait_for(text, out_, at_most);
}
bool Command::wait_for_error(std::string_view text, std::chrono::seconds at_most) {
  return wait_for(text, err_, at_most);
}

Ended Command::wait(std::chrono::seconds at_most) {
  const auto deadline = std::chrono::steady_clock::now() + at_most;
  while (!collect()) {
    if (std::chrono::steady_clock::now() > deadline) {
      signal(SIGKILL);
      ::waitpid(pid_, &status_, 0);
      ended_ = true;
      return {kTimedOut, out(), err()};
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  const int code = WIFEXITED(status_) ? WEXITSTATUS(status_) : -WTERMSIG(status_);
  return {code, out(), err()};
}

void Command::signal(int number) const { ::kill(pid_, number); }
std::string Command::out() const { return contents(out_); }
std::string Command::err() const { return contents(err_); }

// Below those that the kernel hands out (ip_local_port_range): else any client that connects in the meantime may get
// it. Test programs that run at the same time begin at different places.
std::uint16_t free_port() {
  constexpr int kFirst = 10000;
  constexpr int kPorts = 20000;
  static int next = static_cast<int>(::getpid() * 61L % kPorts);
  for (int tried = 0; tried < kPorts; ++tried) {
    const auto port = static_cast<std::uint16_t>(kFirst + next++ % kPorts);
    const int fd = ::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;  // the wildcard: free for IPv4 too
    address.sin6_port = htons(port);
    const bool free = ::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    ::close(fd);
    if (free) return port;
  }
  throw std::runtime_error("no port");
}

bool is_one_line(const std::string& text) {
  return text.size() > 1 && text.back() == '\n' && std::count(text.begin(), text.end(), '\n') == 1;
}

}  // namespace weft::test
