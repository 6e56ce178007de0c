// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/help.hpp"

#include <unistd.h>

#include <memory>
#include <vector>

#include "tools/cli/command.hpp"
#include "tools/cli/mistyped.hpp"
#include "tools/cli/standard_output.hpp"
#include "tools/cli/version.hpp"
#include "tools/cli/wrap.hpp"

namespace weft::tools {
namespace {

constexpr std::size_t kColumn = 22;       // where descriptions begin
constexpr std::size_t kNarrowColumn = 6;  // the same, on lines of their own
constexpr std::size_t kNarrowBelow = 60;

// Returns the line of an option: "  --size N    octets of a message". At least two blanks separate the columns, so that
// wrap() finds the second one.
std::string entry(const std::string& name, const std::string& description, std::size_t column) {
  std::string line = "  " + name;
  if (description.empty()) return line + '\n';
  if (line.size() + 2 > column)
    line += '\n' + std::string(column, ' ');
  else
    line.resize(column, ' ');
  return line + description + '\n';
}

// `weft help`, `weft help bench lat`.
Outcome<void> print_help(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* command = &app;
  for (const std::string& word : words) {
    const CLI::App* const named = subcommand_named(*command, word);
    if (named == nullptr) return usage_error(unknown_subcommand(*command, word));
    command = named;
  }
  return print_now(help_of(app, *command));
}

}  // namespace

HelpFormatter::HelpFormatter() : width_(text_width(STDOUT_FILENO)) {
  column_width(width_ < kNarrowBelow ? kNarrowColumn : kColumn);
}

std::string HelpFormatter::make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const {
  const std::string parts = make_description(app) + '\n' + make_usage(app, name) + make_positionals(app) +
                            make_subcommands(app, mode) + make_groups(app, mode) + '\n' + make_footer(app);
  return wrap(parts, width_);
}

// The first line of a description is its summary.
std::string HelpFormatter::make_subcommand(const CLI::App* sub) const {
  const std::string text = sub->get_description();
  return entry(sub->get_name(), text.substr(0, text.find('\n')), get_column_width());
}

std::string HelpFormatter::make_option(const CLI::Option* option, bool is_positional) const {
  return entry(make_option_name(option, is_positional) + make_option_opts(option), make_option_desc(option),
               get_column_width());
}

// A positional's name says what it is. "[=FILE]" follows its option without a blank.
std::string HelpFormatter::make_option_opts(const CLI::Option* option) const {
  if (!option->nonpositional()) return {};
  return (option->get_expected_max() == 0 ? "" : " ") + option->get_type_name();
}

std::string HelpFormatter::make_option_desc(const CLI::Option* option) const {
  const std::string standard = option->get_default_str();
  return option->get_description() + (standard.empty() ? "" : " (default " + standard + ")");
}

// The parser's own text names types and checks, "INT:INT in [0 - 10]"; the descriptions say that better.
void leave_checks_undescribed(CLI::Option& option) {
  try {
    for (int i = 0;; ++i) option.get_validator(i)->description("");
  } catch (const CLI::OptionNotFound&) {
    return;  // there are no more
  }
}

std::string help_of(const CLI::App& app, const CLI::App& command) {
  return app.get_formatter()->make_help(&command, path_of(command), CLI::AppFormatMode::Normal);
}

void add_help_command(CLI::App& app, Selection& selection) {
  CLI::App* command = app.add_subcommand("help", "Prints the help of weft, or of a subcommand")->group("Help");
  const auto words = std::make_shared<std::vector<std::string>>();
  command->add_option("SUBCOMMAND", *words, "The subcommand, for instance: bench lat");
  command->callback([&app, &selection, words] {
    selection.run = [&app, words](const GlobalOptions&) { return print_help(app, *words); };
  });
}

void add_version_command(CLI::App& app, Selection& selection) {
  app.add_subcommand("version", "Prints the version")->group("Help")->callback([&selection] {
    selection.run = [](const GlobalOptions&) { return print_now(version_text() + '\n'); };
  });
}

}  // namespace weft::tools
