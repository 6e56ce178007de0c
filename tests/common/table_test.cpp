// SPDX-License-Identifier: Apache-2.0
#include "common/table.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>

namespace weft {
namespace {

enum class Fruit : std::uint8_t { kApple, kPear, kPlum };
struct FruitRow {
  Fruit fruit{};
};

TEST(Table, IsInOrderWhenEachRowStandsWhereItsValueSays) {
  EXPECT_TRUE(in_order(std::array{FruitRow{Fruit::kApple}, FruitRow{Fruit::kPear}}, &FruitRow::fruit));
  EXPECT_FALSE(in_order(std::array{FruitRow{Fruit::kPear}, FruitRow{Fruit::kApple}}, &FruitRow::fruit));
  EXPECT_FALSE(in_order(std::array{FruitRow{Fruit::kApple}, FruitRow{Fruit::kPlum}}, &FruitRow::fruit)) << "a hole";
  EXPECT_FALSE(in_order(std::array{FruitRow{Fruit::kApple}, FruitRow{Fruit::kApple}}, &FruitRow::fruit)) << "one twice";
}

}  // namespace
}  // namespace weft
