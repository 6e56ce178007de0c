// SPDX-License-Identifier: Apache-2.0
// When reports have colours: on terminals only, unless the user says otherwise.
#include "tools/cli/colour.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "tools/cli/unique_fd.hpp"

namespace weft::tools {
namespace {

// A terminal to write to, whatever the test's own output is; and no variable that speaks of colours.
class ColourChoice : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"NO_COLOR", "CLICOLOR_FORCE"}) ::unsetenv(name);
    ::setenv("TERM", "xterm", 1);
    ASSERT_TRUE(terminal_.valid()) << "no pseudo-terminal can be had";
  }
  [[nodiscard]] bool on_terminal(std::string_view choice = "auto") const {
    return palette_for(choice, terminal_.get()).coloured();
  }
  [[nodiscard]] bool on_file(std::string_view choice = "auto") const {
    return palette_for(choice, file_.get()).coloured();
  }

  UniqueFd terminal_{::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)};
  UniqueFd file_{::open("/dev/null", O_WRONLY | O_CLOEXEC)};
};

TEST_F(ColourChoice, AutoMeansTerminals) {
  EXPECT_TRUE(on_terminal());
  EXPECT_FALSE(on_file());
}

TEST_F(ColourChoice, NotOnTerminalsWithoutColours) {
  ::setenv("TERM", "dumb", 1);
  EXPECT_FALSE(on_terminal());
}

TEST_F(ColourChoice, TheEnvironmentDecides) {
  ::setenv("CLICOLOR_FORCE", "1", 1);
  EXPECT_TRUE(on_file());
  ::setenv("CLICOLOR_FORCE", "0", 1);
  EXPECT_FALSE(on_file());
  ::setenv("CLICOLOR_FORCE", "1", 1);
  ::setenv("NO_COLOR", "1", 1);
  EXPECT_FALSE(on_file());
  EXPECT_FALSE(on_terminal());
  ::setenv("NO_COLOR", "", 1);  // https://no-color.org: set and not empty
  EXPECT_TRUE(on_terminal());
}

TEST_F(ColourChoice, TheOptionBeforeTheEnvironment) {
  ::setenv("NO_COLOR", "1", 1);
  EXPECT_TRUE(on_file("always"));
  ::unsetenv("NO_COLOR");
  ::setenv("CLICOLOR_FORCE", "1", 1);
  EXPECT_FALSE(on_terminal("never"));
}

TEST(Palette, PaintsOrLeavesTextAlone) {
  EXPECT_EQ(Palette(true).paint(Colour::kYellow, "warning"), "\x1b[33mwarning\x1b[0m");
  EXPECT_EQ(Palette(true).paint(Colour::kYellow, ""), "");
  EXPECT_EQ(Palette().paint(Colour::kYellow, "warning"), "warning");
}

}  // namespace
}  // namespace weft::tools
