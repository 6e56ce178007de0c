// SPDX-License-Identifier: Apache-2.0
#include "tests/interop/program.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <vector>

namespace weft::interop {
namespace {

using namespace std::chrono_literals;

// Linux's own table of sockets: a test connection would be a client of the program.
bool listens(std::uint16_t port) {
  char wanted[8];
  std::snprintf(wanted, sizeof wanted, ":%04X", port);
  for (const char* table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::ifstream lines(table);
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::string number, local, remote, state;
      words >> number >> local >> remote >> state;
      if (state == "0A" && local.ends_with(wanted)) return true;
    }
  }
  return false;
}

}  // namespace

std::uint16_t free_tcp_port() {
  const int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  const bool ok = bind(s, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                  getsockname(s, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  close(s);
  if (!ok) throw std::runtime_error("no free TCP port on 127.0.0.1");
  return ntohs(address.sin_port);
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> all;
  for (std::string& word : words) all.push_back(word.data());
  all.push_back(nullptr);
  return all;
}

Program::Program(const std::string& arguments, const std::string& path) : output_(memfd_create("output", MFD_CLOEXEC)) {
  fcntl(output_, F_SETFL, O_APPEND);  // two threads write to it, and the kernel locks the offset of no such file
  std::istringstream words(arguments);
  std::vector<std::string> list{path};
  for (std::string word; words >> word;) list.push_back(word);
  const std::vector<char*> argv = pointers(list);
  process_ = fork();
  if (process_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    alarm(300);
    dup2(output_, 1);
    dup2(output_, 2);
    execv(argv[0], argv.data());
    _exit(127);
  }
}

Program::~Program() {
  if (process_ > 0) {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  close(output_);
}

void Program::wait_listen(const std::string& port) {
  for (int tries = 0; tries < 2400; ++tries) {
    if (listens(static_cast<std::uint16_t>(std::stoul(port)))) return;
    std::this_thread::sleep_for(50ms);
  }
  throw std::runtime_error("nothing listens on port " + port + ": " + output());
}

void Program::wait_for(const std::string& text) const {
  for (int tries = 0; tries < 2400; ++tries) {
    if (output().find(text) != std::string::npos) return;
    std::this_thread::sleep_for(50ms);
  }
  throw std::runtime_error("the program did not print '" + text + "': " + output());
}

int Program::finish() {
  int status = 0;
  if (process_ <= 0 || waitpid(process_, &status, 0) != process_) return -1;
  process_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string Program::output() const {
  struct stat file{};
  fstat(output_, &file);
  std::string text(static_cast<std::size_t>(file.st_size), '\0');
  const ssize_t n = pread(output_, text.data(), text.size(), 0);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
  return text;
}

}  // namespace weft::interop
