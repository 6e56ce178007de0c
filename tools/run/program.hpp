// SPDX-License-Identifier: Apache-2.0
// What a program's file tells of whether the drop-in libraries will reach it. The file is only read, and may be
// anything: every offset in it is checked.
#pragma once

#include <string>
#include <vector>

namespace weft::tools::run {

struct Program {
  std::string path{};
  bool readable{};            // else only the members from the inode are set
  bool changes_user{};        // setuid or setgid to another user or group
  bool capabilities{};        // file capabilities that this user would gain
  std::string interpreter{};  // of a script, from its first line
  bool elf{};                 // the members below are set
  bool foreign{};             // for another processor or word size than weft's
  bool dynamic{};             // has a dynamic loader
  std::vector<std::string> needed{};
  std::string rpath{};    // DT_RPATH, where there is no DT_RUNPATH that overrides it
  bool contains_verbs{};  // libibverbs itself seems to be linked in
  bool loads_later{};     // other programs or libraries, which may be what needs verbs
  [[nodiscard]] bool needs_verbs() const;
};

[[nodiscard]] Program inspect(const std::string& path);

}  // namespace weft::tools::run
