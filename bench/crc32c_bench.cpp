// SPDX-License-Identifier: Apache-2.0
// CRC32C over hot memory: what it costs to protect one FPDU of a given size.
#include <benchmark/benchmark.h>

#include <vector>

#include "common/crc32c.hpp"

namespace weft {
namespace {

void crc32c_of(benchmark::State& state) {
  const std::vector<std::byte> octets(static_cast<std::size_t>(state.range(0)), std::byte{0x5a});
  for (auto _ : state) benchmark::DoNotOptimize(crc32c(octets));
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(crc32c_of)->Arg(64)->Arg(1448)->Arg(8192)->Arg(65536);

}  // namespace
}  // namespace weft
