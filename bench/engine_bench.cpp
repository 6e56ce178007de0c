// SPDX-License-Identifier: Apache-2.0
// The engine: cutting one FPDU off a message, header, copy and CRC included, and a whole message through two engines in
// memory, from post() to its completion. Arguments: octets of the message, EMSS, CRC.
#include <benchmark/benchmark.h>

#include "bench/engine_pair.hpp"
#include "engine/fpdu_cutter.hpp"
#include "rdmap/control.hpp"

namespace weft::bench {
namespace {

void cut(benchmark::State& state) {
  const auto size = static_cast<std::uint32_t>(state.range(0));
  FlatMemory memory(size);
  engine::SendQueue queue(1);
  engine::PayloadReader reader(memory, queue);
  engine::TransmitBatch batch(256 * 1024);
  engine::FpduCutter cutter({.crc = state.range(1) != 0}, 65483, 0);
  const ddp::Stag stag{FlatMemory::kStag};
  for (auto _ : state) {
    engine::OutgoingMessage message{
        .segments = ddp::TaggedSegmenter(rdmap::control_octet(rdmap::Opcode::kReadResponse), stag, {}, size),
        .source = engine::FromTaggedBuffer{stag, {}}};
    const auto octets = cutter.cut(message, cutter.ulpdu_limit(batch), reader, batch);
    if (!octets || *octets < size) return state.SkipWithError("it does not fit one FPDU");
    batch.consume(*octets);
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(cut)->ArgNames({"octets", "crc"})->ArgsProduct({{64, 1448, 8192, 64000}, {0, 1}});

void message(benchmark::State& state, engine::Operation operation) {
  EnginePair pair({.emss = static_cast<std::uint32_t>(state.range(1)), .crc = state.range(2) != 0});
  const auto work = pair.work(operation, static_cast<std::uint32_t>(state.range(0)));
  for (auto _ : state) {
    pair.post(work);
    pair.run();
    if (pair.take_completed() != 1) return state.SkipWithError("it did not complete");
  }
  state.SetItemsProcessed(state.iterations());
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

void arguments(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgNames({"octets", "emss", "crc"})->ArgsProduct({{64, 1448, 8192, 65536}, {1448, 65483}, {0, 1}});
}
BENCHMARK_CAPTURE(message, send, engine::Operation::kSend)->Apply(arguments);
BENCHMARK_CAPTURE(message, write, engine::Operation::kWrite)->Apply(arguments);
BENCHMARK_CAPTURE(message, read, engine::Operation::kRead)->Apply(arguments);

}  // namespace
}  // namespace weft::bench
