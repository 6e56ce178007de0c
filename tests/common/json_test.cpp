// SPDX-License-Identifier: Apache-2.0
// The writer of JSON: its white space, its escapes, and that a parser reads what was written.
#include "common/json.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace weft {
namespace {

JsonWriter written(JsonForm form) {
  JsonWriter json(form);
  json.put("text", "a \"b\" \\c\n</script>").put("pi", 3.14159265).put("big", 18446744073709551615ULL).put("small", -7);
  json.put("yes", true).put("list", std::vector<double>{1, 2.5}).put("none", std::vector<std::string>{});
  json.put("hex", std::array{std::byte{0x0A}, std::byte{0xFF}}).put("absent", std::optional<int>());
  json.begin_array("array").begin_object().put("a", 1).end().begin_object().end().value("x").end();
  json.begin_object("empty").end().put("nan", std::numeric_limits<double>::quiet_NaN()).key("raw").raw("1.50");
  return json;
}

TEST(Json, IsIndented) {
  EXPECT_EQ(written(JsonForm::kIndented).finish(), R"({
  "text": "a \"b\" \\c\n</script>",
  "pi": 3.14159,
  "big": 18446744073709551615,
  "small": -7,
  "yes": true,
  "list": [1, 2.5],
  "none": [],
  "hex": "0aff",
  "array": [
    {
      "a": 1
    },
    {},
    "x"
  ],
  "empty": {},
  "nan": null,
  "raw": 1.50
}
)");
}

TEST(Json, IsCompact) {
  EXPECT_EQ(written(JsonForm::kCompact).finish(),
            R"({"text":"a \"b\" \\c\n</script>","pi":3.14159,"big":18446744073709551615,"small":-7,"yes":true,)"
            R"("list":[1,2.5],"none":[],"hex":"0aff","array":[{"a":1},{},"x"],"empty":{},"nan":null,"raw":1.50})");
}

TEST(Json, CannotEndAScript) {
  const std::string text = written(JsonForm::kInScript).finish();
  EXPECT_EQ(text.find('<'), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(text), nlohmann::json::parse(written(JsonForm::kCompact).finish()));
}

TEST(Json, IsOneTextHoweverItIsLaidOut) {
  EXPECT_EQ(nlohmann::json::parse(written(JsonForm::kIndented).finish()),
            nlohmann::json::parse(written(JsonForm::kCompact).finish()));
}

TEST(Json, EndsWhatIsOpen) {
  EXPECT_EQ(JsonWriter(JsonForm::kCompact).begin_array("a").begin_object().finish(), R"({"a":[{}]})");
}

// As printf's %.6g has them.
TEST(Json, HasSixDigitsOfADouble) {
  const auto text = [](double number) { return JsonWriter(JsonForm::kCompact).put("", number).finish(); };
  for (const auto& [number, digits] :
       {std::pair{0.0, "0"}, {1e6, "1e+06"}, {123456.7, "123457"}, {0.0001, "0.0001"}, {1e-5, "1e-05"}, {-2.5, "-2.5"}})
    EXPECT_EQ(text(number), std::string(R"({"":)") + digits + "}");
}

TEST(Json, ReplacesWhatIsNoUtf8) {
  const auto text = [](std::string_view octets) { return JsonWriter(JsonForm::kCompact).put("t", octets).finish(); };
  EXPECT_EQ(text("\xc3\xa9 \xe2\x86\x92"), "{\"t\":\"\xc3\xa9 \xe2\x86\x92\"}");
  for (const std::string_view wrong : {"\xff", "\xc0\xaf", "\xed\xa0\x80", "\xe2\x86", "\xf4\x90\x80\x80"}) {
    const auto parsed = nlohmann::json::parse(text(wrong));
    EXPECT_NE(parsed["t"].get<std::string>().find("\xef\xbf\xbd"), std::string::npos);
  }
  // A character that breaks off takes nothing with it of what follows.
  EXPECT_EQ(text("\xc3("), "{\"t\":\"\xEF\xBF\xBD(\"}");
  EXPECT_EQ(text("\xe2\x86\xc3\xa9"), "{\"t\":\"\xEF\xBF\xBD\xEF\xBF\xBD\xc3\xa9\"}");
}

}  // namespace
}  // namespace weft
