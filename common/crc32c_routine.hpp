// SPDX-License-Identifier: Apache-2.0
/// @file
/// Selection of the CRC32C implementation of this process.
///
/// The default is ISA-L if the processor has the instructions of ISA-L's fast routines, else weft's table
/// (common/crc32c_table.hpp). It is chosen when the process starts. Both compute the same values.
#pragma once

#include <cstdint>
#include <string_view>

#include "common/wire.hpp"

namespace weft {

/// Identifies an implementation of CRC32C.
enum class Crc32cRoutine : std::uint8_t {
  kIsaL,      ///< the ISA-L library
  kPortable,  ///< weft's table-driven implementation
};

/// Returns the name used in settings, by `weft info` and by `weft bench suite`: "isa-l" or "portable".
[[nodiscard]] constexpr std::string_view name(Crc32cRoutine routine) noexcept {
  return routine == Crc32cRoutine::kIsaL ? "isa-l" : "portable";
}

/// Lists the processor features that ISA-L's dispatcher (2.30) checks. Each one requires those before it.
struct Crc32cFeatures {
  bool sse4_2{};     ///< the crc32 instruction
  bool pclmulqdq{};  ///< carry-less multiplication
  bool avx512{};     ///< AVX-512 and all extensions that ISA-L uses with it (VPCLMULQDQ, GFNI and so on)
};
/// Returns the features of this processor that the operating system has enabled.
[[nodiscard]] Crc32cFeatures crc32c_features() noexcept;

/// Describes a choice of implementation.
struct Crc32cChoice {
  Crc32cRoutine routine{};    ///< implementation to use
  std::string_view reason{};  ///< why, for people: "the processor has SSE4.2 and PCLMULQDQ"; static storage
};
/// Returns weft's default choice for a processor with these features.
[[nodiscard]] Crc32cChoice choose_crc32c(const Crc32cFeatures& features) noexcept;

/// Returns the implementation in use, and why. Thread-safe.
[[nodiscard]] Crc32cChoice crc32c_in_use() noexcept;

/// Selects the implementation for the whole process. Thread-safe, and allowed at any time: one implementation may
/// finish a CRC that the other began. ISA-L is correct on every processor, but slow where it is not the default.
void use_crc32c(Crc32cRoutine routine) noexcept;

/// Computes with a particular implementation, for tests and benchmarks.
/// `state` is the CRC register before `octets`. Returns the CRC register after them.
[[nodiscard]] std::uint32_t advance_crc32c(Crc32cRoutine routine, std::uint32_t state, Bytes octets) noexcept;

}  // namespace weft
