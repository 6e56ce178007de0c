// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/count.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <sstream>

#include "tools/bench/allocations.hpp"
#include "tools/bench/measure.hpp"
#include "tools/cli/memory_file.hpp"
#include "tools/cli/unique_fd.hpp"
#include "tools/run/find_program.hpp"

namespace weft::tools::bench {
namespace {

constexpr std::uint64_t kFew = 500;
constexpr std::uint64_t kMany = 2500;

// strace writes into our memory file, which the traced program has no business with.
Outcome<CallCounts> traced(const Options& options, std::uint64_t messages) {
  const MemoryFile table("strace");
  const UniqueFd nowhere(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  std::vector<std::string> words{"strace", "-f",         "-c",
                                 "-o",     table.path(), "/proc/" + std::to_string(::getpid()) + "/exe"};
  for (std::string& word : command_for(options, messages)) words.push_back(std::move(word));
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  ::posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, nowhere.get(), STDOUT_FILENO);
  pid_t pid = -1;
  const int failed = ::posix_spawnp(&pid, "strace", &actions, nullptr, pointers.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  if (failed != 0 || ::waitpid(pid, &status, 0) != pid || status != 0) return failure("strace did not do its work.");
  return read_strace(table.contents());
}

}  // namespace

// "% time seconds usecs/call calls errors syscall"; the column of errors may be empty. Rules and the sum are left out.
CallCounts read_strace(const std::string& table) {
  CallCounts counts;
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream cells(line);
    double share = 0, seconds = 0, each = 0;
    CallCount count;
    std::string name;
    if (!(cells >> share >> seconds >> each >> count.calls >> name)) continue;
    if (std::string last; cells >> last) {
      count.errors = std::stoull(name);
      name = last;
    }
    if (name != "total") counts[name] = count;
  }
  return counts;
}

std::vector<std::string> command_for(const Options& options, std::uint64_t messages) {
  std::vector<std::string> words{"bench",         std::string(name(options.kind)),
                                 "--op",          std::string(name(options.op)),
                                 "--size",        std::to_string(options.size),
                                 "--iters",       std::to_string(messages),
                                 "--against",     "none",
                                 "--repetitions", "1",
                                 "--crc",         options.crc ? "on" : "off",
                                 "--markers",     options.markers ? "on" : "off"};
  const auto add = [&](const char* option, std::uint64_t value) {
    if (value != 0) words.insert(words.end(), {option, std::to_string(value)});
  };
  if (!options.policy.text.empty()) words.insert(words.end(), {"--policy", options.policy.text});
  add("--mtu", options.segments.mtu);
  add("--emss", options.segments.emss);
  if (options.kind != Kind::kLatency) {
    add("--depth", options.depth);
    add("--connections", options.connections);
    add("--signal-every", options.posting.signal_every);
    return words;
  }
  words.insert(words.end(), {"--blocking", std::string(name(options.blocking))});
  if (options.idle_target) words.emplace_back("--idle-target");
  return words;
}

std::string counts_text(const CallCounts& few, const CallCounts& many, std::uint64_t operations) {
  std::string text = "system calls of both processes for each message, under strace (which changes how they meet):\n";
  for (const auto& [name, count] : many) {
    const auto before = few.find(name);
    const CallCount base = before == few.end() ? CallCount{} : before->second;
    const auto per = [&](std::uint64_t more, std::uint64_t less) {
      return (static_cast<double>(more) - static_cast<double>(less)) / static_cast<double>(operations);
    };
    const double calls = per(count.calls, base.calls);
    if (calls < 0.005) continue;
    char line[160];
    std::snprintf(line, sizeof line, "  %-16s %8.2f, of which in vain %.2f\n", name.c_str(), calls,
                  per(count.errors, base.errors));
    text += line;
  }
  return text;
}

std::string allocations_text(std::uint64_t few, std::uint64_t many, std::uint64_t operations) {
  const double more = static_cast<double>(many) - static_cast<double>(few);
  char line[160];
  std::snprintf(line, sizeof line, "heap allocations of both processes for each message: %.3f\n",
                std::max(0.0, more / static_cast<double>(operations)));
  return line;
}

namespace {

constexpr std::uint64_t kDifference = 2 * (kMany - kFew);  // a measurement runs its messages twice: once to warm up

Outcome<std::uint64_t> allocated(const Options& options, const GlobalOptions& global, std::uint64_t messages) {
  Options once = options;
  once.iterations = messages;
  once.repetitions = 1;
  once.against = {.tcp = false};
  const auto report = measure_apart(once, global);
  if (!report) return std::unexpected(report.error());
  return report->allocations;
}

Outcome<std::string> count_allocations_of(const Options& options, const GlobalOptions& global) {
  if (!allocations_can_be_counted()) return "heap allocations are not counted in a build with sanitizers.\n";
  const auto few = allocated(options, global, kFew);
  if (!few) return std::unexpected(few.error());
  const auto many = allocated(options, global, kMany);
  if (!many) return std::unexpected(many.error());
  return allocations_text(*few, *many, kDifference);
}

Outcome<std::string> count_calls_of(const Options& options) {
  if (!run::find_program("strace")) {
    return "system calls are not counted: strace is not installed (Debian: apt-get install strace).\n";
  }
  const auto few = traced(options, kFew);
  if (!few) return std::unexpected(few.error());
  const auto many = traced(options, kMany);
  if (!many) return std::unexpected(many.error());
  return counts_text(*few, *many, kDifference);
}

}  // namespace

Outcome<std::string> count_operations(const Options& options, const GlobalOptions& global) {
  auto allocations = count_allocations_of(options, global);
  if (!allocations) return allocations;
  const auto calls = count_calls_of(options);
  if (!calls) return calls;
  return *allocations + *calls;
}

}  // namespace weft::tools::bench
