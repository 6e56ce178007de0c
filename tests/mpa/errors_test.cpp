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
    sentences.insert(entry.sentence);
  }
  EXPECT_EQ(sentences.size(), kFaults.size());
}

TEST(Errors, EachWireCodeHasAFault) {
  std::set<std::uint8_t> codes;
  for (const FaultEntry& entry : kFaults) codes.insert(std::to_underlying(entry.code));
  EXPECT_EQ(codes, (std::set<std::uint8_t>{1, 2, 3, 4, 5, 6, 7}));
}

// The registry "MPA Errors" of RFC 6580 section 3.3, and the three entries that RFC 6581 section 11 adds.
TEST(Errors, CodesAreTheRegistered) {
  EXPECT_EQ(std::to_underlying(ErrorCode::kConnectionLost), 1);       // TCP connection closed, terminated, or lost
  EXPECT_EQ(std::to_underlying(ErrorCode::kCrcMismatch), 2);          // MPA CRC Error
  EXPECT_EQ(std::to_underlying(ErrorCode::kMarkerMismatch), 3);       // MPA Marker and ULPDU Length field mismatch
  EXPECT_EQ(std::to_underlying(ErrorCode::kInvalidStartupFrame), 4);  // Invalid MPA Request Frame or MPA Response Frame
  EXPECT_EQ(std::to_underlying(ErrorCode::kLocalFailure), 5);         // Local catastrophic error
  EXPECT_EQ(std::to_underlying(ErrorCode::kInsufficientIrd), 6);      // Insufficient IRD resources
  EXPECT_EQ(std::to_underlying(ErrorCode::kNoMatchingRtr), 7);        // No matching RTR option
}

}  // namespace
}  // namespace weft::mpa
