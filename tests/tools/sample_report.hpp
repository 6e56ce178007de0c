// SPDX-License-Identifier: Apache-2.0
// A report of the prober made by hand: a case of each verdict, and a peer whose octets try to be more than octets.
#pragma once

#include "probe/report.hpp"

namespace weft::test {

// What a peer would send to become part of a page, and octets that no text holds.
inline constexpr const char* kHostile =
    "\"'><script>alert(1)</script><img src=http://192.0.2.1/x>&amp;]]>\x01\x1b[2J\xff\xed\xa0\x80";

// The cases' names: "passed", "warned", "failed", "hostile", "flooded", "refused", "unreached".
[[nodiscard]] probe::Report sample_report();

}  // namespace weft::test
