// SPDX-License-Identifier: Apache-2.0
// A file in memory, without a name in the file system: another program writes it and we read, or the other way round.
#pragma once

#include <string>
#include <string_view>

#include "tools/cli/unique_fd.hpp"

namespace weft::tools {

class MemoryFile {
 public:
  explicit MemoryFile(const char* name);  // the name is for people who look into /proc

  [[nodiscard]] int descriptor() const noexcept { return file_.get(); }  // closed in programs that we start
  [[nodiscard]] std::string contents() const;                            // what has been written so far
  [[nodiscard]] std::string path() const;  // for our children, too, and for what they start, while we live
  [[nodiscard]] bool append(std::string_view text) const;

 private:
  UniqueFd file_;
};

}  // namespace weft::tools
