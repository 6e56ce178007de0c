// SPDX-License-Identifier: Apache-2.0
/// @file
/// DDP headers in words, and their fields described for people. The second octet of both headers is RDMAP's
/// (rdmap/text.hpp).
#pragma once

#include <string>

#include "common/field.hpp"
#include "common/text.hpp"
#include "ddp/header.hpp"

namespace weft::ddp {

/// The control octet.
inline constexpr auto kControlFields = field_table(
    "ddp", "RFC 5041 section 4.1",
    {
        octet_field(1, "DDP Control", "",
                    "States whether the segment is tagged, and whether it is the last one of its message."),
        bit_field(1, "T", "iwarp_ddp.tagged_flag",
                  "Set if the segment is tagged: it names the receiver's buffer; else it goes to a queue.",
                  {"RDMAP-5.1-01", "RDMAP-5.2.2-02", "RDMAP-5.3-01", "RDMAP-5.2.1-01"}),
        bit_field(1, "L", "iwarp_ddp.last_flag", "Set if the segment is the last one of its message.",
                  {"DDP-4.1-05", "DDP-4.1-06", "DDP-4.1-08"}),
        bit_field(4, "Rsvd", "iwarp_ddp.rsvd", "Reserved bits, which are sent as zero and ignored.", {"DDP-4.1-11"}),
        bit_field(2, "DV", "iwarp_ddp.dv", "The version of DDP, which is 1.", {"DDP-4.1-13"}),
    });

/// The tagged header after its two control octets.
inline constexpr auto kTaggedFields = field_table(
    "ddp", "RFC 5041 section 4.2",
    {
        octet_field(4, "STag", "iwarp_ddp.stag", "Names the buffer of the receiver in which the payload is placed.",
                    {"DDP-4.2-10", "RDMAP-4.4-03"}),
        octet_field(8, "TO", "iwarp_ddp.tagged_offset",
                    "Tagged Offset: the position in that buffer of the payload's first octet.",
                    {"DDP-5.2-10", "DDP-5.3-03", "RDMAP-4.4-04"}),
    },
    2);
static_assert(end_of(kTaggedFields) == TaggedLayout::kSize);

/// The untagged header after its two control octets and the word of the upper layer.
inline constexpr auto kUntaggedFields =
    field_table("ddp", "RFC 5041 section 4.3",
                {
                    octet_field(4, "QN", "iwarp_ddp.qn",
                                "Queue Number: 0 Sends, 1 Read and Atomic Requests, 2 Terminate, 3 Atomic Responses.",
                                {"DDP-4.3-09", "RDMAP-5.3-08", "RDMAP-5.2.1-06", "RDMAP-5.4-02"}),
                    octet_field(4, "MSN", "iwarp_ddp.msn",
                                "Message Sequence Number: counts the messages of a queue from 1, each with its buffer.",
                                {"DDP-4.3-10", "DDP-4.3-11", "DDP-4.3-13"}),
                    octet_field(4, "MO", "iwarp_ddp.mo",
                                "Message Offset: the place of the payload in its message, in octets from 0.",
                                {"DDP-4.3-15", "DDP-5.2-07", "DDP-5.3-02"}),
                },
                6);
static_assert(end_of(kUntaggedFields) == UntaggedLayout::kSize);

/// A ULPDU that is too short for its header.
inline constexpr auto kShortUlpduFields = field_table(
    "ddp", "RFC 5041 section 4",
    {octet_field(0, "ULPDU", "", "The octets that MPA delivers: a DDP header and its payload.", {"DDP-4-01"})});

/// Returns "STag 0x00000001".
[[nodiscard]] inline std::string text(Stag stag) { return "STag " + hex(stag.value); }

/// Returns where a segment goes: "STag 0x00000001, TO 0x40" or "queue 0, MSN 3, MO 0".
[[nodiscard]] inline std::string text(const Header& header) {
  if (const auto* const tagged = std::get_if<TaggedHeader>(&header))
    return text(tagged->stag) + ", TO " + short_hex(tagged->offset.value);
  const auto& [last, rsvd_ulp, rsvd_ulp_word, queue, msn, offset] = std::get<UntaggedHeader>(header);
  return "queue " + std::to_string(queue) + ", MSN " + std::to_string(msn.value) + ", MO " +
         std::to_string(offset.value);
}

}  // namespace weft::ddp
