// SPDX-License-Identifier: Apache-2.0
// Output that does not arrive is a failure: a full disk, a reader that went away. Whatever the output says, the exit code
// is ExitCode::kUnwritten then: every command's reports are written here.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "tools/cli/outcome.hpp"

namespace weft::tools {

// At the start of the process: where a standard descriptor is closed, the number must not go to a socket or a file.
// Writing to it goes on failing, so that flush_output() sees it.
void occupy_standard_descriptors();

// At the start of the process: a write beyond RLIMIT_FSIZE fails with EFBIG, and does not end the process with SIGXFSZ.
void survive_size_limits();

// At once, for a command that runs for long and must notice when its lines do not arrive.
[[nodiscard]] Outcome<void> print_now(const std::string& text);
[[nodiscard]] Outcome<void> print_line(const std::string& text);

// What to say of output that failed with this error of the system's; 0: it is not known.
[[nodiscard]] std::unexpected<Failure> output_failure(int error);
[[nodiscard]] bool output_has_failed();

// Hands over what is buffered. An error when that fails or an earlier write has.
[[nodiscard]] Outcome<void> flush_output();

// Who may read a new file: whom the umask allows, or its owner alone (mode 0600), as befits payload and keys.
enum class Readers : std::uint8_t { kAll, kOwner };

// Writes a whole file, in place of what it had. The file never has a part of the text: that goes into another file of the
// same folder, which takes the name when it is whole, and is removed when it cannot be; SIGINT, SIGTERM and SIGHUP wait for
// that. Where `path` names a device, a pipe or a descriptor (/dev/stdout) the text goes there at once. With Readers::kAll a
// file that was there keeps its mode, and of a symbolic link what it names is replaced; with kOwner the link itself is.
[[nodiscard]] Outcome<void> write_file(const std::string& path, const std::string& text,
                                       Readers readers = Readers::kAll);
// The same for text that takes long to make: `fill` writes it into an open stream, whose errors are found. No signal waits:
// the caller has caught those that are to end it (tools/cli/interruption.hpp).
using Fill = std::function<void(std::FILE* file)>;
[[nodiscard]] Outcome<void> fill_file(const std::string& path, Readers readers, const Fill& fill);
// The same for a file that `write` makes by the name that it is given, with the mode that it wants.
using Write = std::function<Outcome<void>(const std::string& name)>;
[[nodiscard]] Outcome<void> replace_file(const std::string& path, const Write& write);

// New files: all of them or none. An error where there is one of such a name, which stays as it is.
struct NewFile {
  std::string path{};
  std::string text{};
  Readers readers = Readers::kOwner;
};
[[nodiscard]] Outcome<void> write_new_files(const std::vector<NewFile>& files);

// The FILE of --json, -o and the like: "-" is standard output.
[[nodiscard]] Outcome<void> write_report(const std::string& path, const std::string& text,
                                         Readers readers = Readers::kAll);

// Fails, as write_file() would, when `path` cannot be written: before a command measures for an hour. Makes no file.
[[nodiscard]] Outcome<void> check_writable(const std::string& path);

}  // namespace weft::tools
