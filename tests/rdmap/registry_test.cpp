// SPDX-License-Identifier: Apache-2.0
// The error table against the registries of RFC 6580 sections 3.1 to 3.3, and the three codes that RFC 6581 added.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "rdmap/error_table.hpp"

namespace weft::rdmap {
namespace {

// The registries' text, one entry a line: Layer/Type/Code as hexadecimal digits, "ALL" for any code.
const std::set<std::string> kRegistered = {
    // RFC 6580 section 3.1, RDMAP Errors
    "0/0/ALL", "0/1/00", "0/1/01", "0/1/02", "0/1/03", "0/1/04", "0/1/09", "0/1/ff", "0/2/05", "0/2/06", "0/2/07",
    "0/2/08", "0/2/09", "0/2/ff",
    // Section 3.2, DDP Errors
    "1/0/00", "1/1/00", "1/1/01", "1/1/02", "1/1/03", "1/1/04", "1/2/01", "1/2/02", "1/2/03", "1/2/04", "1/2/05",
    "1/2/06", "1/3/ALL",
    // Section 3.3, MPA Errors; 05 to 07 from RFC 6581 section 11
    "2/0/01", "2/0/02", "2/0/03", "2/0/04", "2/0/05", "2/0/06", "2/0/07"};

std::string spelled(const ErrorRow& row) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const auto digit = [&](unsigned value) { return std::string(1, kDigits.at(value & 0xf)); };
  const std::string code = row.any_code ? "ALL" : digit(row.error.code >> 4U) + digit(row.error.code);
  return digit(std::to_underlying(row.error.layer)) + "/" + digit(row.error.type) + "/" + code;
}

TEST(ErrorTable, IsTheRegistry) {
  std::set<std::string> ours;
  for (const ErrorRow& row : kErrorTable) EXPECT_TRUE(ours.insert(spelled(row)).second) << spelled(row) << " twice";
  EXPECT_EQ(ours, kRegistered);
}

TEST(ErrorTable, FindsWhatIsRegisteredAndNothingElse) {
  for (unsigned layer = 0; layer < 16; ++layer) {
    for (unsigned type = 0; type < 16; ++type) {
      for (unsigned code = 0; code < 256; ++code) {
        const ErrorCode error{static_cast<Layer>(layer), static_cast<std::uint8_t>(type),
                              static_cast<std::uint8_t>(code)};
        const ErrorRow* row = find_error(error);
        const bool all = (layer == 0 && type == 0) || (layer == 1 && type == 3);
        const ErrorRow exact{error, all, {}, {}};
        ASSERT_EQ(row != nullptr, kRegistered.contains(spelled(exact))) << layer << '/' << type << '/' << code;
      }
    }
  }
}

TEST(ErrorTable, EveryLineCanBeRead) {
  for (const ErrorRow& row : kErrorTable) {
    EXPECT_FALSE(row.sentence.empty());
    EXPECT_FALSE(row.clause.empty());
  }
}

}  // namespace
}  // namespace weft::rdmap
