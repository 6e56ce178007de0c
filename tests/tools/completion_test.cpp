// SPDX-License-Identifier: Apache-2.0
// `weft completion`: the scripts offer what --help lists, command by command, and bash is asked for real.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "command.hpp"

namespace weft::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Not;
using testing::UnorderedElementsAre;
using Words = std::vector<std::string>;

std::string script(const std::string& shell) {
  const Ended ended = run({"completion", shell});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  return ended.out;
}

Words lines_of(const std::string& text) {
  Words lines;
  std::istringstream all(text);
  for (std::string line; std::getline(all, line);) {
    while (line.ends_with(' ')) line.pop_back();  // fish's and bash's way to end a word
    if (!line.empty()) lines.push_back(line);
  }
  return lines;
}

// What bash offers for the last of these words.
Words bash(const Words& words, const std::string& folder = ".") {
  constexpr const char* kAsk =
      R"(cd "$1"; shift; source <("$0" completion bash); COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _weft; printf '%s\n' "${COMPREPLY[@]}")";
  Words arguments{"--norc", "-c", kAsk, WEFT_COMMAND, folder};
  arguments.insert(arguments.end(), words.begin(), words.end());
  const Ended ended = Command(arguments, "bash").wait();
  EXPECT_EQ(ended.err, "");
  return lines_of(ended.out);
}

TEST(BashCompletion, OffersSubcommands) {
  EXPECT_THAT(bash({"weft", "d"}), UnorderedElementsAre("demo", "dissect"));
  EXPECT_THAT(bash({"weft", "bench", ""}), UnorderedElementsAre("lat", "bw", "rate", "setup", "suite"));
  EXPECT_THAT(bash({"weft", "--pcap", "demo", "rp"}), ElementsAre("rping")) << "a value is no subcommand";
  EXPECT_THAT(bash({"weft", "--log", "info", "ru"}), ElementsAre("run"));
}

TEST(BashCompletion, OffersOptions) {
  EXPECT_THAT(bash({"weft", "rping", "--m"}), UnorderedElementsAre("--mpa-rev", "--markers", "--max-clients"));
  EXPECT_THAT(bash({"weft", "rping", "-s", "--l"}), ElementsAre("--log")) << "global options are welcome everywhere";
  EXPECT_THAT(bash({"weft", "bench", "lat", "--dep"}), ElementsAre()) << "one of the others'";
  EXPECT_THAT(bash({"weft", "bench", "bw", "--dep"}), ElementsAre("--depth"));
  EXPECT_THAT(bash({"weft", "info", ""}), Contains("--json")) << "nothing else may stand there";
}

TEST(BashCompletion, OffersValues) {
  EXPECT_THAT(bash({"weft", "rping", "--rtr", ""}), UnorderedElementsAre("send", "write", "read", "none"));
  EXPECT_THAT(bash({"weft", "--log", "t"}), ElementsAre("trace"));
  EXPECT_THAT(bash({"weft", "bench", "lat", "--op", "=", "s"}), ElementsAre("send")) << "bash's words of --op=s";
  EXPECT_THAT(bash({"weft", "bench", "lat", "--op", "="}), UnorderedElementsAre("send", "write", "read"));
  EXPECT_THAT(bash({"weft", "bench", "lat", "--op=s"}), ElementsAre("--op=send"));
  EXPECT_THAT(bash({"weft", "bench", "lat", "--against", "tcp,u"}), ElementsAre("tcp,ucx"));
  EXPECT_THAT(bash({"weft", "bench", "lat", "--markers", "o"}), UnorderedElementsAre("on", "off"));
  EXPECT_THAT(bash({"weft", "bench", "lat", "--markers", "--js"}), ElementsAre("--json")) << "it may stand alone";
  EXPECT_THAT(bash({"weft", "completion", ""}), UnorderedElementsAre("bash", "zsh", "fish"));
  EXPECT_THAT(bash({"weft", "rping", "-C", "1"}), ElementsAre()) << "a number is the user's to choose";
}

