// SPDX-License-Identifier: Apache-2.0
/// @file
/// Dissection of startup frames and FPDUs into fields: position, value and meaning.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "common/field.hpp"
#include "conformance/seen.hpp"

namespace weft::conformance {

/// Describes one field of a startup frame or an FPDU.
struct Field {
  std::size_t at{};    ///< offset in Piece::octets; a Marker may lie inside the field
  std::size_t size{};  ///< size in octets; 0 for bits of the preceding field, whose octets that field already covers
  const FieldInfo* info{};    ///< layer, name and purpose; static storage
  std::string value{};        ///< value: "0x40", "19", or octets
  std::string meaning{};      ///< meaning of the value; empty if the value is self-explanatory
  std::string_view filter{};  ///< Wireshark's name for display filters; empty if Wireshark has no such field
};

/// Returns the fields of a startup frame in order.
[[nodiscard]] std::vector<Field> dissect(const StartupSeen& seen);
/// Returns the fields of an FPDU in order, including Markers, PAD and CRC.
[[nodiscard]] std::vector<Field> dissect(const FpduSeen& fpdu);

/// Guesses the upper-layer protocol from the first octets of a message, by their layout: no field of iWARP identifies
/// the ULP.
/// Returns a description such as "RPC-over-RDMA version 1, RDMA_MSG", "iSER" or "SMB Direct"; empty if the layout is
/// not recognized.
[[nodiscard]] std::string recognise_payload(Bytes payload);

}  // namespace weft::conformance
