// SPDX-License-Identifier: Apache-2.0
// Registered memory: what a segment costs once it has been verified (place), and what fetching one's payload costs
// (gather); STag, rights and bounds are checked each time. Argument: octets of the segment.
#include <benchmark/benchmark.h>

#include <memory>
#include <vector>

#include "verbs/memory/stream_memory.hpp"

namespace weft::verbs::detail {
namespace {

constexpr std::size_t kRegion = 1024 * 1024;

struct Registered {
  std::shared_ptr<StagTable> table = std::make_shared<StagTable>();
  std::shared_ptr<DeviceState> device = DeviceState::create({}).value();
  std::shared_ptr<ProtectionDomainState> domain = std::make_shared<ProtectionDomainState>(device);
  std::vector<std::byte> octets = std::vector<std::byte>(kRegion);
  std::shared_ptr<RegionState> region =
      RegionState::create(table, domain, {.start = octets.data(), .length = kRegion, .access = kAllAccess});
  StreamMemory memory{table};

  Registered() { memory.attach({.domain = domain->number, .stream = 1}, nullptr, {}); }
};

// One segment after the other, as those of a long message.
std::size_t next(std::size_t offset, std::size_t size) { return offset + 2 * size <= kRegion ? offset + size : 0; }

void place(benchmark::State& state) {
  Registered registered;
  const std::vector<std::byte> payload(static_cast<std::size_t>(state.range(0)), std::byte{0x5a});
  std::size_t offset = 0;
  for (auto _ : state) {
    if (!registered.memory.place_tagged({registered.region->stag()}, {offset}, payload))
      return state.SkipWithError("refused");
    offset = next(offset, payload.size());
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

void gather(benchmark::State& state) {
  Registered registered;
  std::vector<std::byte> out(static_cast<std::size_t>(state.range(0)));
  const Sge all{.address = 0, .length = kRegion, .lkey = registered.region->stag()};  // counts from the region's start
  std::size_t offset = 0;
  for (auto _ : state) {
    if (!registered.memory.gather({&all, 1}, offset, out)) return state.SkipWithError("refused");
    offset = next(offset, out.size());
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

BENCHMARK(place)->ArgName("octets")->Arg(64)->Arg(1448)->Arg(8192)->Arg(65536);
BENCHMARK(gather)->ArgName("octets")->Arg(64)->Arg(1448)->Arg(8192)->Arg(65536);

}  // namespace
}  // namespace weft::verbs::detail
