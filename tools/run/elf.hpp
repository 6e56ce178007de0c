// SPDX-License-Identifier: Apache-2.0
// As much of an ELF file as the question needs whose libraries it will load.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft::tools::run {

struct Elf {
  bool foreign{};  // for another processor or word size than this command; nothing below is set then
  bool dynamic{};  // has a dynamic loader (PT_INTERP)
  std::vector<std::string> needed{};
  std::string rpath{};    // DT_RPATH
  std::string runpath{};  // DT_RUNPATH; where it is there, DT_RPATH does not count
};

// Reads an ELF file; returns nothing for other files. Omits what points outside the file: its loader will report it.
[[nodiscard]] std::optional<Elf> read_elf(std::string_view file);

}  // namespace weft::tools::run
