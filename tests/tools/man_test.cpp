// SPDX-License-Identifier: Apache-2.0
// The manual pages keep up with --help: each subcommand has a page, and each option stands in it.
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "command.hpp"

namespace weft::test {
namespace {

// The page's text without roff: fonts taken out, "\-" a plain hyphen.
std::string page(const std::string& name) {
  std::ifstream file(std::string(WEFT_MAN_PAGES) + '/' + name + ".1");
  EXPECT_TRUE(file) << "no manual page for " << name;
  std::string text{std::istreambuf_iterator<char>(file), {}};
  for (const auto& [code, plain] :
       {std::pair<std::string, std::string>{"\\fB", ""}, {"\\fI", ""}, {"\\fR", ""}, {"\\-", "-"}}) {
    for (std::size_t at = 0; (at = text.find(code, at)) != std::string::npos;) text.replace(at, code.size(), plain);
  }
  return text;
}

// What stands first in the lines of one part of a help text, cut at commas: "-h", "--help".
std::set<std::string> names_in(const std::string& help, const std::string& part) {
  std::set<std::string> names;
  std::istringstream lines(help.substr(std::min(help.find('\n' + part + '\n'), help.size())));
  std::string line;
  for (std::getline(lines, line), std::getline(lines, line); std::getline(lines, line) && !line.empty();) {
    if (!line.starts_with("  ") || line[2] == ' ') continue;
    std::istringstream words(line.substr(2, line.find(' ', 2) - 2));
    for (std::string word; std::getline(words, word, ',');) names.insert(word);
  }
  return names;
}

// Does `option` stand in the text, and not as a part of a longer one?
bool explains(const std::string& text, const std::string& option) {
  for (std::size_t at = 0; (at = text.find(option, at)) != std::string::npos; ++at) {
    const bool begins = at == 0 || text[at - 1] == '\n' || text[at - 1] == ' ';
    const char behind = text[std::min(at + option.size(), text.size() - 1)];
    if (begins && (behind == '\n' || behind == ' ' || behind == ',')) return true;
  }
  return false;
}

void expect_explained(const std::vector<std::string>& command, const std::string& name) {
  std::vector<std::string> words = command;
  words.emplace_back("--help");
  const std::string help = run(words).out;
  const std::string text = page(name);
  const auto options = names_in(help, "Options:");
  EXPECT_TRUE(options.contains("--help")) << help;
  for (const std::string& option : options) EXPECT_TRUE(explains(text, option)) << name << ".1: " << option;
}

TEST(ManualPages, ExplainEveryOption) {
  expect_explained({}, "weft");
  const auto subcommands = names_in(run({"--help"}).out, "Subcommands:");
  EXPECT_TRUE(subcommands.contains("run"));
  for (const std::string& subcommand : subcommands) {
    expect_explained({subcommand}, "weft-" + subcommand);
    EXPECT_TRUE(explains(page("weft"), "weft-" + subcommand + "(1)")) << "weft.1 lists all";
    for (const std::string& below : names_in(run({subcommand, "--help"}).out, "Subcommands:")) {
      EXPECT_TRUE(explains(page("weft-" + subcommand), below)) << below;
      expect_explained({subcommand, below}, "weft-" + subcommand);
    }
  }
}

}  // namespace
}  // namespace weft::test
