// SPDX-License-Identifier: Apache-2.0
// Files that are complete or absent: reports, keys, captures of `weft probe`. A file that cannot be written is a
// failure with ExitCode::kUnwritten.
//
// weft writes a temporary file in the same directory and renames it when it is complete, or removes it on failure: no
// existing file is opened. If `path` is a device, a pipe or a descriptor (/dev/stdout), weft writes to it directly.
// Every file is opened by transport/output_file.hpp, by its rules. A pipe has to have a reader, for which weft waits
// two seconds.
//
// A symbolic link of another user is refused. With Readers::kAll, the target of the caller's own link is replaced; with
// kOwner, the link itself is.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "tools/cli/outcome.hpp"

namespace weft::tools {

// Who can read a new file: everyone whom the umask allows, or only its owner (mode 0600), for payload and keys.
// With kAll, an existing file keeps its mode.
enum class Readers : std::uint8_t { kAll, kOwner };

// Replaces the content of a file. SIGINT, SIGTERM and SIGHUP are blocked while a temporary file exists.
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
