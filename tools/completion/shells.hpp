// SPDX-License-Identifier: Apache-2.0
// The completion scripts, one function a shell.
#pragma once

#include <string>

#include "tools/completion/table.hpp"

namespace weft::tools::completion {

[[nodiscard]] std::string bash_script(const CommandRow& weft);
[[nodiscard]] std::string zsh_script(const CommandRow& weft);
[[nodiscard]] std::string fish_script(const CommandRow& weft);

// The words with this between them.
[[nodiscard]] std::string joined(const std::vector<std::string>& words, const std::string& between);

// `text` with `with` in place of each `what`.
[[nodiscard]] std::string replaced(std::string text, const std::string& what, const std::string& with);

}  // namespace weft::tools::completion
