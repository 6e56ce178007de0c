// SPDX-License-Identifier: Apache-2.0
// DDP headers and RDMAP's check of them: what each segment costs before its payload moves.
#include <benchmark/benchmark.h>

#include <array>

#include "ddp/header.hpp"
#include "rdmap/admit.hpp"

namespace weft {
namespace {

using Room = std::array<std::byte, ddp::UntaggedLayout::kSize>;

const ddp::Header kTagged = ddp::TaggedHeader{
    .last = true, .rsvd_ulp = rdmap::control_octet(rdmap::Opcode::kWrite), .stag = {7}, .offset = {4096}};
const ddp::Header kUntagged =
    ddp::UntaggedHeader{.last = true, .rsvd_ulp = rdmap::control_octet(rdmap::Opcode::kSend), .msn = {1}};

void serialize_header(benchmark::State& state, const ddp::Header& header) {
  Room room{};
  for (auto _ : state) {
    benchmark::DoNotOptimize(ddp::serialize(header, room));
    benchmark::ClobberMemory();
  }
}
BENCHMARK_CAPTURE(serialize_header, tagged, kTagged);
BENCHMARK_CAPTURE(serialize_header, untagged, kUntagged);

void parse_and_admit(benchmark::State& state, const ddp::Header& header) {
  Room room{};
  ddp::serialize(header, room);
  for (auto _ : state) {
    benchmark::DoNotOptimize(room);
    const auto parsed = ddp::parse(room);
    const auto opcode = rdmap::admit(*parsed);
    benchmark::DoNotOptimize(opcode);
  }
}
BENCHMARK_CAPTURE(parse_and_admit, tagged, kTagged);
BENCHMARK_CAPTURE(parse_and_admit, untagged, kUntagged);

}  // namespace
}  // namespace weft
