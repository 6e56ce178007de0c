// SPDX-License-Identifier: Apache-2.0
#include "verbs/environment.hpp"

#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <system_error>
#include <utility>

#include "common/number.hpp"
#include "common/table.hpp"
#include "transport/cancellation.hpp"
#include "transport/system_words.hpp"
#include "verbs/base/process_settings.hpp"
#include "verbs/log/log.hpp"

namespace weft::verbs {

namespace {

using detail::ProcessSetting;

// --- Each setting: how its variable is read, and how it is made

void read_log_variable(Configuration& settings, const Variable& variable) {
  const auto value = variable("WEFT_LOG");
  if (!value) return;
  if (const auto level = parse_log_level(*value)) {
    settings.log = *level;
  } else {
    settings.complaints.push_back("WEFT_LOG: '" + *value + "' is not one of debug, info, warn, error, off");
  }
}

void apply_log(Configuration& settings) {
  if (settings.log) detail::use_log_level(*settings.log);
}

void read_pcap_variable(Configuration& settings, const Variable& variable) {
  if (const auto value = variable("WEFT_PCAP")) settings.pcap = *value;
}

void apply_pcap(Configuration& settings) {
  if (settings.pcap.empty()) return;
  const std::string path = capture_path(settings.pcap, ::getpid());
  if (const auto done = detail::use_capture_file(path); !done) {
    const Error& error = done.error();
    const std::string sentence = "cannot write " + path + ": " +
                                 (error.os_error != 0 ? system_words(error.os_error) : std::string(error.reason));
    detail::capture_has_failed(sentence);
    settings.complaints.push_back("WEFT_PCAP: " + sentence);
  }
}

void read_crc32c_variable(Configuration& settings, const Variable& variable) {
  const auto value = variable("WEFT_CRC32C");
  if (!value) return;
  if (const auto routine = parse_crc32c(*value)) {
    settings.crc32c = *routine;
  } else {
    settings.complaints.push_back("WEFT_CRC32C: '" + *value + "' is not one of isa-l, portable");
  }
}

void apply_crc32c(Configuration& settings) {
  if (settings.crc32c) use_crc32c(*settings.crc32c);
}

struct Setting {
  ProcessSetting which;
  void (*read)(Configuration& settings, const Variable& variable);
  void (*apply)(Configuration& settings);
};
// The log first: it has the complaints about the others.
constexpr std::array kSettings{
    Setting{ProcessSetting::kLog, read_log_variable, apply_log},
    Setting{ProcessSetting::kCapture, read_pcap_variable, apply_pcap},
    Setting{ProcessSetting::kCrc32c, read_crc32c_variable, apply_crc32c},
};
static_assert(in_order(kSettings, &Setting::which));

// Passed by the first that makes the setting: the program, or the environment.
std::once_flag& once(ProcessSetting setting) {
  static std::array<std::once_flag, kSettings.size()> flags;
  return flags[std::to_underlying(setting)];
}

void apply_variable(const Setting& setting) {
  Configuration settings;
  setting.read(settings, process_variable);
  setting.apply(settings);
  for (const std::string& complaint : settings.complaints) {
    detail::log_warning("environment", complaint + "; ignored");
  }
}

// 0 without a valid WEFT_PCAP_EXIT.
int exit_code_of_cut_capture() {
  return parse_number<std::uint8_t>(process_variable("WEFT_PCAP_EXIT").value_or("")).value_or(0);
}

// Runs after all other handlers of exit(), this library's log included: 101 is the lowest priority that a program can
// have. Only _exit() can still change the exit code.
[[gnu::destructor(101)]] void end_where_capture_was_cut() {
  const int code = exit_code_of_cut_capture();
  const std::string failure = code == 0 ? std::string() : capture_failure();
  if (failure.empty()) return;
  std::fflush(nullptr);  // which exit() does after this
  const std::string line = "weft: the capture was cut short: " + failure + ".\n";
  static_cast<void>(!::write(STDERR_FILENO, line.data(), line.size()));
  ::_exit(code);
}

}  // namespace

std::optional<std::string> process_variable(const char* name) {
  const char* const value = ::secure_getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

void read_variables(Configuration& settings, const Variable& variable) {
  for (const Setting& setting : kSettings) setting.read(settings, variable);
}

void apply_configuration(Configuration& settings) {
  for (const Setting& setting : kSettings) {
    detail::program_sets(setting.which);
    setting.apply(settings);
  }
  set_exposed_memory_limit(settings.exposed_memory);
  if (const auto done = set_progress_threads(settings.progress_threads); !done) {
    settings.complaints.push_back("progress-threads: " + done.error().message());
  }
}

void detail::program_sets(ProcessSetting setting) {
  std::call_once(once(setting), [] {});
}

void detail::apply_environment() {
  const transport::NoCancellation here;
  for (const Setting& setting : kSettings) std::call_once(once(setting.which), apply_variable, setting);
}

}  // namespace weft::verbs
