// SPDX-License-Identifier: Apache-2.0
/// @file
/// Startup frames in words, and the fields of frames, FPDUs and Markers described for people.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/field.hpp"
#include "common/text.hpp"
#include "mpa/fpdu.hpp"
#include "mpa/startup_frame.hpp"

namespace weft::mpa {

/// Returns "MPA Request" or "MPA Reply"; static storage.
[[nodiscard]] std::string_view name(FrameKind kind) noexcept;

/// Returns an IRD or ORD of a startup frame: "4", or "not negotiated" for kNoNegotiation.
[[nodiscard]] std::string depth_text(std::uint16_t depth);

/// Returns the types of ready-to-receive indications: "Send Write", or "none".
[[nodiscard]] std::string text(const RtrTypes& types);

/// Returns what the frame says: "revision 2, CRC, wants Markers, IRD 4, ORD 8, 14 octets of private data". A Reply that
/// rejects begins with "rejected".
[[nodiscard]] std::string text(const StartupFrame& frame);

/// Returns the first half of the enhanced data: "A=1 (peer to peer) B=0 IRD 4".
[[nodiscard]] std::string ird_word_text(std::uint64_t word);
/// Returns the second half of the enhanced data: "C=1 D=0 ORD 8".
[[nodiscard]] std::string ord_word_text(std::uint64_t word);

/// The fixed part of a startup frame. MPA2-6-01: S was the first of RFC 5044's five reserved bits.
inline constexpr auto kStartupFields = field_table(
    "mpa", "RFC 5044 section 7.1.1",
    {
        octet_field(kKeySize, "Key", "", "Sixteen characters that identify MPA and distinguish a Request from a Reply.",
                    {"MPA-7.1.1-02", "MPA-7.1.1-04"}),
        octet_field(1, "Flags", "", "Options of the FPDUs that follow; see the single bits.", {"MPA-7.1.1-17"}),
        bit_field(1, "M", "iwarp_mpa.marker_flag", "Set if the sender wants Markers in the FPDUs that it receives.",
                  {"MPA-7.1.1-07", "MPA-7.1.1-08"}),
        bit_field(1, "C", "iwarp_mpa.crc_flag",
                  "Set if the sender wants CRCs; they are in use if one of the ends wants them.",
                  {"MPA-4.4-05", "MPA-7.1.1-11"}),
        bit_field(1, "R", "iwarp_mpa.rej_flag", "Set in a Reply if the responder's application rejects the connection.",
                  {"MPA-7.1.1-14", "MPA-7.1.1-16"}),
        bit_field(1, "S", "", "Set, from revision 2 on, if the private data begin with the enhanced data.",
                  {"MPA2-6-07", "MPA2-6-11"})
            .in("RFC 6581 section 6"),
        bit_field(4, "Res", "iwarp_mpa.res", "Reserved bits, which are sent as zero and ignored.",
                  {"MPA2-6-04", "MPA-7.1.1-17"})
            .in("RFC 6581 section 6"),
        octet_field(1, "Rev", "iwarp_mpa.rev", "The revision of MPA: 1 is RFC 5044, 2 adds RFC 6581.",
                    {"MPA-7.1.1-19"}),
        octet_field(2, "PD_Length", "iwarp_mpa.pdlength",
                    "The number of octets of private data that follow, at most 512.", {"MPA-7.1.1-23", "MPA-7.1.1-28"}),
    });
static_assert(end_of(kStartupFields) == kFixedFrameSize);

/// The enhanced data.
inline constexpr auto kEnhancedFields = field_table(
    "mpa", "RFC 6581 section 9",
    {
        octet_field(2, "A, B, IRD", "", "The first half of the enhanced data: two flags and the IRD.", {"MPA2-6-11"},
                    ird_word_text),
        bit_field(1, "A", "",
                  "Set for peer-to-peer mode, in which the initiator's first FPDU says that it is ready to receive.",
                  {"MPA2-9.2-06", "MPA2-9.2-17", "MPA2-9.2-18"}),
        bit_field(1, "B", "", "Set if a zero-length Send may be the ready-to-receive indication.",
                  {"MPA2-9.2-04", "MPA2-9.2-09", "MPA2-9.2-12"}),
        bit_field(14, "IRD", "",
                  "Inbound RDMA Read Queue Depth: how many Read and Atomic Requests the sender serves at a time.",
                  {"MPA2-9.1-04", "RDMAP-6.1-08"})
            .in("RFC 6581 section 9.1"),
        octet_field(2, "C, D, ORD", "", "The second half of the enhanced data: two flags and the ORD.", {"MPA2-6-11"},
                    ord_word_text),
        bit_field(1, "C", "", "Set if a zero-length RDMA Write may be the ready-to-receive indication.",
                  {"MPA2-9.2-04", "MPA2-9.2-09", "MPA2-9.2-12"}),
        bit_field(1, "D", "", "Set if a zero-length RDMA Read may be the ready-to-receive indication.",
                  {"MPA2-9.2-04", "MPA2-9.2-09", "MPA2-9.2-12"}),
        bit_field(14, "ORD", "",
                  "Outbound RDMA Read Queue Depth: how many Requests the sender keeps outstanding at a time.",
                  {"MPA2-9.1-08", "RDMAP-6.1-08"})
            .in("RFC 6581 section 9.1"),
    });
static_assert(end_of(kEnhancedFields) == kEnhancedDataSize);

/// What follows the fixed part and the enhanced data: the private data, or the rest of an invalid frame.
inline constexpr auto kDataFields =
    field_table("mpa", "RFC 5044 section 7.1.1",
                {
                    octet_field(0, "Private Data", "iwarp_mpa.privatedata",
                                "Octets that the applications exchange while they connect; MPA does not look at them.",
                                {"MPA-7.1.1-23", "MPA-7.1.1-28"}),
                    octet_field(0, "octets", "", "The rest of a startup frame that cannot be read.", {"MPA-7.1.1-23"}),
                });

/// The fields of an FPDU around its ULPDU.
inline constexpr auto kFpduFields =
    field_table("mpa", "RFC 5044 section 4.1",
                {
                    octet_field(2, "ULPDU_Length", "iwarp_mpa.ulpdulength",
                                "The number of octets of the ULPDU, without padding, CRC and Markers.",
                                {"MPA-4.1-02", "MPA-3-05", "MPA-3-03"}, octets_text),
                    octet_field(0, "PAD", "iwarp_mpa.pad",
                                "Zeros that make the size of the FPDU a multiple of four octets.", {"MPA-4.1-03"}),
                    octet_field(kCrcSize, "CRC", "iwarp_mpa.crc",
                                "CRC32c of the FPDU with its Markers; it reveals damage that TCP missed.",
                                {"MPA-4.4-13", "MPA-4.4-05"})
                        .in("RFC 5044 section 4.4"),
                });

/// The Marker.
inline constexpr auto kMarkerFields = field_table(
    "mpa", "RFC 5044 section 4.2",
    {
        octet_field(kMarkerSize, "Marker", "",
                    "Is at every 512th octet of the stream and points back to the beginning of its FPDU.",
                    {"MPA-4.3-05", "MPA-4.3-07", "MPA-4.3-12"}),
        bit_field(16, "RESERVED", "iwarp_mpa.marker_res", "Reserved octets, which are sent as zero.", {"MPA-4.2-02"}),
        bit_field(16, "FPDUPTR", "iwarp_mpa.marker_fpduptr",
                  "The distance back to the ULPDU_Length of the FPDU around the Marker; 0 if an FPDU begins after it.",
                  {"MPA-4.2-05", "MPA-4.3-05", "MPA-4.3-07"}),
    });

}  // namespace weft::mpa
