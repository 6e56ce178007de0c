// SPDX-License-Identifier: Apache-2.0
// A file in memory, without a name in the file system, that another program writes and we read.
#pragma once

#include <string>

#include "tools/cli/unique_fd.hpp"

namespace weft::tools::bench {

class MemoryFile {
 public:
  explicit MemoryFile(const char* name);  // the name is for people who look into /proc

  [[nodiscard]] int descriptor() const noexcept { return file_.get(); }  // closed in programs that we start
  [[nodiscard]] std::string contents() const;                            // what has been written so far

 private:
  UniqueFd file_;
};

}  // namespace weft::tools::bench
