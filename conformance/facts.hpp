// SPDX-License-Identifier: Apache-2.0
/// @file
/// Facts about a connection that several groups of rules need.
///
/// An absent value means that the capture does not show it. No end may then be blamed for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "conformance/place.hpp"
#include "mpa/fpdu.hpp"
#include "mpa/startup_frame.hpp"

namespace weft::conformance {

/// Holds the content of a startup frame.
struct StartupFacts {
  std::uint8_t revision{};                      ///< MPA revision
  bool markers{};                               ///< the M bit
  bool crc{};                                   ///< the C bit
  bool reject{};                                ///< the R bit
  std::optional<mpa::EnhancedData> enhanced{};  ///< IRD, ORD and ready-to-receive types (RFC 6581)
  std::vector<std::byte> private_data{};        ///< private data of the ULP
  std::uint64_t packet{};                       ///< packet that completed the frame
};

/// Describes why there is no startup frame to read.
struct NoFrame {
  /// Identifies what the capture has instead of the frame.
  enum class Why : std::uint8_t {
    kNotCaptured,  ///< the capture does not contain all of its octets
    kNoneSent,     ///< its end sent no frame, and the capture is complete
    kUnfinished,   ///< the octets end within the frame
    kMalformed,    ///< the frame is invalid; a finding describes the error
  };
  Why why{};               ///< what the capture has instead of the frame
  std::uint64_t packet{};  ///< packet of its available octets
};
/// Returns a name such as "not captured" or "none sent"; static storage.
[[nodiscard]] std::string_view name(NoFrame::Why why) noexcept;

/// Holds what both startup frames and the SYNs contain.
struct Facts {
  std::optional<StartupFacts> request{};  ///< MPA Request, if it was read
  std::optional<StartupFacts> reply{};    ///< MPA Reply, if it was read
  /// Reason why there is no Request. kNoneSent is only known once the connection is over.
  NoFrame no_request{};
  /// Reason why there is no Reply.
  NoFrame no_reply{};
  std::optional<std::uint16_t> mss_from_initiator{};  ///< MSS option of the Initiator's SYN
  std::optional<std::uint16_t> mss_from_responder{};  ///< MSS option of the Responder's SYN
  /// Returns how many RDMA Read and Atomic Requests an end may have outstanding: the IRD of the other end (RFC 6581).
  /// Returns nothing if it was not negotiated.
  [[nodiscard]] std::optional<std::uint32_t> request_limit(Direction from) const noexcept;
};

}  // namespace weft::conformance
