// SPDX-License-Identifier: Apache-2.0
// What one operation costs in heap allocations and system calls: the pair of processes runs twice, with few operations
// and with many, and the difference is that of the operations alone. For system calls it does so under strace.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tools/bench/options.hpp"
#include "tools/cli/command.hpp"

namespace weft::tools::bench {

struct CallCount {
  std::uint64_t calls{};
  std::uint64_t errors{};  // of these: mostly EAGAIN, polling in vain
};
using CallCounts = std::map<std::string, CallCount>;

// The table that strace -c writes.
[[nodiscard]] CallCounts read_strace(const std::string& table);

// The command line, without the program, that measures weft alone with this number of messages, once.
[[nodiscard]] std::vector<std::string> command_for(const Options& options, std::uint64_t messages);

// What is printed: a line for each system call that the operations made, of both processes together.
[[nodiscard]] std::string counts_text(const CallCounts& few, const CallCounts& many, std::uint64_t operations);

// The same for heap allocations, to a thousandth.
[[nodiscard]] std::string allocations_text(std::uint64_t few, std::uint64_t many, std::uint64_t operations);

// Counts, and gives the text, which also says what cannot be counted here: system calls without strace, allocations in
// a build with sanitizers. Must be called while the process has a single thread.
Outcome<std::string> count_operations(const Options& options, const GlobalOptions& global);

}  // namespace weft::tools::bench
