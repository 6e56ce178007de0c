// SPDX-License-Identifier: Apache-2.0
#include "common/crc32c.hpp"

#include <isa-l/crc.h>

#include <atomic>

#include "common/crc32c_routine.hpp"
#include "common/crc32c_table.hpp"

namespace weft {

namespace {

constexpr std::size_t kLongest = 1U << 30;  // ISA-L counts in int

// ISA-L's own signature, so that nothing of ours stands in front of its routine. The octets are only read.
using Advance = unsigned int (*)(unsigned char* octets, int count, unsigned int state);

unsigned int portable(unsigned char* octets, int count, unsigned int state) {
  return advance_crc32c_by_table(state, std::as_bytes(std::span(octets, static_cast<std::size_t>(count))));
}

Advance function_of(Crc32cRoutine routine) noexcept { return routine == Crc32cRoutine::kIsaL ? crc32_iscsi : portable; }

std::uint32_t one_call(Advance function, std::uint32_t state, Bytes octets) noexcept {
  if (octets.empty()) return state;
  auto* start = const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(octets.data()));
  return function(start, static_cast<int>(octets.size()), state);
}

// By itself, so that its registers need no saving in front of every FPDU.
[[gnu::noinline]] std::uint32_t many_calls(Advance function, std::uint32_t state, Bytes octets) noexcept {
  for (; octets.size() > kLongest; octets = octets.subspan(kLongest)) {
    state = one_call(function, state, octets.first(kLongest));
  }
  return one_call(function, state, octets);
}

std::uint32_t advance(Advance function, std::uint32_t state, Bytes octets) noexcept {
  return octets.size() > kLongest ? many_calls(function, state, octets) : one_call(function, state, octets);
}

// One call through a pointer that never changes, which processors predict. Right from the first instruction of the
// process: a static object's constructor that computes a CRC before the line below has run gets it too.
constinit std::atomic<Advance> in_use{portable};
[[maybe_unused]] const bool kChosen = (use_crc32c(choose_crc32c(crc32c_features()).routine), true);

}  // namespace

Crc32cChoice crc32c_in_use() noexcept {
  const Crc32cChoice by_itself = choose_crc32c(crc32c_features());
  if (in_use.load(std::memory_order_relaxed) == function_of(by_itself.routine)) return by_itself;
  const bool other = by_itself.routine == Crc32cRoutine::kIsaL;
  return {other ? Crc32cRoutine::kPortable : Crc32cRoutine::kIsaL, "asked for"};
}

void use_crc32c(Crc32cRoutine routine) noexcept { in_use.store(function_of(routine), std::memory_order_relaxed); }

std::uint32_t advance_crc32c(Crc32cRoutine routine, std::uint32_t state, Bytes octets) noexcept {
  return advance(function_of(routine), state, octets);
}

Crc32c& Crc32c::update(Bytes octets) noexcept {
  register_ = advance(in_use.load(std::memory_order_relaxed), register_, octets);
  return *this;
}

}  // namespace weft
