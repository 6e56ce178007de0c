// SPDX-License-Identifier: Apache-2.0
// Describes, in one sentence, a command line that the parser does not accept.
#pragma once

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <string>
#include <vector>

namespace weft::tools {

// "weft bench lat": an app with the names of those above it.
[[nodiscard]] std::string path_of(const CLI::App& command);

// "weft rping" where a subcommand was recognized, else "weft".
[[nodiscard]] std::string full_name(const CLI::App& app);

// The names of an app's subcommands, in the order of --help.
[[nodiscard]] std::vector<std::string> names_of_subcommands(const CLI::App& app);

// Returns null where there is none.
[[nodiscard]] const CLI::App* subcommand_named(const CLI::App& command, const std::string& name);

// "unknown subcommand 'adit'. Did you mean 'audit'? (see weft --help)": `parent` has no subcommand `word`.
[[nodiscard]] std::string unknown_subcommand(const CLI::App& parent, const std::string& word);

// The sentence for `error`, which app.parse() has thrown.
[[nodiscard]] std::string sentence_for(const CLI::App& app, const CLI::ParseError& error);

}  // namespace weft::tools
