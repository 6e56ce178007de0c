// SPDX-License-Identifier: Apache-2.0
// Text of unknown origin.
#include "common/shown_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kMark = "\xEF\xBF\xBD";  // U+FFFD

TEST(ShownText, LeavesCharactersAlone) {
  for (const std::string_view good : {"", "a&<b>\"'\\q", "\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80", "\xEF\xBF\xBD"})
    EXPECT_EQ(shown_text(good), good);
}

TEST(ShownText, ReplacesWhatATerminalObeys) {
  const std::string three = std::string(kMark) + kMark + kMark;
  EXPECT_EQ(shown_text("a\x01\x1b\x7f"
                       "b"),
            "a" + three + "b");
  EXPECT_EQ(shown_text(std::string_view("\0\t\r", 3)), three);
}

TEST(ShownText, IsOneLineUnlessSeveralAreWanted) {
  EXPECT_EQ(shown_text("a\nb"), "a b");
  EXPECT_EQ(shown_text("a\nb\x1b", Lines::kSeveral), std::string("a\nb") + kMark);
}

TEST(ShownText, ReplacesWhatIsNoCharacter) {
  EXPECT_EQ(shown_text("\xEF\xBF\xBF"), std::string(kMark) + kMark + kMark) << "an octet each";
  EXPECT_EQ(shown_text("\xBF\xBF"), std::string(kMark) + kMark);
  // Cut, overlong, a surrogate, U+FFFE, U+FFFF, U+10FFFF, a control character of two octets, beyond Unicode, turned
  // direction, ends of lines, a single octet.
  for (const std::string bad : {"\xC3", "\xE2\x82", "\xC0\xAF", "\xE0\x80\xAF", "\xF0\x80\x80\xAF", "\xED\xA0\x80",
                                "\xEF\xBF\xBE", "\xEF\xBF\xBF", "\xF4\x8F\xBF\xBF", "\xC2\x85", "\xF8\x88\x80\x80\x80",
                                "\xF4\x90\x80\x80", "\xE2\x80\xAE", "\xE2\x81\xA6", "\xE2\x80\xA8", "\x80", "\xFF"}) {
    const std::string all = shown_text("(" + bad + ")");
    EXPECT_THAT(all, testing::StartsWith(std::string("(") + kMark));
    EXPECT_THAT(all, testing::EndsWith(")")) << "what follows is lost";
    EXPECT_THAT(all, Not(HasSubstr(bad)));
    EXPECT_EQ(shown_text(all), all);
  }
}

}  // namespace
}  // namespace weft
