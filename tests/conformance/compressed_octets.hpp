// SPDX-License-Identifier: Apache-2.0
// Captures as gzip, zstd and xz make them.
#pragma once

#include "tests/conformance/wire_packets.hpp"

namespace weft::conformance::testing {

[[nodiscard]] Octets gzip(const Octets& plain);
// A frame that asks for a window of 2^window_log octets, also where it holds fewer.
[[nodiscard]] Octets zstd(const Octets& plain, int window_log = 0);
// `dictionary` in octets.
[[nodiscard]] Octets xz(const Octets& plain, std::uint32_t dictionary = 1 << 20);

}  // namespace weft::conformance::testing
