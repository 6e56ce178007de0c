// SPDX-License-Identifier: Apache-2.0
// Opens every file that weft writes: captures, key logs and reports. In a folder where others may write, such as /tmp,
// they must neither read payload or keys, nor choose what weft overwrites, nor keep it waiting.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include "transport/file_refusal.hpp"

namespace weft::transport {

struct OutputRules {
  enum class Content : std::uint8_t {
    kReplaced,  // an existing file is emptied
    kAppended,  // an existing file keeps its content
    kNew,       // an existing file is an error (EEXIST)
  };
  Content content = Content::kReplaced;
  // Payload or keys: the file gets mode 0600, also if it existed. Otherwise a new file gets what the umask allows.
  bool owner_only = true;
  bool regular_only = false;  // no device and no pipe
};

// Opens `path` for writing, close-on-exec and with a high number. Waits for nothing. Before it changes the file, it
// refuses symbolic links, files of other users, regular files with a second name, and named pipes without a reader.
// A descriptor of the process ("/dev/stdout", "/dev/fd/N" and the like) is opened without these checks.
[[nodiscard]] std::expected<int, FileRefusal> open_output(const std::string& path, const OutputRules& rules) noexcept;

// Returns whether the path is such a name of a descriptor.
[[nodiscard]] bool names_a_descriptor(std::string_view path) noexcept;

}  // namespace weft::transport
