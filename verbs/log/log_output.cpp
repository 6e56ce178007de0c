// SPDX-License-Identifier: Apache-2.0
#include "verbs/log/log_output.hpp"

#include <pthread.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/sink.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "common/shown_text.hpp"
#include "common/table.hpp"
#include "transport/cancellation.hpp"
#include "verbs/base/clock.hpp"
#include "verbs/base/process_settings.hpp"
#include "verbs/log/log_budget.hpp"
#include "verbs/log/log_writer.hpp"

namespace weft::verbs {

namespace {

using detail::LogBudget;
using detail::LogKind;
using detail::LogRate;
using std::chrono::milliseconds;
using std::chrono::seconds;

spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug: return spdlog::level::debug;
    case LogLevel::kInfo: return spdlog::level::info;
    case LogLevel::kWarn: return spdlog::level::warn;
    case LogLevel::kError: return spdlog::level::err;
    case LogLevel::kOff: return spdlog::level::off;
  }
  return spdlog::level::warn;
}

// --- Kinds, in the order of LogKind

constexpr LogRate kTenASecond{.burst = 20, .each = milliseconds(100)};

struct Kind {
  LogKind kind;
  LogRate rate;
  LogLevel level;         // of the line that tells how many were not shown
  std::string_view more;  // what they were
};

// kUnbounded has no budget.
constexpr std::array kKinds{
    Kind{LogKind::kPeersStartup,
         {.burst = 1, .each = seconds(10)},
         LogLevel::kWarn,
         "startups that a peer began have failed"},
    Kind{LogKind::kPeersStartupDetail, kTenASecond, LogLevel::kInfo, {}},
    Kind{LogKind::kOwnStartup, kTenASecond, LogLevel::kError, "startups that this end began have failed"},
    Kind{LogKind::kStreamError, kTenASecond, LogLevel::kError, "streams have ended with an error"},
    Kind{LogKind::kRemark, kTenASecond, LogLevel::kWarn, "deviations of peers were tolerated"},
    Kind{LogKind::kStall, kTenASecond, LogLevel::kInfo, "Sends found no receive"},
    Kind{LogKind::kWarning, kTenASecond, LogLevel::kWarn, "warnings"},
    Kind{LogKind::kConnection, {.burst = 2000, .each = milliseconds(1)}, LogLevel::kInfo, "lines about connections"},
};
static_assert(kKinds.size() == std::to_underlying(LogKind::kUnbounded) && in_order(kKinds, &Kind::kind));

std::size_t index_of(LogKind kind) noexcept { return static_cast<std::size_t>(kind); }

// --- What a child of fork() begins anew: a thread of its parent may have held a lock of these.

struct Budgets {
  std::mutex mutex{};
  std::array<LogBudget, kKinds.size()> of = [] {
    const auto make = []<std::size_t... Index>(std::index_sequence<Index...>) {
      return std::array{LogBudget(kKinds[Index].rate)...};
    };
    return make(std::make_index_sequence<kKinds.size()>());
  }();
};

struct Formatter {
  std::mutex mutex{};
  spdlog::pattern_formatter pattern{"%H:%M:%S.%f %n %l: %v", spdlog::pattern_time_type::local, ""};
};

std::optional<Instant> tell_withheld(bool last);

// Never destroyed: weft's threads may still have something to say while exit() runs.
struct Output {
  detail::LogWriter writer{STDERR_FILENO, tell_withheld};
  Formatter* formatter = new Formatter;
  Budgets* budgets = new Budgets;
  spdlog::logger logger{"weft"};
};

Output& output();

class Queue final : public spdlog::sinks::sink {
 public:
  void log(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    const std::string text = shown_text({message.payload.data(), message.payload.size()});
    spdlog::details::log_msg shown = message;
    shown.payload = text;
    Output& out = output();
    {
      const std::lock_guard lock(out.formatter->mutex);
      out.formatter->pattern.format(shown, line);
    }
    out.writer.push({line.data(), line.size()});
  }
  void flush() override {}
  void set_pattern(const std::string&) override {}
  void set_formatter(std::unique_ptr<spdlog::formatter>) override {}
};

std::atomic<bool> has_output{false};

void leave_to_parent() {
  Output& out = output();
  out.writer.leave_to_parent();
  out.formatter = new Formatter;
  out.budgets = new Budgets;
}

Output& output() {
  static auto* const one = [] {
    auto* const made = new Output;
    made->logger.sinks().push_back(std::make_shared<Queue>());
    made->logger.set_level(spdlog::level::warn);
    made->logger.set_error_handler([](const std::string&) {});  // else it would write to standard error itself
    ::pthread_atfork(nullptr, nullptr, leave_to_parent);
    has_output = true;
    return made;
  }();
  return *one;
}

// After all that runs at exit(), and before the threads are gone.
[[gnu::destructor]] void write_the_rest() {
  if (has_output) output().writer.finish();
}

// --- Budgets

std::optional<Instant> tell_withheld(bool last) {
  std::array<std::uint64_t, kKinds.size()> counts{};
  std::optional<Instant> next;
  Budgets& budgets = *output().budgets;
  const Instant at = detail::now();
  {
    const std::lock_guard lock(budgets.mutex);
    for (std::size_t i = 0; i < kKinds.size(); ++i) {
      const auto due = budgets.of[i].due();
      if (due && (last || *due <= at)) counts[i] = budgets.of[i].take_withheld();
      if (due && counts[i] == 0) next = std::min(next.value_or(*due), *due);
    }
  }
  for (std::size_t i = 0; i < kKinds.size(); ++i) {
    if (counts[i] != 0) detail::log_output(kKinds[i].level, fmt::format("{} more {}", counts[i], kKinds[i].more));
  }
  return next;
}

}  // namespace

namespace detail {

bool log_takes(LogKind kind, LogLevel level) noexcept {
  if (!log_shows(level)) return false;
  if (kind == LogKind::kUnbounded) return true;
  Budgets& budgets = *output().budgets;
  const std::lock_guard lock(budgets.mutex);
  return budgets.of[index_of(kind)].take(now());
}

void log_withholds(LogKind kind, LogLevel level) noexcept {
  if (!log_shows(level)) return;
  Budgets& budgets = *output().budgets;
  bool first = false;
  {
    const std::lock_guard lock(budgets.mutex);
    first = budgets.of[index_of(kind)].withhold(now());
  }
  if (first) output().writer.look_again();
}

void log_output(LogLevel level, std::string_view line) noexcept {
  const transport::NoCancellation here;  // a thread that holds locks is not to be canceled while it writes
  output().logger.log(to_spdlog(level), line);
}

}  // namespace detail

void detail::use_log_level(LogLevel level) { output().logger.set_level(to_spdlog(level)); }

void set_log_level(LogLevel level) {
  detail::program_sets(detail::ProcessSetting::kLog);
  detail::use_log_level(level);
}

bool log_shows(LogLevel level) { return output().logger.should_log(to_spdlog(level)); }

bool flush_log(milliseconds patience) {
  const transport::NoCancellation here;
  return output().writer.flush(patience);
}

void log_line(LogLevel level, std::string_view line) {
  constexpr milliseconds kPatience{200};
  if (!log_shows(level)) return;
  detail::log_output(level, line);
  if (!on_progress_thread()) flush_log(kPatience);
}

}  // namespace weft::verbs
