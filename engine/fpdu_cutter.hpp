// SPDX-License-Identifier: Apache-2.0
// Cuts one FPDU off an outgoing message and lays it into a TransmitBatch. With a CRC the payload is copied into the
// batch's arena first and checksummed there: an application that scribbles in its buffer meanwhile spoils its own data,
// never the connection.
#pragma once

#include <cstdint>
#include <expected>

#include "engine/outgoing.hpp"
#include "engine/payload_reader.hpp"
#include "engine/transmit_batch.hpp"
#include "mpa/fpdu_sender.hpp"

namespace weft::engine {

class FpduCutter {
 public:
  // `max_ulpdu`: 0, or a limit below the MULPDU.
  FpduCutter(const mpa::Framing& framing, std::uint32_t emss, std::uint32_t max_ulpdu) noexcept
      : sender_(framing), emss_(emss), max_ulpdu_(max_ulpdu) {}

  // For FPDUs not yet cut (DDP-3-01, DDP-3-02).
  void set_emss(std::uint32_t emss) noexcept { emss_ = emss; }

  // The largest ULPDU that may be cut for this batch now: the MULPDU of the path and no less (MPA-3-03, MPA-4.5-06,
  // DDP-5.2-02), unless the user or a small arena asks for less.
  [[nodiscard]] std::uint32_t ulpdu_limit(const TransmitBatch& batch) const noexcept;

  // Octets appended; 0 when the batch has no room for the next FPDU. `limit`: ulpdu_limit() of the batch.
  std::expected<std::size_t, PayloadFault> cut(OutgoingMessage& message, std::uint32_t limit, PayloadReader& reader,
                                               TransmitBatch& batch);

 private:
  std::size_t cut_borrowed(OutgoingMessage& message, std::uint32_t limit, PayloadReader& reader, TransmitBatch& batch);

  mpa::FpduSender sender_;
  std::uint32_t emss_;
  std::uint32_t max_ulpdu_;
};

}  // namespace weft::engine
