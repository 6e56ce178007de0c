// SPDX-License-Identifier: Apache-2.0
// The help texts of all subcommands: what they say, and how they are set at 80 columns and on a narrow terminal.
#include <gtest/gtest.h>

#include <regex>

#include "command.hpp"
#include "subcommands.hpp"
#include "terminal.hpp"

namespace weft::test {
namespace {

constexpr const char* kNoMore = "(no more)";

// On a terminal.
std::string help_at(unsigned short columns, const Arguments& words) {
  Terminal terminal(columns);
  Arguments arguments{"-c",
                      R"(terminal=$1; shift; "$0" "$@" --help >"$terminal"; printf '%s' '(no more)' >"$terminal")",
                      weft_command(), terminal.path()};
  arguments.insert(arguments.end(), words.begin(), words.end());
  Command shell(arguments, "sh");
  EXPECT_TRUE(terminal.wait_for(kNoMore));
  const std::string text = std::regex_replace(terminal.text(), std::regex("\r"), "");
  return text.substr(0, text.find(kNoMore));
}

// Words longer than a line stay whole.
void expect_fitting(const std::string& help, std::size_t columns) {
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find_first_not_of(' ');
    if (line.find(' ', first) != std::string::npos) EXPECT_LE(line.size(), columns) << line;
  }
}

// Each line begins an entry, "  --size N" alone or with two blanks behind it, or goes on with the text of one.
void expect_columns(const std::string& help, const std::string& part, const std::regex& entry) {
  for (const std::string& line : lines_of(help, part))
    EXPECT_TRUE(line.starts_with("      ") || std::regex_match(line, entry)) << part << '\n' << line;
}

void expect_well_set(const std::string& help, std::size_t columns) {
  const std::regex one_word(R"(  [^ ]+(  .*)?)");
  const std::regex with_a_value(R"(  -[^ ]+( [^ \[\]]+| \[[^ ]+\][^ ]+)?(  .*)?)");
  expect_fitting(help, columns);
  for (const char* part : {"Positionals:", "Subcommands:", "Help:", "Keys of --policy:"})
    expect_columns(help, part, one_word);
  expect_columns(help, "Options:", with_a_value);
}

TEST(Help, IsOnStandardOutputAndWellSet) {
  for (const Subcommand& each : all_subcommands()) {
    SCOPED_TRACE(testing::PrintToString(each.words));
    Arguments words = each.words;
    words.emplace_back("-h");
    const Ended ended = run(words);
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
    EXPECT_EQ(ended.err, "");
    EXPECT_EQ(ended.out, each.help);
    EXPECT_GT(ended.out.size(), 100U);
    expect_well_set(ended.out, 80);
  }
}

TEST(Help, IsWellSetOnANarrowTerminal) {
  for (const Subcommand& each : all_subcommands()) {
    SCOPED_TRACE(testing::PrintToString(each.words));
    const std::string help = help_at(40, each.words);
    EXPECT_GT(help.size(), 100U);
    expect_well_set(help, 40);
  }
}

TEST(Help, NamesTheValuesOfOptions) {
  EXPECT_NE(run({"probe", "--help"}).out.find("--listen [ADDR:]PORT\n"), std::string::npos);
  EXPECT_NE(run({"audit", "--help"}).out.find("-b,--ring-buffer KEY:N\n"), std::string::npos);
  EXPECT_NE(run({"audit", "--help"}).out.find("--json[=FILE]  "), std::string::npos);
}

TEST(Help, NamesTheProtocolFlags) {
  const std::string text = run({"rping", "--help"}).out;
  for (const char* flag : {"-s", "-c", "-a", "-I", "-p", "-C", "-S", "-v", "-V", "-P", "-d", "-q", "--mpa-rev",
                           "--no-crc", "--markers", "--rtr", "--ird", "--ord", "Examples:"}) {
    EXPECT_NE(text.find(flag), std::string::npos) << flag;
  }
}

}  // namespace
}  // namespace weft::test
