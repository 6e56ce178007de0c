// SPDX-License-Identifier: Apache-2.0
// The settings that the environment determines unless the program has set them (verbs/environment.hpp).
#pragma once

#include <cstdint>
#include <string>

#include "verbs/options.hpp"

namespace weft::verbs::detail {

enum class ProcessSetting : std::uint8_t { kLog, kCapture, kCrc32c };

// Records that the program is about to set this: the environment no longer applies to it. Waits for a concurrent read
// of the environment.
void program_sets(ProcessSetting setting);
// Reads the environment for what the program has not set. Only the first call of a process has an effect.
void apply_environment();

// What set_log_level() and set_capture_file() do, no matter who asks.
void use_log_level(LogLevel level);
[[nodiscard]] Result<void> use_capture_file(const std::string& path);
// Sets the result of capture_failure(), unless a write failed before.
void capture_has_failed(const std::string& sentence);

}  // namespace weft::verbs::detail
