// SPDX-License-Identifier: Apache-2.0
// What `weft run` says of a program before it becomes it.
#pragma once

#include <string>
#include <vector>

namespace weft::tools::run {

// One sentence each on what will not work, of the program or of the interpreter that runs it.
[[nodiscard]] std::vector<std::string> warnings_about(const std::string& path);
// What may be just right, but is worth knowing where nothing happens.
[[nodiscard]] std::vector<std::string> notes_about(const std::string& path);

}  // namespace weft::tools::run
