// SPDX-License-Identifier: Apache-2.0
#include "mpa/errors.hpp"

#include <gtest/gtest.h>

#include <set>

namespace weft::mpa {
namespace {

TEST(Errors, TheTableIsInTheOrderOfTheFaults) {
  for (std::size_t i = 0; i < kFaults.size(); ++i) EXPECT_EQ(std::to_underlying(kFaults[i].fault), i);
  EXPECT_EQ(kFaults.back().fault, Fault::kNoMatchingRtr);
}

TEST(Errors, EveryRowIsComplete) {
  std::set<std::string_view> sentences;
  for (const FaultEntry& entry : kFaults) {
    EXPECT_TRUE(entry.clause.starts_with("MPA"));
    EXPECT_FALSE(entry.sentence.empty());
    EXPECT_FALSE(registered_name(entry.code).empty());
    sentences.insert(entry.sentence);
  }
  EXPECT_EQ(sentences.size(), kFaults.size());
}

TEST(Errors, EachWireCodeHasAFault) {
  std::set<std::uint8_t> codes;
  for (const FaultEntry& entry : kFaults) codes.insert(std::to_underlying(entry.code));
  EXPECT_EQ(codes, (std::set<std::uint8_t>{1, 2, 3, 4, 5, 6, 7}));
}

// The registry of RFC 6580 section 3.3, and the three entries that RFC 6581 section 11 adds.
TEST(Errors, NamesAreTheRegistered) {
  constexpr std::string_view kRegistry[] = {
      "TCP connection closed, terminated, or lost",
      "MPA CRC Error",
      "MPA Marker and ULPDU Length field mismatch",
      "Invalid MPA Request Frame or MPA Response Frame",
      "Local catastrophic error",
      "Insufficient IRD resources",
      "No matching RTR option",
  };
  for (std::uint8_t code = 1; code <= 7; ++code) {
    EXPECT_EQ(registered_name(static_cast<ErrorCode>(code)), kRegistry[code - 1]);
  }
}

}  // namespace
}  // namespace weft::mpa
