// SPDX-License-Identifier: Apache-2.0
// Private to transport/: opens the file of a capture, which holds the payload of every connection and is its owner's
// alone. In a folder where others may write, such as /tmp, they must neither read it nor choose what it overwrites.
#pragma once

#include <expected>
#include <string>
#include <string_view>

namespace weft::transport::detail {

struct Refusal {
  int os_error{};          // errno; 0 when it is we who refuse
  std::string_view why{};  // then; static storage
};

// For writing, from its beginning; not for programs that are started. A new file has mode 0600, and one that was there
// gets it. Refuses links, files of other users and files with further names, before it changes them. A device is opened
// as it is, and so is a named pipe that has a reader. "/dev/stdout", "/dev/fd/N" and the like name a descriptor that
// the process has: what is behind it is not looked at.
[[nodiscard]] std::expected<int, Refusal> open_capture(const std::string& path) noexcept;

}  // namespace weft::transport::detail
