// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/mistyped.hpp"

#include <optional>
#include <sstream>

#include "tools/cli/nearest.hpp"

namespace weft::tools {
namespace {

// `app` itself, then the subcommands that were recognized, the outermost first.
std::vector<const CLI::App*> chosen(const CLI::App& app) {
  std::vector<const CLI::App*> all{&app};
  while (!all.back()->get_subcommands().empty()) all.push_back(all.back()->get_subcommands().front());
  return all;
}

// Returns the options of all recognized commands, because global options are accepted everywhere.
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

// " (see weft rping --help)", after a question mark or in place of the full stop.
std::string with_help(const std::string& command, const std::string& sentence) {
  const bool ended = sentence.ends_with('?');
  return sentence + " (see " + command + " --help)" + (ended ? "" : ".");
}

std::string unknown_option(const CLI::App& app, const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  return with_help(full_name(app), "unknown option '" + name + "'" + did_you_mean(name, known_options(app)));
}

std::string unknown_word(const CLI::App& app, const std::string& word) {
  if (!names_of_subcommands(*chosen(app).back()).empty()) return unknown_subcommand(*chosen(app).back(), word);
  return with_help(full_name(app), "unexpected argument '" + word + "'");
}

// "{a,b,c}" of a text that has it, as "a, b, c" and as words.
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

// What stands between two texts in `whole`; none where it has not both.
std::optional<std::string> between(const std::string& whole, std::string_view before, std::string_view after) {
  const std::size_t begin = whole.find(before);
  if (begin == std::string::npos) return std::nullopt;
  const std::size_t from = begin + before.size();
  const std::size_t end = after.empty() ? whole.size() : whole.find(after, from);
  if (end == std::string::npos) return std::nullopt;
  return whole.substr(from, end - from);
}

// "0.100000" is how the parser writes 0.1.
std::string plain_number(const std::string& text) {
  if (text.find('.') == std::string::npos) return text;
  const std::string shorter = text.substr(0, text.find_last_not_of('0') + 1);
  return shorter.ends_with('.') ? shorter.substr(0, shorter.size() - 1) : shorter;
}

// The parser's "--op: sned not in {send,write,read}" and "-p: Value 0 not in range 1 to 65535".
std::optional<std::string> wrong_value(const std::string& complaint) {
  const std::string name = complaint.substr(0, complaint.find(": "));
  if (const auto word = between(complaint, ": Value ", " not in range ")) {
    const auto least = between(complaint, " not in range ", " to ");
    const auto most = between(complaint, " to ", "");
    if (!least || !most) return std::nullopt;
    return name + ": '" + *word + "' is not a number from " + plain_number(*least) + " to " + plain_number(*most);
  }
  if (const auto word = between(complaint, ": ", " not in {")) {
    const auto words = words_in_braces(complaint);
    std::string list;
    for (const std::string& each : words) list += (list.empty() ? "" : ", ") + each;
    return name + ": '" + *word + "' is not one of " + list + did_you_mean(*word, words);
  }
  return std::nullopt;
}

std::optional<std::string> wrong_count(const CLI::App& app, const std::string& complaint) {
  if (const auto name = between(complaint, "", " was given a disallowed flag override"))
    return (name->size() == 1 ? "-" : "--") + *name + " takes no value";
  const std::string name = complaint.substr(0, complaint.find(": "));
  if (complaint.find(": At Most ") != std::string::npos) return name + " was given more than once";
  for (const CLI::App* each : chosen(app)) {
    const CLI::Option* const option = each->get_option_no_throw(name);
    if (option == nullptr) continue;
    return name + " needs a value: " + name + ' ' + option->get_type_name();
  }
  return std::nullopt;
}

// The kinds of complaints of CLI11 2.1, each in weft's words. None where it has another.
std::optional<std::string> in_own_words(const CLI::App& app, const CLI::ParseError& error) {
  const std::string complaint = error.what();
  if (error.get_name() == "ValidationError") return wrong_value(complaint);
  if (error.get_name() == "ArgumentMismatch") return wrong_count(app, complaint);
  if (error.get_name() == "RequiredError")
    return between(complaint, "", " is required").value_or("an argument") + " is missing";
  if (error.get_name() == "RequiresError")
    return between(complaint, "", " requires ").value_or("") + " needs " +
           between(complaint, " requires ", "").value_or("");
  if (error.get_name() == "ExcludesError")
    return between(complaint, "", " excludes ").value_or("") + " cannot be used with " +
           between(complaint, " excludes ", "").value_or("");
  if (error.get_name() == "ConversionError") {
    const auto name = between(complaint, "Could not convert: ", " = ");
    const auto value = between(complaint, " = ", "");
    if (name && value) return *name + ": '" + *value + "' is not a whole number, or too large";
  }
  return std::nullopt;
}

}  // namespace

std::string path_of(const CLI::App& command) {
  const CLI::App* const above = command.get_parent();
  return above == nullptr ? command.get_name() : path_of(*above) + ' ' + command.get_name();
}

std::string full_name(const CLI::App& app) { return path_of(*chosen(app).back()); }

std::vector<std::string> names_of_subcommands(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* each : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(each->get_name());
  return names;
}

const CLI::App* subcommand_named(const CLI::App& command, const std::string& name) {
  const auto named = command.get_subcommands([&](const CLI::App* each) { return each->get_name() == name; });
  return named.empty() ? nullptr : named.front();
}

std::string unknown_subcommand(const CLI::App& parent, const std::string& word) {
  return with_help(path_of(parent),
                   "unknown subcommand '" + word + "'" + did_you_mean(word, names_of_subcommands(parent)));
}

std::string sentence_for(const CLI::App& app, const CLI::ParseError& error) {
  const auto unknown = app.remaining(true);
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr && !unknown.empty()) {
    const std::string& word = unknown.front();
    return word.starts_with('-') && word != "-" ? unknown_option(app, word) : unknown_word(app, word);
  }
  return with_help(full_name(app), in_own_words(app, error).value_or("the command line is wrong"));
}

}  // namespace weft::tools
