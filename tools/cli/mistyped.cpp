// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/mistyped.hpp"

#include <optional>
#include <sstream>

#include "tools/cli/nearest.hpp"

namespace weft::tools {
namespace {

// The subcommands that were recognised, from the outermost; `app` itself is the first.
std::vector<const CLI::App*> chosen(const CLI::App& app) {
  std::vector<const CLI::App*> all{&app};
  while (!all.back()->get_subcommands().empty()) all.push_back(all.back()->get_subcommands().front());
  return all;
}

std::vector<const CLI::App*> subcommands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

// Of all that were recognised: global options are welcome everywhere.
std::vector<std::string> known_options(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* each : chosen(app)) {
    for (const CLI::Option* option : each->get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
  }
  return names;
}

std::string did_you_mean(const std::string& mistyped, const std::vector<std::string>& words) {
  const auto meant = nearest(mistyped, words);
  return meant ? ". Did you mean '" + *meant + "'?" : "";
}

// " (weft rping --help)", behind a question mark or in place of the full stop.
std::string with_help(const CLI::App& app, const std::string& sentence) {
  const bool ended = sentence.ends_with('?');
  return sentence + " (" + full_name(app) + " --help)" + (ended ? "" : ".");
}

std::string unknown_option(const CLI::App& app, const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  return with_help(app, "there is no option '" + name + "'" + did_you_mean(name, known_options(app)));
}

std::string unknown_word(const CLI::App& app, const std::string& word) {
  std::vector<std::string> names;
  for (const CLI::App* each : subcommands_of(*chosen(app).back())) names.push_back(each->get_name());
  if (names.empty()) return with_help(app, "'" + word + "' was not expected");
  return with_help(app, "there is no subcommand '" + word + "'" + did_you_mean(word, names));
}

// "{a,b,c}" of a text that has it.
std::vector<std::string> words_in_braces(const std::string& text) {
  std::vector<std::string> words;
  const std::size_t begin = text.find('{');
  const std::size_t end = text.find('}', begin);
  if (end == std::string::npos) return words;
  std::istringstream list(text.substr(begin + 1, end - begin - 1));
  for (std::string word; std::getline(list, word, ',');) {
    if (!word.empty()) words.push_back(word);
  }
  return words;
}

// The parser's "--op: sned not in {send,write,read}"; other complaints have no set of words.
std::optional<std::string> wrong_value(const CLI::App& app, const std::string& complaint) {
  constexpr std::string_view kMiddle = " not in {";
  const std::size_t value = complaint.find(": ");
  const std::size_t middle = complaint.find(kMiddle);
  if (value == std::string::npos || middle == std::string::npos || middle < value + 2) return std::nullopt;
  const std::string word = complaint.substr(value + 2, middle - value - 2);
  const auto words = words_in_braces(complaint.substr(middle));
  std::string list;
  for (const std::string& each : words) list += (list.empty() ? "" : ", ") + each;
  return with_help(app,
                   complaint.substr(0, value) + ": '" + word + "' is not one of " + list + did_you_mean(word, words));
}

}  // namespace

std::string full_name(const CLI::App& app) {
  std::string name;
  for (const CLI::App* each : chosen(app)) name += (name.empty() ? "" : " ") + each->get_name();
  return name;
}

std::vector<std::string> values_of(const CLI::Option& option) { return words_in_braces(option.get_type_name()); }

std::string sentence_for(const CLI::App& app, const CLI::ParseError& error) {
  const auto unknown = app.remaining(true);
  if (dynamic_cast<const CLI::ExtrasError*>(&error) == nullptr || unknown.empty()) {
    return wrong_value(app, error.what()).value_or(error.what());
  }
  const std::string& word = unknown.front();
  return word.starts_with('-') && word != "-" ? unknown_option(app, word) : unknown_word(app, word);
}

}  // namespace weft::tools
