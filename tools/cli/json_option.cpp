// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/json_option.hpp"

#include <algorithm>
#include <list>
#include <string_view>

#include "tools/cli/report_files.hpp"

namespace weft::tools {

CLI::Option* add_json_option(CLI::App& command, std::string& file, const std::string& what) {
  const auto standard_output = [](std::string& value) {
    if (value == "true") value = "-";  // the parser passes this for a flag without a value
    return std::string();
  };
  CLI::Option* const option =
      command.add_flag("--json", file, what + "; without FILE or with -: to standard output, instead of the text")
          ->type_name("[=FILE]")
          ->transform(CLI::Validator(standard_output, ""));
  register_report(option, ReportFormat::kJson);
  return option;
}

void join_json_file(int& argc, char** argv) {
  static std::list<std::string> joined;  // argv points into it
  char** const end = argv + argc;
  for (char** word = argv; end - word >= 2; ++word) {
    if (*word == std::string_view("--")) return;  // what follows are no options
    if (*word != std::string_view("--json") || !std::string_view(word[1]).ends_with(".json")) continue;
    *word = joined.emplace_back(std::string("--json=") + word[1]).data();
    std::copy(word + 2, end, word + 1);
    argv[--argc] = nullptr;
    return;
  }
}

}  // namespace weft::tools
