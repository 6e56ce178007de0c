// SPDX-License-Identifier: Apache-2.0
// From a byte stream to ULPDUs, RFC 5044 sections 4 and 6. Nothing leaves an FPDU before the whole of it has been
// verified, and nothing but its ULPDU does (MPA-1.2-03). What comes out is in the order and the pieces that went in
// (MPA-2-04, MPA-4.3-17).
#pragma once

#include <expected>
#include <optional>

#include "common/wire.hpp"
#include "mpa/errors.hpp"
#include "mpa/fpdu.hpp"

namespace weft::mpa {

// One verified FPDU.
struct Fpdu {
  MutableBytes ulpdu{};           // contiguous, inside the octets consumed (MPA-3-09, MPA-4.3-18)
  std::size_t consumed{};         // octets of the stream that this FPDU took; the next one begins after them
  std::uint64_t stream_offset{};  // where it begins, counted from the first octet after the peer's startup frame
  bool pad_nonzero{};             // the sender broke MPA-4.1-03; tolerated (MPA-4.1-04)
};

// Octets of the FPDU at the front that were read to where they belong: `octets` are the stream's from `at` on, and the
// stream presented has only room in their place. They lie inside the ULPDU.
struct Landed {
  std::size_t at{};
  Bytes octets{};
};

// What is there of a ULPDU that is not all there yet.
struct UlpduBegun {
  Bytes octets{};      // as they came: not verified
  std::size_t size{};  // of all of it
};

struct FpduError {
  Fault fault{};                  // kCrcMismatch or kMarkerMismatch
  std::uint64_t stream_offset{};  // of the FPDU at fault
  bool operator==(const FpduError&) const = default;
};

class FpduReceiver {
 public:
  // `position`: octets of the stream before the first one presented; not 0 only for one that joins a stream midway.
  explicit FpduReceiver(Framing framing, std::uint64_t position = 0) noexcept
      : framing_(framing), position_(position) {}

  // Takes the FPDU at the front of `stream`, which begins where the last one ended. Empty: not all of it is there yet;
  // present the same octets again with more after them (MPA-1.2-07). Any chopping of a stream gives the same FPDUs
  // (MPA-5.1-06, MPA-A.4-01, MPA-A.4-02).
  // With Markers, the octets of the FPDU returned are rearranged. After an error nothing more is delivered: each
  // further call repeats it (MPA-8-13). ULPDU_Length 0 and 64769 to 65535, which no sender may use, are no error of MPA
  // and are passed on as they are: RFC 5044 has no code for them, and DDP refuses what is shorter than its header.
  std::expected<std::optional<Fpdu>, FpduError> next(MutableBytes stream, const Landed& landed = {}) noexcept;

  // The ULPDU of an FPDU of which the stream ends with a part. Empty with Markers, which lie between its octets.
  [[nodiscard]] std::optional<UlpduBegun> begun(Bytes stream) const noexcept;

  // After an empty answer: octets that the FPDU still needs at least.
  [[nodiscard]] std::size_t missing() const noexcept { return missing_; }
  // Where in the stream the next FPDU begins.
  [[nodiscard]] std::uint64_t position() const noexcept { return position_; }
  [[nodiscard]] const Framing& framing() const noexcept { return framing_; }

 private:
  bool has(Bytes stream, std::size_t needed) noexcept {
    missing_ = stream.size() < needed ? needed - stream.size() : 0;
    return missing_ == 0;
  }
  inline std::expected<std::optional<Fpdu>, FpduError> take(MutableBytes fpdu, std::size_t header, std::size_t ulpdu,
                                                            const Landed& landed) noexcept;
  std::unexpected<FpduError> fail(Fault fault) noexcept;

  Framing framing_;
  std::uint64_t position_;
  std::size_t missing_ = kLengthSize;
  std::optional<FpduError> failed_{};
};

}  // namespace weft::mpa
