// SPDX-License-Identifier: Apache-2.0
// What weft's parsers read out of a byte stream, under Wireshark's field names.
#pragma once

#include <vector>

#include "common/wire.hpp"
#include "mpa/fpdu_receiver.hpp"
#include "mpa/startup_frame.hpp"
#include "tests/captures/capture_file.hpp"
#include "tests/captures/fields.hpp"

namespace weft::captures {

Fields startup_fields(const mpa::StartupFrame& frame);

// `framed` is the FPDU as it was on the wire, without Markers; its CRC and pad are read from there.
Fields fpdu_fields(Bytes framed, bool crc);

// The ULPDU alone: DDP and RDMAP fields.
void add_ulpdu_fields(Bytes ulpdu, Fields& fields);

// Whether the client begins with an MPA Request. The captures of NFS hold a few plain TCP connections too.
bool speaks_mpa(const Connection& connection);

// Every frame of one direction; none when the connection does not speak MPA. Throws std::runtime_error where weft's
// parsers find a fault or octets are left over.
std::vector<Fields> read_frames(const Connection& connection, Side side);

}  // namespace weft::captures
