// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/memory_file.hpp"

#include <sys/mman.h>
#include <unistd.h>

namespace weft::tools {

MemoryFile::MemoryFile(const char* name) : file_(::memfd_create(name, MFD_CLOEXEC)) {}

std::string MemoryFile::contents() const {
  std::string text;
  char piece[4096];
  for (ssize_t got; (got = ::pread(descriptor(), piece, sizeof piece, static_cast<off_t>(text.size()))) > 0;) {
    text.append(piece, static_cast<std::size_t>(got));
  }
  return text;
}

std::string MemoryFile::path() const {
  return "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(descriptor());
}

bool MemoryFile::append(std::string_view text) const {
  return ::write(descriptor(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

}  // namespace weft::tools
