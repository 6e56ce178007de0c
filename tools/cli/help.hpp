// SPDX-License-Identifier: Apache-2.0
// The format of --help: subcommands first and one line each, "--size N" instead of the parser's type names, defaults
// after the description, and lines that fit the terminal (80 columns where there is none).
#pragma once

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <string>

namespace weft::tools {

class HelpFormatter final : public CLI::Formatter {
 public:
  HelpFormatter();

  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
  std::string make_subcommand(const CLI::App* sub) const override;
  std::string make_option(const CLI::Option* option, bool is_positional) const override;
  std::string make_option_opts(const CLI::Option* option) const override;
  std::string make_option_desc(const CLI::Option* option) const override;

 private:
  std::size_t width_;
};

// Keeps the parser from adding the descriptions of the checks of `option` to the name of its type.
void leave_checks_undescribed(CLI::Option& option);

// The help text of `command`, which is `app` or a subcommand of it.
[[nodiscard]] std::string help_of(const CLI::App& app, const CLI::App& command);

}  // namespace weft::tools
