// SPDX-License-Identifier: Apache-2.0
// Which code computes CRC32C in this process: ISA-L's where the processor has the instruction that its fast routines
// are made of, else our own table (common/crc32c_table.hpp). Chosen when the process starts; both give the same values.
#pragma once

#include <cstdint>
#include <string_view>

#include "common/wire.hpp"

namespace weft {

// Code that computes CRC32C.
enum class Crc32cRoutine : std::uint8_t {
  kIsaL,      // ISA-L's
  kPortable,  // weft's own, with a table
};

// The word for it in settings, in `weft info` and beside the figures of `weft bench suite`.
[[nodiscard]] constexpr std::string_view name(Crc32cRoutine routine) noexcept {
  return routine == Crc32cRoutine::kIsaL ? "isa-l" : "portable";
}

// What ISA-L's own dispatcher (2.30) looks for, each beyond the one before: the crc32 instruction; that of carry-less
// multiplication; AVX-512 with its relatives (VPCLMULQDQ, GFNI and so on, all of them).
struct Crc32cFeatures {
  bool sse4_2{};     // the crc32 instruction
  bool pclmulqdq{};  // carry-less multiplication
  bool avx512{};     // AVX-512 with its relatives
};
[[nodiscard]] Crc32cFeatures crc32c_features() noexcept;  // of this processor, as the system lets them be used

// A routine, and why it is this one.
struct Crc32cChoice {
  Crc32cRoutine routine{};    // the one to use
  std::string_view reason{};  // for people: "the processor has SSE4.2 and PCLMULQDQ"; refers to constant text
};
// What weft takes on a processor that has these.
[[nodiscard]] Crc32cChoice choose_crc32c(const Crc32cFeatures& features) noexcept;

// The routine in use, and why. Any thread may ask.
[[nodiscard]] Crc32cChoice crc32c_in_use() noexcept;

// From now on this one, in the whole process. At any time and from any thread: a CRC that one routine began another may
// finish. ISA-L's is right on every processor, and slow where the choice would be ours.
void use_crc32c(Crc32cRoutine routine) noexcept;

// One routine by its name, for tests and benchmarks: the CRC's register behind `octets`, from that in front of them.
[[nodiscard]] std::uint32_t advance_crc32c(Crc32cRoutine routine, std::uint32_t state, Bytes octets) noexcept;

}  // namespace weft
