// SPDX-License-Identifier: Apache-2.0
// `weft completion zsh` and `fish`, asked for real where these shells are installed. A program of its own: what is skipped
// here says nothing of bash.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "command.hpp"

namespace weft::test {
namespace {

using testing::ElementsAre;
using testing::IsSupersetOf;
using testing::UnorderedElementsAre;
using Words = std::vector<std::string>;

bool installed(const std::string& shell) { return Command({"-c", "exit 0"}, shell).wait().exit_code == 0; }

Words fish(const std::string& line) {
  const Ended ended =
      Command({"--no-config", "-c", R"($argv[1] completion fish | source; complete -C $argv[2])", WEFT_COMMAND, line},
              "fish")
          .wait();
  EXPECT_EQ(ended.err, "");
  Words words;
  std::istringstream lines(ended.out);
  for (std::string line; std::getline(lines, line);)
    words.push_back(line.substr(0, line.find('\t')));  // not its description
  return words;
}

TEST(FishCompletion, OffersWhatItShould) {
  if (!installed("fish")) GTEST_SKIP() << "fish is not installed (Debian package fish): its completion was not tried";
  EXPECT_THAT(fish("weft d"), UnorderedElementsAre("demo", "dissect"));
  EXPECT_THAT(fish("weft --log info ru"), ElementsAre("run"));
  EXPECT_THAT(fish("weft bench "), IsSupersetOf({"lat", "bw", "rate", "suite"}));
  EXPECT_THAT(fish("weft rping --rt"), ElementsAre("--rtr"));
  EXPECT_THAT(fish("weft rping --rtr "), UnorderedElementsAre("send", "write", "read", "none"));
  EXPECT_THAT(fish("weft completion "), UnorderedElementsAre("bash", "zsh", "fish"));
  EXPECT_THAT(fish("weft run -- mkfif"), ElementsAre("mkfifo"));
}

// At a terminal of its own: what stands on the command line when the key for completion was pressed. A key that comes
// before the line editor has the terminal is not the editor's: its hook tells when it has.
TEST(ZshCompletion, IsValidAndCallsItsCommands) {
  if (!installed("zsh")) GTEST_SKIP() << "zsh is not installed (Debian package zsh): its completion was not tried";
  const Ended syntax = Command({"-c", R"("$0" completion zsh | zsh -f -n)", WEFT_COMMAND}, "sh").wait();
  EXPECT_EQ(syntax.exit_code, 0) << syntax.err;
  EXPECT_EQ(syntax.err, "");
  constexpr const char* kAsk = R"sh(
    zmodload zsh/zpty
    zpty -b z zsh -f -i
    zpty -w z "PS1=; stty -echo; autoload -U compinit; compinit -u -D; source <($1 completion zsh); bindkey '^I' complete-word; zstyle ':completion:*' list-prompt ''"
    zpty -w z "zle-line-init() { print -n at-\$((1+1)) }; zle -N zle-line-init"
    zpty -r -m z text '*at-2*'
    zpty -w -n z "$2"$'\t'
    zpty -w -n z ' END'$'\n'
    zpty -r -m z text '*END*'
    print -r -- "$text"
    zpty -d z
  )sh";
  const auto ask = [&](const std::string& line) {
    return Command({"-f", "-c", kAsk, "zsh", WEFT_COMMAND, line}, "zsh").wait().out;
  };
  EXPECT_THAT(ask("weft rpi"), testing::HasSubstr("rping"));
  EXPECT_THAT(ask("weft --log info dis"), testing::HasSubstr("dissect"));
  EXPECT_THAT(ask("weft rping --rt"), testing::HasSubstr("--rtr"));
  EXPECT_THAT(ask("weft bench lat --op wr"), testing::HasSubstr("write"));
}

}  // namespace
}  // namespace weft::test
