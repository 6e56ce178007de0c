// SPDX-License-Identifier: Apache-2.0
// The octets of one direction as frames: a startup frame, then FPDUs, each with its fields. The laboratory shows by it
// what went in and came out; it decides nothing.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "conformance/dissection.hpp"
#include "conformance/fpdu_reading.hpp"

namespace weft::explain::laboratory {

using conformance::Direction;

struct Frame {
  std::vector<std::byte> octets{};
  std::string words{};
  std::vector<conformance::Field> fields{};
  std::optional<mpa::StartupFrame> startup{};  // its private data is in `octets`
  std::optional<ddp::Header> header{};         // of an FPDU whose ULPDU has room for one
  std::size_t payload = 0;                     // octets after that header

  [[nodiscard]] std::uint8_t opcode() const noexcept;  // of a frame with a header
  [[nodiscard]] bool last() const noexcept;
};

class FrameReader {
 public:
  explicit FrameReader(Direction from) noexcept : from_(from) {}

  // The frame at the front of `octets`, when all of it is there. `framing` counts after the startup frame.
  [[nodiscard]] std::optional<Frame> front(Bytes octets, const mpa::Framing& framing);
  // The startup frame is over, and `octets` have gone by after it.
  void pass(const Frame& frame) noexcept;
  [[nodiscard]] bool in_startup() const noexcept { return !startup_over_; }

 private:
  [[nodiscard]] std::optional<Frame> startup_frame(Bytes octets) const;
  [[nodiscard]] std::optional<Frame> fpdu(Bytes octets, const mpa::Framing& framing);

  Direction from_;
  bool startup_over_ = false;
  std::uint64_t position_ = 0;  // octets of FPDUs that have gone by
  conformance::FpduReader reader_{};
};

}  // namespace weft::explain::laboratory
