// SPDX-License-Identifier: Apache-2.0
// What the tests of this room share: octets from text, the golden vectors, and a framer that knows nothing of mpa/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/wire.hpp"
#include "mpa/fpdu_receiver.hpp"
#include "mpa/fpdu_sender.hpp"
#include "mpa/startup.hpp"
#include "mpa/startup_phase.hpp"

namespace weft::mpa::test {

using Octets = std::vector<std::byte>;

// What arrives are FPDUs.
constexpr bool expects_fpdus(Phase phase) { return phase == Phase::kFenced || phase == Phase::kOpen; }
Octets from_hex(std::string_view hex);
Octets from_text(std::string_view text);
Octets copy(Bytes octets);
Octets operator+(Octets left, const Octets& right);

// `size` octets that differ from their neighbours and from zero.
Octets pattern(std::size_t size, unsigned seed = 1);

// A vector of mpa_vectors.json by name; throws when there is none.
Octets vector_named(const std::string& name);

// RFC 5044 section 4 once more, octet by octet and bit by bit, to hold the real one against.
struct ReferenceOptions {
  std::uint16_t reserved = 0;     // reserved half of each Marker
  std::uint16_t pointer_or = 0;   // set in each FPDUPTR
  std::uint16_t pointer_add = 0;  // added to each FPDUPTR
  std::byte pad{0};
  std::optional<std::uint32_t> crc{};  // instead of the right one
};
Octets reference_fpdu(Bytes ulpdu, bool markers, std::uint64_t position, const ReferenceOptions& options = {});
std::uint32_t reference_crc(Bytes octets);

// One ULPDU through an FpduSender.
Octets seal(FpduSender& sender, Bytes ulpdu);

// What a receiver makes of a whole stream.
struct Reading {
  std::vector<Octets> ulpdus{};
  std::vector<std::uint64_t> offsets{};
  std::optional<FpduError> error{};
  std::size_t unconsumed = 0;
  bool operator==(const Reading&) const = default;
};
// Presents the stream in pieces that end at `cuts` (ascending), and at its end.
Reading read_in_pieces(FpduReceiver receiver, const Octets& stream, const std::vector<std::size_t>& cuts);
inline Reading read_all(FpduReceiver receiver, const Octets& stream) { return read_in_pieces(receiver, stream, {}); }

// A startup frame as octets.
Octets octets_of(const StartupFrame& frame);
StartupFrame frame(FrameKind kind, std::uint8_t revision = 1);

template <typename T, typename Step>
std::optional<T> outcome(const Step& step) {
  const T* found = std::get_if<T>(&step.outcome);
  return found != nullptr ? std::optional(*found) : std::nullopt;
}
template <typename Step>
std::optional<Fault> fault(const Step& step) {
  const auto failure = outcome<StartupFailure>(step);
  return failure ? std::optional(failure->fault) : std::nullopt;
}

}  // namespace weft::mpa::test
