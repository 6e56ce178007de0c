// SPDX-License-Identifier: Apache-2.0
// How --help looks: lines of at most 100 columns, "--size N" instead of the parser's type names, defaults behind the
// text.
#pragma once

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <string>

namespace weft::tools {

class HelpFormatter final : public CLI::Formatter {
 public:
  HelpFormatter() { column_width(kColumn); }

  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
  std::string make_option_opts(const CLI::Option* option) const override;
  std::string make_option_desc(const CLI::Option* option) const override;

 private:
  static constexpr std::size_t kColumn = 22;  // where descriptions begin
};

// Breaks the lines of `text` that are longer than `width`; what is carried over starts below the line's own text, which
// begins at `column` where the line has something to the left of it.
[[nodiscard]] std::string wrap(const std::string& text, std::size_t width, std::size_t column);

}  // namespace weft::tools
