// SPDX-License-Identifier: Apache-2.0
// A startup frame or FPDU as a list of fields: where each lies, what it holds and what that means.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/seen.hpp"

namespace weft::conformance {

// What a field is called.
struct FieldName {            // static storage
  std::string_view layer{};   // "mpa", "ddp", "rdmap", "ulp"
  std::string_view name{};    // as the RFC's figure has it
  std::string_view filter{};  // what Wireshark calls it in its filters; empty where it has no such field
};

// One field of a startup frame or an FPDU.
struct Field {
  std::size_t at{};       // in piece.octets; a Marker may lie inside the octets that follow
  std::size_t size{};     // octets; 0 for some bits of the field before, whose octets were counted there
  FieldName name{};       // its layer, and its name there
  std::string value{};    // "0x40", "19", or octets
  std::string meaning{};  // empty when the value says it all
};

[[nodiscard]] std::vector<Field> dissect(const StartupSeen& seen);  // the fields of a startup frame, front to back
[[nodiscard]] std::vector<Field> dissect(const FpduSeen& fpdu);     // those of an FPDU, Markers, PAD and CRC included

// What the first octets of a message look like: "RPC-over-RDMA version 1, RDMA_MSG", "iSER", "SMB Direct"; empty when
// nothing is recognised. A guess by the layout: no field of iWARP names the ULP.
[[nodiscard]] std::string recognise_payload(Bytes payload);

}  // namespace weft::conformance
