// SPDX-License-Identifier: Apache-2.0
// A conversation as a list of steps: made at random, run, shrunk, written to a case file and read again. It names the
// peer's memory by kind, not by STag, so that it fits any session.
//
//   # weft probe script 1
//   startup revision=2 crc=1 markers=0 s=1
//   write region=0/3 offset=-1 size=64 xor=0:40,17:01 crc=00000001
//   send size=8 length=ffff cuts=1,3
//   fin
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "probe/forge.hpp"

namespace weft::probe {

struct Step {
  enum Kind : std::uint8_t {
    kSend,
    kSendSolicited,
    kSendInvalidate,
    kWrite,
    kRead,
    kFetchAdd,
    kCmpSwap,
    kImmediate,
    kReadResponse,    // which answers nothing
    kAtomicResponse,  // the same
    kTerminate,
    kRaw,    // `size` octets of a pattern that are no FPDU
    kFin,    // ours
    kReset,  // ours
  };
  static constexpr std::size_t kKinds = 14;

  Kind kind{};
  std::uint8_t region_kind{};  // of peer_protocol.hpp's Region, for tagged messages and requests
  std::uint8_t region_rights = 3;
  std::int64_t offset{};  // from the region's first octet
  std::uint32_t size{};   // octets of payload, or to be read
  // Octets of the ULPDU that are changed: where, and by which XOR.
  std::vector<std::pair<std::uint16_t, std::uint8_t>> edits{};
  std::uint32_t crc_xor{};
  std::uint16_t length_xor{};         // of ULPDU_Length
  std::vector<std::uint16_t> cuts{};  // where the FPDU is cut into TCP segments
  bool again{};                       // sent twice
  bool glued{};                       // leaves in one TCP segment with the step before it

  // Nothing is wrong with it by itself.
  [[nodiscard]] bool is_plain() const noexcept { return edits.empty() && crc_xor == 0 && length_xor == 0 && !again; }
  bool operator==(const Step&) const = default;
};

struct Script {
  std::uint8_t revision = 2;
  bool crc = true;
  bool markers = false;
  bool enhanced = true;
  std::vector<std::pair<std::uint16_t, std::uint8_t>> edits{};  // of the startup frame
  std::vector<Step> steps{};
  bool operator==(const Script&) const = default;
};

[[nodiscard]] std::string_view name(Step::Kind kind) noexcept;

[[nodiscard]] std::string to_text(const Script& script);
// A sentence that names the line where it fails. Unknown words, numbers out of range and more than kMostSteps are
// refused.
[[nodiscard]] std::expected<Script, std::string> parse_script(std::string_view text);
inline constexpr std::size_t kMostSteps = 256;

// The script of a number: the same at each run.
[[nodiscard]] Script random_script(std::uint64_t seed);
// Returns a script of combinations of the plan (probe/plan/): one header field or one number at a boundary, of a
// message of each kind, at a place early or late in the stream, apart, glued, dribbled or twice.
[[nodiscard]] Script boundary_script(std::uint64_t seed);

}  // namespace weft::probe
