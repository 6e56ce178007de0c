// SPDX-License-Identifier: Apache-2.0
// What is said of a command line that the parser does not take: the word that was meant, where there is one, and which
// help to ask.
#pragma once

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <string>
#include <vector>

namespace weft::tools {

// "weft rping" where a subcommand was recognised, else "weft".
[[nodiscard]] std::string full_name(const CLI::App& app);

// The words of an option's set of values; empty where it has none.
[[nodiscard]] std::vector<std::string> values_of(const CLI::Option& option);

// The sentence for `error`, which app.parse() has thrown.
[[nodiscard]] std::string sentence_for(const CLI::App& app, const CLI::ParseError& error);

}  // namespace weft::tools
