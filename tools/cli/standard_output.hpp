// SPDX-License-Identifier: Apache-2.0
// Output that does not arrive is a failure: a full disk, a reader that went away. Whatever the output says, the exit
// code is ExitCode::kUnwritten then: every command's reports are written here.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/cli/outcome.hpp"

namespace weft::tools {

// At the start of the process: where a standard descriptor is closed, the number must not go to a socket or a file.
// Writing to it goes on failing, so that flush_output() sees it.
void occupy_standard_descriptors();

// At the start of the process: a write beyond RLIMIT_FSIZE fails with EFBIG, instead of ending the process with
// SIGXFSZ.
void survive_size_limits();

// At once, for a command that runs for long and must notice when its lines do not arrive.
[[nodiscard]] Outcome<void> print_now(const std::string& text);
[[nodiscard]] Outcome<void> print_line(const std::string& text);

// Prints a line to standard error: shown_text(), so that no name in it moves the cursor or forges a line.
void print_error(std::string_view line);

// What to say of output that failed with this error of the system's; 0: it is not known.
[[nodiscard]] std::unexpected<Failure> output_failure(int error);
[[nodiscard]] bool output_has_failed();

// Hands over what is buffered. An error when that fails or an earlier write has.
[[nodiscard]] Outcome<void> flush_output();

// Who can read a new file: everyone whom the umask allows, or only its owner (mode 0600), for payload and keys.
enum class Readers : std::uint8_t { kAll, kOwner };

// Replaces the content of a file. The file never has a part of the text: weft writes a temporary file in the same
// directory and renames it when it is complete, or removes it on failure. SIGINT, SIGTERM and SIGHUP are blocked
// meanwhile. If `path` is a device, a pipe or a descriptor (/dev/stdout), the text is written to it directly. With
// Readers::kAll, an existing file keeps its mode, and the target of a symbolic link is replaced; with kOwner, the link
// itself is replaced.
[[nodiscard]] Outcome<void> write_file(const std::string& path, const std::string& text,
                                       Readers readers = Readers::kAll);
// The same for text that takes long to produce: `fill` writes it to an open stream, whose errors are checked
// afterwards. Blocks no signals: the caller handles them (tools/cli/interruption.hpp).
using Fill = std::function<void(std::FILE* file)>;
[[nodiscard]] Outcome<void> fill_file(const std::string& path, Readers readers, const Fill& fill);
// The same for a file that `write` creates under the given name, with a mode of its choice.
using Write = std::function<Outcome<void>(const std::string& name)>;
[[nodiscard]] Outcome<void> replace_file(const std::string& path, const Write& write);

// Returns whether this process has written the file that is called `path` on the command line, with a function above.
[[nodiscard]] bool was_written(const std::string& path);
// Removes the file that the functions above would replace, if there is one.
void remove_file(const std::string& path);

// Creates all files or none. Fails if one of them exists; existing files are not changed.
struct NewFile {
  std::string path{};
  std::string text{};
  Readers readers = Readers::kOwner;
};
[[nodiscard]] Outcome<void> write_new_files(const std::vector<NewFile>& files);

// Writes to the FILE of --json, -o and similar options; "-" is standard output.
[[nodiscard]] Outcome<void> write_report(const std::string& path, const std::string& text,
                                         Readers readers = Readers::kAll);

// Fails like write_file() if `path` cannot be written, so that a command fails before it measures. Creates no file.
[[nodiscard]] Outcome<void> check_writable(const std::string& path);

}  // namespace weft::tools
