// SPDX-License-Identifier: Apache-2.0
#include "tests/interop/vm.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <utility>

#include "tests/interop/program.hpp"
#include "tests/interop/run_files.hpp"

namespace weft::interop {
namespace {

using namespace std::chrono_literals;

constexpr std::uint16_t kGuestSessionPort = 9000;
constexpr auto kBootAtRest = 6s;
constexpr int kMostFailures = 4;  // of the guest's kernel, in one test program
std::unique_ptr<Vm> the_vm;
Machine description;
bool tried = false;  // to boot
int failures = 0;

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

int connect_to(std::uint16_t port) {
  const int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = loopback(port);
  if (connect(s, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return s;
  close(s);
  throw std::runtime_error("qemu does not listen on its forwarded port");
}

std::string forward(std::uint16_t host, std::uint16_t guest) {
  return std::to_string(host) + ":" + std::to_string(guest);
}

std::string content(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// Names the guest's kernel after each failure: siw is not the same in all of them.
class KernelOfFailures : public testing::EmptyTestEventListener {
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (result.failed() && the_vm) std::printf("the guest's kernel is %s\n", the_vm->kernel().c_str());
  }
};

}  // namespace

Session::Session(Session&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)),
      transcript_(std::move(other.transcript_)),
      pending_(std::move(other.pending_)) {}

Session::~Session() {
  if (socket_ >= 0) close(socket_);
}

std::optional<std::string> Session::line(std::chrono::milliseconds patience) {
  std::size_t end = 0;
  while ((end = pending_.find('\n')) == std::string::npos) {
    pollfd p{socket_, POLLIN, 0};
    char buffer[4096];
    const int ready = poll(&p, 1, static_cast<int>(patience.count()));
    const ssize_t n = ready == 1 ? read(socket_, buffer, sizeof buffer) : -1;
    if (n <= 0) return std::nullopt;
    pending_.append(buffer, static_cast<std::size_t>(n));
  }
  const std::string text = pending_.substr(0, end);
  pending_.erase(0, end + 1);
  transcript_ += "  " + text + "\n";
  return text;
}

std::optional<std::string> Session::wait_for(std::string_view prefix, std::chrono::milliseconds patience) {
  while (auto text = line(patience)) {
    if (text->starts_with(prefix)) return text;
    if (text->starts_with("exit ")) return std::nullopt;
  }
  return std::nullopt;
}

int Session::finish() {
  const auto last = wait_for("exit ");
  if (last) return std::stoi(last->substr(5));
  const std::size_t at = transcript_.rfind("  exit ");  // an earlier wait_for() may have read it
  return at == std::string::npos ? -1 : std::stoi(transcript_.substr(at + 7));
}

void Vm::describe(Machine machine) { description = std::move(machine); }

Vm& Vm::instance() {
  if (!the_vm && std::exchange(tried, true)) throw std::runtime_error("the VM did not come up (see the first test)");
  if (!the_vm) the_vm.reset(new Vm());
  return *the_vm;
}

bool Vm::boot_after_failure(std::string_view during) {
  if (!the_vm || the_vm->answers()) return false;
  the_vm->wait_for_end(the_vm->scaled(5s));  // run.sh has the console to copy
  const GuestEnded end = the_vm->end();
  if (++failures > kMostFailures) throw end;
  std::printf("during %s: %s\nthe guest is booted again\n", std::string(during).c_str(), end.what());
  the_vm.reset();
  the_vm.reset(new Vm());
  return true;
}

void Vm::kill_machine() {
  const Vm& vm = instance();
  if (vm.ended()) throw vm.end();
  kill(static_cast<pid_t>(std::stoi(content(vm.pidfile_))), SIGKILL);
  vm.wait_for_end(60s);
  std::filesystem::remove(vm.pidfile_);
  vm.forget_packets();
  the_vm.reset();
  tried = false;
}

bool Vm::booted() noexcept { return the_vm != nullptr; }

Vm::Vm() {
  for (const std::uint16_t guest : description.ports) ports_[guest] = free_tcp_port();
  ports_[kGuestSessionPort] = free_tcp_port();
  remove_earlier_runs(WEFT_INTEROP_OUTPUT);
  const std::string base = WEFT_INTEROP_OUTPUT "/interop-" + std::to_string(getpid());
  packets_ = base + ".pcap";
  log_ = base + ".log";
  pidfile_ = base + ".pid";
  // The first time this takes a minute: a kernel is downloaded and siw is built.
  if (std::system(
          (std::string(WEFT_INTEROP_DIR "/build.sh") + (description.nfs ? " --nfs" : "") + " >" + log_ + " 2>&1")
              .c_str()) != 0) {
    throw std::runtime_error("tests/interop/build.sh failed:\n" + content(log_));
  }
  const auto begin = std::chrono::steady_clock::now();
  process_ = fork();
  if (process_ == 0) run_script();
  wait_until_up();
  const auto boot = std::chrono::steady_clock::now() - begin;
  slowness_ = static_cast<int>(std::clamp(boot / kBootAtRest, std::int64_t{1}, std::int64_t{10}));
  ask_kernel();
  std::printf("the guest's kernel is %s; it booted in %lld s, so times are multiplied by %d\n", kernel_.c_str(),
              static_cast<long long>(std::chrono::duration_cast<std::chrono::seconds>(boot).count()), slowness_);
  std::fflush(stdout);
  if (failures == 0) testing::UnitTest::GetInstance()->listeners().Append(new KernelOfFailures);
}

void Vm::run_script() const {
  prctl(PR_SET_PDEATHSIG, SIGTERM);  // a test program that is killed leaves no VM behind
  const int log = open(log_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  dup2(log, 1);
  dup2(log, 2);
  std::vector<std::string> words{"run.sh", "--timeout", "1700", "--pcap", packets_, "--pidfile", pidfile_};
  if (description.nfs) words.push_back("--nfs");
  for (const auto& [guest, host] : ports_) words.insert(words.end(), {"--fwd", forward(host, guest)});
  words.push_back("serve_sessions " + std::to_string(kGuestSessionPort));
  execv(WEFT_INTEROP_DIR "/run.sh", pointers(words).data());
  _exit(127);
}

// run.sh ends after qemu, and leaves the end of the guest's console in the log. The process stays to be reaped, so this can be asked again.
bool Vm::ended() const {
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(process_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == process_;
}

bool Vm::answers() const {
  try {
    return start("echo up").wait_for("up", scaled(20s)).has_value();
  } catch (const std::runtime_error&) {
    return false;
  }
}

GuestEnded Vm::end() const { return GuestEnded("the guest has ended; " + content(log_)); }

void Vm::wait_for_end(std::chrono::milliseconds patience) const {
  for (const auto deadline = std::chrono::steady_clock::now() + patience;
       std::chrono::steady_clock::now() < deadline;) {
    if (ended()) break;
    std::this_thread::sleep_for(100ms);
  }
  kill(process_, SIGTERM);  // a process that has ended and is not reaped yet does not mind
  waitpid(process_, nullptr, 0);
}

// Debian's version stands in the build's name ("#1 SMP PREEMPT_DYNAMIC Debian 6.1.192-2 (2026-11-06)"), not in the release ("6.1.0-56-amd64").
void Vm::ask_kernel() {
  std::smatch found;
  const std::string said = run("uname -v; uname -r");
  if (!std::regex_search(said, found, std::regex("(?:Debian |\n  )([0-9]+\\.[0-9]+\\.[0-9]+)[^\n]*\n"))) {
    throw std::runtime_error("the guest does not tell its kernel: " + said);
  }
  kernel_ = found[1];
}

// qemu accepts connections before the guest does, and then closes them or lets them hang.
void Vm::wait_until_up() const {
  const auto deadline = std::chrono::steady_clock::now() + 10min;
  while (std::chrono::steady_clock::now() < deadline) {
    if (ended()) throw std::runtime_error("the VM did not start:\n" + content(log_));
    try {
      if (start("echo up").wait_for("up", 500ms)) return;
    } catch (const std::runtime_error&) {  // qemu is not there yet
    }
    std::this_thread::sleep_for(200ms);
  }
  throw std::runtime_error("the guest did not come up:\n" + content(log_));
}

Session Vm::start(const std::string& command) const {
  if (ended()) throw end();
  const int s = connect_to(port(kGuestSessionPort));
  const std::string text = command + "\n";
  if (send(s, text.data(), text.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(text.size())) {
    close(s);
    throw std::runtime_error("cannot send a command to the guest");
  }
  return Session(s, command);
}

std::string Vm::run(const std::string& command) const {
  Session session = start(command);
  const int code = session.finish();
  if (code != 0)
    throw std::runtime_error("in the guest, exit code " + std::to_string(code) + ": " + session.transcript());
  return session.transcript();
}

bool Vm::recorded(std::string_view octets) const { return content(packets_).find(octets) != std::string::npos; }

void Vm::forget_packets() const {
  if (testing::UnitTest::GetInstance()->Failed()) return;
  std::filesystem::remove(packets_);
  std::filesystem::remove(log_);
}

void Vm::power_off() {
  static_cast<void>(start("touch /run/stop").finish());
  wait_for_end(60s);
}

}  // namespace weft::interop
