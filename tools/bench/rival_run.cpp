// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/rival_run.hpp"

#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <thread>

#include "tools/bench/pinning.hpp"
#include "tools/bench/tcp_socket.hpp"
#include "tools/cli/memory_file.hpp"
#include "tools/run/find_program.hpp"

namespace weft::tools::bench {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kStartPatience = std::chrono::seconds(10);
constexpr auto kRunPatience = std::chrono::seconds(60);
constexpr auto kLook = std::chrono::milliseconds(2);

// A program under way; killed when it is forgotten.
class Process {
 public:
  Process(const RivalTest& test, const std::vector<std::string>& arguments, int output) {
    std::vector<std::string> words{test.program};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<std::string> variables = test.environment;
    for (char** each = environ; *each != nullptr; ++each) variables.emplace_back(*each);
    const auto path = run::find_program(test.program);
    if (!path) return;
    const std::vector<char*> argv = pointers(words);
    const std::vector<char*> environment = pointers(variables);
    const pid_t parent = ::getpid();
    pid_ = ::fork();
    if (pid_ == 0) become(*path, argv, environment, output, parent);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process() {
    if (ended()) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

  [[nodiscard]] bool ended() {
    if (pid_ > 0 && ::waitpid(pid_, nullptr, WNOHANG) == pid_) pid_ = -1;
    return pid_ <= 0;
  }

 private:
  // It ends with us, however we end: a server waits for its client forever. ^C at the terminal is ours to answer.
  [[noreturn]] static void become(const std::string& path, const std::vector<char*>& argv,
                                  const std::vector<char*>& environment, int output, pid_t parent) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::signal(SIGINT, SIG_IGN);
    if (::getppid() == parent && ::dup2(output, STDOUT_FILENO) >= 0 && ::dup2(output, STDERR_FILENO) >= 0) {
      ::execve(path.c_str(), argv.data(), environment.data());
    }
    ::_exit(static_cast<int>(ExitCode::kNotFound));
  }

  static std::vector<char*> pointers(std::vector<std::string>& words) {
    std::vector<char*> all;
    for (std::string& word : words) all.push_back(word.data());
    all.push_back(nullptr);
    return all;
  }

  pid_t pid_ = -1;
};

template <typename Condition>
bool within(std::chrono::seconds at_most, Condition condition) {
  for (const auto begin = Clock::now(); Clock::now() - begin < at_most; std::this_thread::sleep_for(kLook)) {
    if (condition()) return true;
  }
  return false;
}

// Looking is all that is allowed: a connection would be taken for the client's.
bool somebody_listens(std::uint16_t port) {
  char awaited[16];
  std::snprintf(awaited, sizeof awaited, ":%04X", port);
  for (const char* table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::ifstream lines(table);
    for (std::string number, local, remote, state, rest;
         lines >> number >> local >> remote >> state && std::getline(lines, rest);) {
      if (state == "0A" && local.ends_with(awaited)) return true;
    }
  }
  return false;
}

// A port that is free now; the listener is closed again.
Outcome<std::uint16_t> free_port() {
  const auto listener = tcp_listen_on_loopback();
  if (!listener) return std::unexpected(listener.error());
  return listener->port;
}

}  // namespace

std::string why_missing(const RivalTest& test) {
  if (run::find_program(test.program)) return {};
  const bool ucx = test.program == "ucx_perftest";
  return test.program + " is not installed (Debian: apt-get install " + (ucx ? "ucx-utils" : "libfabric-bin") + ")";
}

std::vector<RivalStack> stacks_of(const Against& against) {
  std::vector<RivalStack> all;
  if (against.ucx) all.push_back({"ucx", why_missing({.program = "ucx_perftest"})});
  if (against.libfabric) all.push_back({"libfabric", why_missing({.program = "fi_pingpong"})});
  return all;
}

Outcome<RivalFigure> run_rival(const RivalTest& test, std::uint64_t messages, const Seats& seats, Waiting waiting) {
  const auto port = free_port();
  if (!port) return std::unexpected(port.error());
  const MemoryFile servers_output("server");
  const MemoryFile output("client");
  seats.follower.place(waiting);  // children run where the calling thread may
  Process server(test, test.server(*port, messages), servers_output.descriptor());
  seats.leader.place(waiting);
  if (!within(kStartPatience, [&] { return server.ended() || somebody_listens(*port); }) || server.ended()) {
    return failure(test.name + ": its server did not start: " + servers_output.contents());
  }
  Process client(test, test.client(*port, messages), output.descriptor());
  if (!within(kRunPatience, [&] { return client.ended(); })) return failure(test.name + " did not end");
  return test.read(output.contents(), messages);
}

}  // namespace weft::tools::bench
