// SPDX-License-Identifier: Apache-2.0
// The output of log lines: level, rate limit of their kind, clock and queue. log.hpp has the content.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include "verbs/options.hpp"

namespace weft::verbs::detail {

// Each kind has a budget: log_output.cpp has the table.
enum class LogKind : std::uint8_t {
  kPeersStartup,        // at level warn: one in ten seconds, for any host that can connect causes it
  kPeersStartupDetail,  // at level info: the others
  kOwnStartup,
  kStreamError,
  kRemark,
  kStall,
  kWarning,
  kConnection,
  kUnbounded,  // a reader of level debug wants all of it
};

// Returns whether a line of this kind and level may be shown now; takes it from the budget.
[[nodiscard]] bool log_takes(LogKind kind, LogLevel level) noexcept;
// A line is omitted: it is counted, and reported later.
void log_withholds(LogKind kind, LogLevel level) noexcept;
// One line for the queue; neither blocks nor throws.
void log_output(LogLevel level, std::string_view line) noexcept;

// Makes a line only where it is shown. Without memory for it there is none.
template <std::invocable Make>
void log_if_admitted(LogKind kind, LogLevel level, const Make& make) noexcept {
  if (!log_takes(kind, level)) return log_withholds(kind, level);
  try {
    log_output(level, make());
  } catch (...) {
    log_output(level, "no memory for this line");
  }
}

}  // namespace weft::verbs::detail
