// SPDX-License-Identifier: Apache-2.0
#include "tools/completion/table.hpp"

#include <algorithm>

#include "tools/cli/mistyped.hpp"

namespace weft::tools::completion {
namespace {

// Up to where the first thought ends: shells show one line.
std::string beginning_of(std::string text) {
  for (const char* end : {"\n", ". ", "; ", ": "}) text.resize(std::min(text.find(end), text.size()));
  if (text.ends_with('.')) text.pop_back();
  return text;
}

// The parser's type name has its checks behind a colon.
std::string type_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  return type.substr(0, type.find(':'));
}

Takes takes(const std::string& type) {
  if (type == "FILE" || type == "DIR") return Takes::kFile;
  if (type == "ADDR") return Takes::kHost;
  if (type == "IFACE") return Takes::kInterface;
  return Takes::kAnything;
}

Value value_for(const CLI::Option& option) {
  if (option.get_type_size() == 0) return {};
  Value value{.words = values_of(option), .may_lack = option.get_items_expected_min() == 0};
  if (value.words.empty()) {
    // Operands have no type's name: their own says it.
    value.takes = takes(option.get_positional() ? option.get_name(true) : type_of(option));
  } else {
    value.takes = option.get_delimiter() != '\0' ? Takes::kList : Takes::kWord;
  }
  return value;
}

OptionRow row_of(const CLI::Option& option) {
  OptionRow row{
      .meaning = beginning_of(option.get_description()), .value_name = type_of(option), .value = value_for(option)};
  for (const std::string& name : option.get_snames()) row.names.push_back('-' + name);
  for (const std::string& name : option.get_lnames()) row.names.push_back("--" + name);
  return row;
}

bool has(const std::vector<OptionRow>& options, const OptionRow& wanted) {
  return std::ranges::any_of(options, [&](const OptionRow& each) { return each.names == wanted.names; });
}

CommandRow row_of(const CLI::App& app, const CommandRow* parent) {
  CommandRow row{.path = (parent != nullptr ? parent->path + ' ' : "") + app.get_name(),
                 .meaning = beginning_of(app.get_description()),
                 .runs_program = app.get_name() == "run"};
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional()) {
      row.operand = value_for(*option);
    } else {
      row.options.push_back(row_of(*option));
    }
  }
  if (parent != nullptr) {
    for (const OptionRow& option : parent->options) {
      const bool own = has(row.options, option) || option.names == std::vector<std::string>{"--version"};
      if (!own) row.options.push_back(option);
    }
  }
  for (const CLI::App* each : app.get_subcommands([](const CLI::App*) { return true; })) {
    row.subcommands.push_back(row_of(*each, &row));
  }
  return row;
}

}  // namespace

CommandRow table_of(const CLI::App& app) { return row_of(app, nullptr); }

}  // namespace weft::tools::completion
