// SPDX-License-Identifier: Apache-2.0
// Standard output. Output that does not arrive is a failure: a full disk, a reader that went away. Whatever the output
// says, the exit code is ExitCode::kUnwritten then. Files are written by tools/cli/whole_file.hpp.
#pragma once

#include <string>
#include <string_view>

#include "tools/cli/outcome.hpp"

namespace weft::tools {

// At the start of the process: where a standard descriptor is closed, the number must not go to a socket or a file.
// Writing to it goes on failing, so that flush_output() sees it.
void occupy_standard_descriptors();

// At the start of the process: a write beyond RLIMIT_FSIZE fails with EFBIG, instead of ending the process with
// SIGXFSZ.
void survive_size_limits();

// Before a command that writes files, too: a write to a pipe whose reader has gone fails with EPIPE, instead of ending
// the process with SIGPIPE.
void survive_closed_pipes();

// At once, for a command that runs for long and must notice when its lines do not arrive.
[[nodiscard]] Outcome<void> print_now(const std::string& text);
[[nodiscard]] Outcome<void> print_line(const std::string& text);

// Prints a line to standard error: shown_text(), so that no name in it moves the cursor or forges a line.
void print_error(std::string_view line);

// The failure of a write to standard output, or to `target`, with this errno; 0: it is not known.
[[nodiscard]] std::unexpected<Failure> output_failure(int error);
[[nodiscard]] std::unexpected<Failure> output_failure(const std::string& target, int error);
[[nodiscard]] bool output_has_failed();

// Hands over what is buffered. An error when that fails or an earlier write has.
[[nodiscard]] Outcome<void> flush_output();

}  // namespace weft::tools
