// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/memory_file.hpp"

#include <sys/mman.h>

namespace weft::tools::bench {

MemoryFile::MemoryFile(const char* name) : file_(::memfd_create(name, MFD_CLOEXEC)) {}

std::string MemoryFile::contents() const {
  std::string text;
  char piece[4096];
  for (ssize_t got; (got = ::pread(descriptor(), piece, sizeof piece, static_cast<off_t>(text.size()))) > 0;) {
    text.append(piece, static_cast<std::size_t>(got));
  }
  return text;
}

}  // namespace weft::tools::bench
