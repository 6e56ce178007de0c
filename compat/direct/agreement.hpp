// SPDX-License-Identifier: Apache-2.0
// Whether the two ends of a direct connection mean the same one. Their programs reach RTS, and know the packet sequence
// numbers of their own sends, sooner or later than the connection is made.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>

#include "compat/direct/greeting.hpp"

namespace weft::compat::direct {

// The first packet sequence number of the program's sends. RTS says it, and the peer's greeting what the peer expects:
// whichever comes second compares them, so no send goes out before they agree.
class FirstNumber {
 public:
  // Returns false if it differs from the other.
  [[nodiscard]] bool set(std::uint32_t psn);
  [[nodiscard]] bool expect(std::uint32_t psn);

 private:
  std::mutex mutex_{};  // a leaf
  std::optional<std::uint32_t> set_{};
  std::optional<std::uint32_t> expected_{};
};

enum class Verdict : std::uint8_t {
  kOther,       // not the end that the program named
  kUnverified,  // the ends agree, but no packet sequence number of one end is known to the other
  kVerified,
};

// What `peers` says to the end whose greeting is `own`. GIDs and numbers are no secrets. What proves that the peer is
// the one that the program named is a packet sequence number that the programs told each other: the peer's own, or that
// of this end.
[[nodiscard]] Verdict judge(const Greeting& peers, const Greeting& own) noexcept;

}  // namespace weft::compat::direct
