// SPDX-License-Identifier: Apache-2.0
/// @file
/// The error that ended a stream.
#pragma once

#include <cstdint>
#include <string_view>

namespace weft::verbs {

/// Describes the error that ended a stream, in the terms of the Terminate message (RFC 5040 section 4.8).
struct StreamError {
  bool remote{};                ///< true if the peer reported the error by a Terminate; false if this end detected it
  std::uint8_t layer{};         ///< layer of the error: 0 RDMAP, 1 DDP, 2 LLP
  std::uint8_t type{};          ///< error type within the layer
  std::uint8_t code{};          ///< error code within the type
  std::string_view clause{};    ///< id of the violated clause; static storage
  std::string_view sentence{};  ///< description for people; static storage
  /// Offset of the FPDU at fault, in octets of the peer's FPDU stream.
  /// Offset 0 is the first octet after the peer's MPA startup frame, not the first octet of the TCP connection.
  std::uint64_t stream_offset{};
  /// True if the Terminate quotes an RDMA Write whose work request had completed: TCP had taken the Write before the
  /// peer refused it. No completion has the error then.
  bool of_completed_write{};
};

}  // namespace weft::verbs
