// SPDX-License-Identifier: Apache-2.0
// CRC32C over hot memory: what it costs to protect one FPDU of a given size, with the routine that this process uses
// and with each that there is.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "common/crc32c.hpp"
#include "common/crc32c_routine.hpp"

namespace weft {
namespace {

template <typename Routine>
void measure(benchmark::State& state, Routine routine) {
  const std::vector<std::byte> octets(static_cast<std::size_t>(state.range(0)), std::byte{0x5a});
  for (auto _ : state) benchmark::DoNotOptimize(routine(Bytes(octets)));
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

void crc32c_of(benchmark::State& state) {
  state.SetLabel(std::string(name(crc32c_in_use().routine)));
  measure(state, [](Bytes octets) { return crc32c(octets); });
}
BENCHMARK(crc32c_of)->Arg(64)->Arg(1448)->Arg(8192)->Arg(65536);

void crc32c_by(benchmark::State& state, Crc32cRoutine routine) {
  measure(state, [routine](Bytes octets) { return advance_crc32c(routine, 0, octets); });
}
BENCHMARK_CAPTURE(crc32c_by, isa_l, Crc32cRoutine::kIsaL)->Arg(64)->Arg(1448)->Arg(65536);
BENCHMARK_CAPTURE(crc32c_by, portable, Crc32cRoutine::kPortable)->Arg(64)->Arg(1448)->Arg(65536);

}  // namespace
}  // namespace weft
