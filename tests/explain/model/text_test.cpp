// SPDX-License-Identifier: Apache-2.0
// A row as text: the octets of its CRC, and what it changes at the end that receives it.
#include "explain/text/text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "common/text.hpp"
#include "samples.hpp"

namespace weft::explain::test {
namespace {

using testing::HasSubstr;

std::string text_of(const Model& model, std::size_t row) {
  std::string text;
  for (const Line& line : lines_of(model, model.connections.at(0), row)) {
    for (const Span& span : line) text += span.text;
    text += '\n';
  }
  return text;
}

// MPA-4.4-13: the CRC is the FPDU's last field, and the text has its octets as they are there.
TEST(Text, HasTheOctetsOfTheCrcInTheOrderOfTheWire) {
  const Model model = tour();
  const auto& rows = model.connections.at(0).rows;
  std::size_t seen = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Wire& wire = rows[i].wire;
    if (!wire.crc) continue;
    ASSERT_EQ(wire.octets.size(), wire.size);
    std::string octets;
    for (const std::byte octet : Bytes(wire.octets).last(4)) octets += ' ' + hex_digits({&octet, 1});
    EXPECT_THAT(text_of(model, i), HasSubstr("least significant octet first:" + octets + '\n'));
    ++seen;
  }
  EXPECT_GT(seen, 20U);
}

TEST(Text, HasTheStateOnlyWhereItChanges) {
  std::size_t changed = 0, same = 0;
  for (const Model& model : {tour(), sample("04-write-bw-64k-mtu1500.pcap")}) {
    const auto& rows = model.connections.at(0).rows;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Effect& effect = rows[i].effect;
      if (!effect.before) continue;
      const std::string end(name(opposite(rows[i].from)));
      const bool changes = effect.before != effect.after;
      ++(changes ? changed : same);
      const std::string text = text_of(model, i);
      EXPECT_EQ(text.find(end + " before") != std::string::npos, changes) << text;
      EXPECT_EQ(text.find(end + " after") != std::string::npos, changes) << text;
    }
  }
  EXPECT_GT(changed, 0U);
  EXPECT_GT(same, 0U);
}

}  // namespace
}  // namespace weft::explain::test
