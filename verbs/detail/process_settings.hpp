// SPDX-License-Identifier: Apache-2.0
// The settings that the environment makes unless the program has (verbs/environment.hpp).
#pragma once

#include <cstdint>
#include <string>

#include "verbs/options.hpp"

namespace weft::verbs::detail {

enum class ProcessSetting : std::uint8_t { kLog, kCapture, kCrc32c };

// The program is about to set this: what the environment says is not looked at any more. Behind a look that is under way.
void program_sets(ProcessSetting setting);
// Reads the environment for what the program has not set. The first call of a process does.
void apply_environment();

// What set_log_level() and set_capture_file() do, no matter who asks.
void use_log_level(LogLevel level);
[[nodiscard]] Result<void> use_capture_file(const std::string& path);
// Sets what capture_failure() returns, unless something failed before.
void capture_has_failed(const std::string& sentence);

}  // namespace weft::verbs::detail
