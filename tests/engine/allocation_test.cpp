// SPDX-License-Identifier: Apache-2.0
// In steady state an engine allocates nothing: no operation does, at neither end, however it is framed.
#include <gtest/gtest.h>

#include "bench/engine_pair.hpp"
#include "tests/engine/allocation_count.hpp"

namespace weft::engine::test {
namespace {

using bench::EnginePair;

// Every operation once, several FPDUs those that carry data.
void post_all(EnginePair& pair) {
  constexpr std::uint32_t kSize = 100000;
  for (const auto operation : {Operation::kSend, Operation::kWrite, Operation::kWriteImmediate, Operation::kRead})
    pair.post(pair.work(operation, kSize));
  for (const auto operation : {Operation::kFetchAdd, Operation::kCmpSwap}) pair.post(pair.work(operation, 8));
  for (const auto operation : {Operation::kImmediate, Operation::kLocal}) {
    auto request = pair.work(operation, 0);
    request.local = {};
    pair.post(request);
  }
  const std::array<std::byte, kMaxInline> few{};
  auto request = pair.work(Operation::kSend, 0);
  request.local = {};
  request.inline_data = few;
  request.solicited = request.fence = true;
  request.invalidate = request.remote_stag;
  pair.post(request);
}
constexpr std::uint64_t kPosted = 9;

class SteadyState : public ::testing::TestWithParam<bench::PairSettings> {};

TEST_P(SteadyState, AllocatesNothing) {
  EnginePair pair(GetParam());
  const auto rounds = [&](int times) {
    for (int i = 0; i < times; ++i) {
      for (int depth = 0; depth < 3; ++depth) post_all(pair);
      pair.run();
    }
  };
  rounds(10);  // queues grow to what they need
  static_cast<void>(pair.take_completed());
  const std::size_t before = allocations();
  rounds(100);
  EXPECT_EQ(allocations(), before);
  EXPECT_EQ(pair.take_completed(), 100 * 3 * kPosted);
}

INSTANTIATE_TEST_SUITE_P(Framings, SteadyState,
                         ::testing::Values(bench::PairSettings{}, bench::PairSettings{.emss = 65483},
                                           bench::PairSettings{.crc = false}, bench::PairSettings{.markers = true}),
                         [](const auto& info) {
                           return (info.param.crc ? "Crc" : "NoCrc") + std::to_string(info.param.emss) +
                                  (info.param.markers ? "Markers" : "");
                         });

}  // namespace
}  // namespace weft::engine::test