TEST(BashCompletion, OffersFilesAndPrograms) {
  const TemporaryDirectory folder;
  ASSERT_EQ(Command({folder.file("ping one.pcap"), folder.file("other.txt")}, "touch").wait().exit_code, 0);
  for (const Words& words : {Words{"weft", "audit", "p"}, Words{"weft", "dissect", "p"}, Words{"weft", "--pcap", "p"},
                             Words{"weft", "bench", "suite", "--plot", "p"}}) {
    EXPECT_THAT(bash(words, folder.file(".")), ElementsAre("ping one.pcap"));
  }
  EXPECT_THAT(bash({"weft", "info", "p"}, folder.file(".")), Not(Contains("ping one.pcap")));
  EXPECT_THAT(bash({"weft", "run", "--", "mkfif"}), Contains("mkfifo"));
  EXPECT_THAT(bash({"weft", "run", "--", "mkfif"}), testing::Each("mkfifo")) << "once for each folder that has it";
  EXPECT_THAT(bash({"weft", "run", "--", "cat", "o"}, folder.file(".")), ElementsAre("other.txt"));
  EXPECT_THAT(bash({"weft", "run", "-"}), Contains("--"));
}

// --- No option is missing, in any script: --help is the measure.

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

// In the text from `begin` to `end`; the whole text where it has no `begin`, which fails.
std::string part_of(const std::string& text, const std::string& begin, const std::string& end) {
  const std::size_t at = text.find(begin);
  EXPECT_NE(at, std::string::npos) << begin;
  if (at == std::string::npos) return {};
  return text.substr(at, text.find(end, at + begin.size()) - at);
}

std::string name_of(const Words& command, const std::string& between) {
  std::string text = "weft";
  for (const std::string& word : command) text += between + word;
  return text;
}

struct Scripts {
  std::string bash = script("bash");
  std::string zsh = script("zsh");
  std::string fish = script("fish");
};

void expect_complete(const Words& command, const Scripts& scripts) {
  Words words = command;
  words.emplace_back("--help");
  const std::string help = run(words).out;
  const std::string path = name_of(command, " ");
  const std::string in_bash = part_of(scripts.bash, "    '" + path + "')", ";;");
  const std::string in_zsh = part_of(scripts.zsh, "\n_" + name_of(command, "_") + "() {", "\n}");
  const std::string fish_line = "complete -c weft -n '__weft_at \\'" + path + "\\''";
  const auto options = names_in(help, "Options:");
  EXPECT_TRUE(options.contains("--help")) << help;
  for (const std::string& option : options) {
    EXPECT_NE(in_bash.find("        " + option + '='), std::string::npos) << path << ' ' << option;
    EXPECT_NE(in_zsh.find(')' + option), std::string::npos) << path << ' ' << option;
    const std::string name = option.starts_with("--") ? " -l " + option.substr(2) + ' ' : " -s " + option.substr(1);
    bool found = false;
    for (const std::string& line : lines_of(scripts.fish)) {
      found = found || (line.starts_with(fish_line) && line.find(name) != std::string::npos);
    }
    EXPECT_TRUE(found) << path << ' ' << option;
  }
  for (const std::string& below : names_in(help, "Subcommands:")) {
    EXPECT_THAT(lines_of(part_of(in_bash, "subcommands='", "'")).at(0), testing::HasSubstr(below));
    EXPECT_THAT(in_zsh, testing::HasSubstr("        '" + below + ':'));
    EXPECT_THAT(scripts.fish, testing::HasSubstr(fish_line + " -f -a " + below + ' '));
    Words deeper = command;
    deeper.push_back(below);
    expect_complete(deeper, scripts);
  }
}

TEST(Completion, HasEveryOptionOfEveryCommand) { expect_complete({}, Scripts{}); }

TEST(Completion, IsForShellsThatAreKnown) {
  const Ended ended = run({"completion", "tcsh"});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_NE(ended.err.find("bash, zsh, fish"), std::string::npos) << ended.err;
}

}  // namespace
}  // namespace weft::test
