// SPDX-License-Identifier: Apache-2.0
#include "common/crc32c_routine.hpp"

namespace weft {

#if defined(__x86_64__) || defined(__i386__)
Crc32cFeatures crc32c_features() noexcept {
  __builtin_cpu_init();  // what follows may run before the compiler's own constructors
  const auto avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512vbmi2") &&
                      __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bitalg") &&
                      __builtin_cpu_supports("avx512vpopcntdq") && __builtin_cpu_supports("gfni") &&
                      __builtin_cpu_supports("vpclmulqdq");
  return {.sse4_2 = __builtin_cpu_supports("sse4.2") != 0,
          .pclmulqdq = __builtin_cpu_supports("pclmul") != 0,
          .avx512 = avx512};
}

Crc32cChoice choose_crc32c(const Crc32cFeatures& features) noexcept {
  if (!features.sse4_2) return {Crc32cRoutine::kPortable, "the processor has no SSE4.2"};
  if (!features.pclmulqdq) return {Crc32cRoutine::kIsaL, "the processor has SSE4.2, but no PCLMULQDQ"};
  if (!features.avx512) return {Crc32cRoutine::kIsaL, "the processor has SSE4.2 and PCLMULQDQ"};
  return {Crc32cRoutine::kIsaL, "the processor has AVX-512 and VPCLMULQDQ"};
}
#else
// What ISA-L looks for on other kinds of processor (ARM's) is left to it.
Crc32cFeatures crc32c_features() noexcept { return {}; }

Crc32cChoice choose_crc32c(const Crc32cFeatures&) noexcept {
  return {Crc32cRoutine::kIsaL, "ISA-L chooses for this kind of processor"};
}
#endif

}  // namespace weft
