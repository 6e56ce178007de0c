// SPDX-License-Identifier: Apache-2.0
// MPA: framing one ULPDU, and taking it out of the stream again. Arguments: octets of the ULPDU, CRC, Markers.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <vector>

#include "mpa/fpdu_receiver.hpp"
#include "mpa/fpdu_sender.hpp"

namespace weft::mpa {
namespace {

Framing framing_of(const benchmark::State& state) {
  return {.crc = state.range(1) != 0, .markers = state.range(2) != 0};
}

void seal(benchmark::State& state) {
  const auto ulpdu = static_cast<std::size_t>(state.range(0));
  FpduSender sender(framing_of(state));
  std::vector<std::byte> room(kMaxFpduSize, std::byte{0x5a});
  for (auto _ : state) benchmark::DoNotOptimize(sender.seal(room, ulpdu));
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

// With Markers the receiver rearranges the octets, so each round gets a fresh copy, which is part of that figure.
void receive(benchmark::State& state) {
  const auto ulpdu = static_cast<std::size_t>(state.range(0));
  FpduSender sender(framing_of(state));
  std::vector<std::byte> pristine(kMaxFpduSize, std::byte{0x5a});
  const std::size_t size = sender.seal(pristine, ulpdu);
  std::vector<std::byte> stream(pristine.begin(), pristine.begin() + static_cast<std::ptrdiff_t>(size));
  for (auto _ : state) {
    FpduReceiver receiver(framing_of(state));
    if (framing_of(state).markers) std::copy_n(pristine.begin(), size, stream.begin());
    auto fpdu = receiver.next(stream);
    if (!fpdu || !*fpdu) return state.SkipWithError("the FPDU was not accepted");
    benchmark::DoNotOptimize(fpdu);
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

void arguments(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgNames({"ulpdu", "crc", "markers"})->ArgsProduct({{64, 1448, 8192, kMaxUlpdu}, {0, 1}, {0, 1}});
}
BENCHMARK(seal)->Apply(arguments);
BENCHMARK(receive)->Apply(arguments);

}  // namespace
}  // namespace weft::mpa
