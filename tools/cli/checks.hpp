// SPDX-License-Identifier: Apache-2.0
// Arguments that only the world can check: names that resolve, files that can be written.
#pragma once

#include <string>

#include "tools/cli/command.hpp"
#include "verbs/endpoint.hpp"

namespace weft::tools {

// The endpoint that `host` names; the error says which option was wrong.
Outcome<verbs::Endpoint> look_up(const std::string& option, const std::string& host, std::uint16_t port);

// Begins writing --pcap's file, if it was asked for.
Outcome<void> start_capture(const GlobalOptions& options);

// Fails with ExitCode::kUnwritten if a write to that capture failed.
[[nodiscard]] Outcome<void> check_capture();

// The level that the environment's WEFT_LOG names, if it names one: where --log is not given.
Outcome<void> take_log_variable(GlobalOptions& options);

// Sets --log's level.
Outcome<void> start_log(const GlobalOptions& options);

// Takes the code for CRCs that the environment's WEFT_CRC32C names, if it names one.
Outcome<void> choose_crc32c_routine();

}  // namespace weft::tools
