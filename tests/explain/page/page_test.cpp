// SPDX-License-Identifier: Apache-2.0
// The page as text: the model cannot leave its script, and nothing of the page names another place.
#include "explain/page/page.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace {

using weft::explain::write_page;

std::string page_of(std::string_view model, std::vector<std::byte> wasm = {}) {
  std::ostringstream out;
  write_page(out, model, wasm);
  return out.str();
}

// What stands in the script with this id.
std::string script(const std::string& page, const std::string& id) {
  const std::size_t tag = page.find("id=\"" + id + "\"");
  EXPECT_NE(tag, std::string::npos) << id;
  const std::size_t begin = page.find('>', tag) + 1;
  return page.substr(begin, page.find("</script", begin) - begin);
}

TEST(ExplainPage, HasTheModel) {
  EXPECT_EQ(script(page_of(R"({"connections":[]})"), "model"), R"({"connections":[]})");
}

TEST(ExplainPage, AModelCannotEndItsScript) {
  EXPECT_EQ(script(page_of(R"({"source":"</script><!--<b>"})"), "model"),
            R"({"source":"\u003c/script>\u003c!--\u003cb>"})");
}

TEST(ExplainPage, HasTheLaboratoryInBase64) {
  // RFC 4648 section 10.
  const std::string text = "foobar";
  const std::vector<std::string> expected{"", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"};
  for (std::size_t size = 0; size <= text.size(); ++size) {
    std::vector<std::byte> octets;
    for (const char c : text.substr(0, size)) octets.push_back(static_cast<std::byte>(c));
    EXPECT_EQ(script(page_of("{}", octets), "laboratory-octets"), expected[size]);
  }
}

TEST(ExplainPage, OctetsBeyondAsciiKeepTheirBits) {
  EXPECT_EQ(script(page_of("{}", {std::byte{0xfb}, std::byte{0xff}, std::byte{0xfe}}), "laboratory-octets"), "+//+");
}

TEST(ExplainPage, IsWhole) {
  const std::string page = page_of("{}");
  EXPECT_EQ(page.find("@WEFT_"), std::string::npos);
  EXPECT_EQ(page.rfind("<!doctype html>", 0), 0U);
  EXPECT_NE(page.find("</html>"), std::string::npos);
}

TEST(ExplainPage, NamesNoOtherPlace) {
  // SVG's namespace is a name, not an address.
  const std::string page = std::regex_replace(page_of("{}"), std::regex("http://www\\.w3\\.org/2000/svg"), "");
  const std::regex place(R"(https?:|[^:]//[a-z]+\.[a-z]|@import|url\()");
  std::smatch found;
  EXPECT_FALSE(std::regex_search(page, found, place)) << found.str();
}

TEST(ExplainPage, IsSmall) { EXPECT_LT(page_of("{}").size(), 400U * 1024); }

}  // namespace
