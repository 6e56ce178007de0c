// SPDX-License-Identifier: Apache-2.0
#include "samples.hpp"

#include <gtest/gtest.h>

#include "conformance/capture_reader.hpp"
#include "explain/tour/tour.hpp"

namespace weft::explain::test {

Model sample(const std::string& name, const ModelOptions& options) {
  auto reader = conformance::CaptureReader::open(std::string(WEFT_PCAP_SAMPLES) + '/' + name);
  EXPECT_TRUE(reader) << name;
  ModelMaker maker(name, options);
  if (reader) {
    const auto damage =
        conformance::read_packets(*reader, [&](const conformance::Packet& packet) { maker.take(packet); });
    EXPECT_FALSE(damage) << name;
  }
  maker.close();
  return maker.finish();
}

Model tour() {
  ModelMaker maker("tour");
  play_tour([&](const conformance::Packet& packet) { maker.take(packet); });
  maker.close();
  return maker.finish();
}

const Row& row_of(const Connection& connection, std::string_view words) {
  for (const Row& row : connection.rows) {
    if (row.words.starts_with(words)) return row;
  }
  ADD_FAILURE() << "no row begins with: " << words;
  static const Row kNone{};
  return kNone;
}

}  // namespace weft::explain::test
