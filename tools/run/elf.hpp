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

// Nothing when this is no ELF file. What points outside the file is left out: its loader will say what is wrong.
[[nodiscard]] std::optional<Elf> read_elf(std::string_view file);

}  // namespace weft::tools::run
