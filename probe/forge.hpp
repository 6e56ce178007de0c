// SPDX-License-Identifier: Apache-2.0
// Generation of startup frames and FPDUs with faults in selected places. Everything else is correct.
#pragma once

#include <array>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "mpa/fpdu.hpp"
#include "mpa/fpdu_receiver.hpp"
#include "mpa/startup_frame.hpp"

namespace weft::probe {

// The startup frame of the prober. Fields as in RFC 5044 section 7.1.1 and RFC 6581 section 6.
struct StartUp {
  std::uint8_t revision = 2;
  bool markers = false;
  bool crc = true;
  bool reject = false;
  std::optional<mpa::EnhancedData> enhanced = mpa::EnhancedData{.ird = 16, .ord = 16};  // absent: S is 0
  std::vector<std::byte> private_data{};                                                // of the ULP
  // Faults
  std::uint8_t reserved{};                             // the Res bits
  std::optional<std::array<char, 16>> key{};           // instead of the right one
  std::optional<std::uint16_t> private_data_length{};  // what PD_Length says
  std::optional<bool> enhanced_flag{};                 // S, whether or not there is enhanced data
};
// `kind` determines the key.
[[nodiscard]] std::vector<std::byte> forge(mpa::FrameKind kind, const StartUp& start_up);

// What is wrong with an FPDU.
struct FpduFault {
  std::optional<std::uint16_t> length{};  // what ULPDU_Length says; the octets stay as they are
  std::byte pad{};                        // what the PAD octets hold
  std::uint32_t crc_xor{};                // of the CRC as it should be
  std::optional<std::uint32_t> crc{};     // instead of it
  std::uint16_t marker_reserved{};        // the reserved half of each Marker
  std::uint16_t marker_pointer_xor{};     // of each FPDUPTR
  std::optional<std::size_t> flip{};      // an octet of the finished FPDU that is inverted, Markers and CRC included
  std::optional<std::size_t>
      marker{};       // of the FPDU's Markers, counted from 0, the only one that is wrong; absent: all
  bool no_markers{};  // leaves them out where they are due
  // Returns whether the peer has to refuse it.
  [[nodiscard]] bool breaks() const noexcept {
    return length || crc_xor != 0 || crc || marker_pointer_xor != 0 || flip || no_markers;
  }
};

// The outbound direction of the prober.
class Framer {
 public:
  Framer() = default;
  explicit Framer(mpa::Framing framing) noexcept : framing_(framing) {}
  std::vector<std::byte> fpdu(Bytes ulpdu, const FpduFault& fault = {});
  [[nodiscard]] std::uint64_t position() const noexcept { return position_; }
  [[nodiscard]] const mpa::Framing& framing() const noexcept { return framing_; }

 private:
  mpa::Framing framing_{};
  std::uint64_t position_ = 0;
};

// The inbound direction, from the peer.
class FrameReader {
 public:
  explicit FrameReader(mpa::Framing framing) noexcept;
  struct Taken {
    std::vector<std::byte> ulpdu{};
    std::size_t consumed{};  // octets of the stream
  };
  // Takes the FPDU at the front of `octets`; empty if it is incomplete. The next call gets what is after it. An error
  // is a sentence about what the peer sent.
  std::expected<std::optional<Taken>, std::string> take(MutableBytes octets);

 private:
  mpa::FpduReceiver receiver_;
};

}  // namespace weft::probe
