// SPDX-License-Identifier: Apache-2.0
// RFC 5041 section 7.2: the error numbers.
#include <catch2/catch.hpp>

#include <set>
#include <string>

#include "ddp/errors.hpp"

namespace weft::ddp {
namespace {

std::string number(const ErrorRow& row) {
  return std::to_string(std::to_underlying(row.type)) + "/" + std::to_string(row.code);
}

TEST_CASE("Every error has the number of the RFC's table",
          "[DDP-7.2-01][DDP-7.2-02][DDP-7.2-03][DDP-7.2-04][DDP-7.2-05][DDP-7.2-06][DDP-7.2-07][DDP-7.2-08]"
          "[DDP-7.2-09][DDP-7.2-10][DDP-7.2-11][DDP-7.2-12][DDP-7.2-13][RFC5041-7.2]") {
  CHECK(find_error(ErrorType::kLocalCatastrophic, 0) != nullptr);
  CHECK(number(row(TaggedError::kInvalidStag)) == "1/0");
  CHECK(number(row(TaggedError::kBaseOrBounds)) == "1/1");
  CHECK(number(row(TaggedError::kNotAssociated)) == "1/2");
  CHECK(number(row(TaggedError::kOffsetWrap)) == "1/3");
  CHECK(number(row(TaggedError::kInvalidVersion)) == "1/4");
  CHECK(number(row(UntaggedError::kInvalidQueue)) == "2/1");
  CHECK(number(row(UntaggedError::kNoBuffer)) == "2/2");
  CHECK(number(row(UntaggedError::kMsnRange)) == "2/3");
  CHECK(number(row(UntaggedError::kInvalidOffset)) == "2/4");
  CHECK(number(row(UntaggedError::kTooLong)) == "2/5");
  CHECK(number(row(UntaggedError::kInvalidVersion)) == "2/6");
}

TEST_CASE("Nothing is in the table twice, and every line says what happened", "[RFC5041-7.2]") {
  std::set<std::string> numbers;
  for (const ErrorRow& line : kErrorTable) {
    CHECK(numbers.insert(number(line)).second);
    CHECK_FALSE(line.sentence.empty());
    CHECK(line.clause.starts_with("DDP-"));
  }
}

TEST_CASE("Type 3 belongs to the LLP: DDP never reports it", "[DDP-7.2-14][RFC5041-7.2]") {
  for (unsigned code = 0; code < 256; ++code) {
    CHECK(find_error(ErrorType::kReservedForLlp, static_cast<std::uint8_t>(code)) == nullptr);
  }
}

}  // namespace
}  // namespace weft::ddp
