// SPDX-License-Identifier: Apache-2.0
// A ULPDU as the rules of DDP and RDMAP see it.
#pragma once

#include <cstdint>

#include "conformance/finding.hpp"
#include "conformance/seen.hpp"
#include "ddp/header.hpp"
#include "rdmap/opcodes.hpp"

namespace weft::conformance {

struct Ulpdu {
  // Reads an FPDU whose ULPDU has a whole DDP header. Its DV may be wrong: it is read as version 1.
  explicit Ulpdu(const FpduSeen& seen) noexcept
      : fpdu(&seen),
        header(ddp::read(seen.ulpdu)),
        rdmap_control(ddp::TaggedLayout::RsvdUlp::get(seen.ulpdu)),
        payload(seen.ulpdu.subspan(ddp::header_size(header))) {}

  const FpduSeen* fpdu;
  ddp::Header header;
  std::uint8_t rdmap_control;
  Bytes payload;        // after the DDP header
  bool joined = false;  // of several segments: `fpdu` has the last, and stands for all in findings

  [[nodiscard]] Direction from() const noexcept { return fpdu->piece.from; }
  [[nodiscard]] const ddp::UntaggedHeader* untagged() const noexcept {
    return std::get_if<ddp::UntaggedHeader>(&header);
  }
  [[nodiscard]] const ddp::TaggedHeader* tagged() const noexcept { return std::get_if<ddp::TaggedHeader>(&header); }
  [[nodiscard]] bool last() const noexcept {
    return std::visit([](const auto& h) { return h.last; }, header);
  }
  // All of an untagged message.
  [[nodiscard]] bool in_one_segment() const noexcept { return last() && untagged()->offset.value == 0; }
  // No segment of any message: one without octets is the only segment of its message, and so has L (DDP-5.2-11).
  [[nodiscard]] bool empty_and_not_last() const noexcept { return payload.empty() && !last(); }
  [[nodiscard]] std::uint8_t opcode() const noexcept { return rdmap_control & 0x0F; }

  // `size` octets from the ULPDU's octet `at`, for a finding.
  [[nodiscard]] Where octets(std::size_t at, std::size_t size) const noexcept {
    const std::size_t front = ddp::header_size(header);
    if (!joined || at < front) return {&fpdu->piece, fpdu->ulpdu_at(at), size};
    return {&fpdu->piece, fpdu->ulpdu_at(front), fpdu->ulpdu.size() - front};
  }
  template <typename Field>
  [[nodiscard]] Where field(std::size_t base = 0) const noexcept {
    return octets(base + Field::end - sizeof(Field::get(Bytes{})), sizeof(Field::get(Bytes{})));
  }
  // Octets of the payload.
  [[nodiscard]] Where in_payload(std::size_t at, std::size_t size) const noexcept {
    return octets(ddp::header_size(header) + at, size);
  }
};

}  // namespace weft::conformance
