// SPDX-License-Identifier: Apache-2.0
/// @file
/// RDMAP messages and errors in words, and the fields of messages described for people. rdmap/error_table.hpp has a
/// sentence for each error.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/field.hpp"
#include "rdmap/atomic_messages.hpp"
#include "rdmap/opcodes.hpp"
#include "rdmap/terminate.hpp"

namespace weft::rdmap {

/// Returns the name of a message in the RFC; "opcode 13" if no message has the opcode.
[[nodiscard]] std::string name(std::uint8_t opcode);
/// Returns "FetchAdd" or "CmpSwap"; static storage.
[[nodiscard]] std::string_view name(AtomicOperation::Kind kind) noexcept;
/// Returns "RDMAP", "DDP" or "LLP", or "unknown" for another value from the wire; static storage.
[[nodiscard]] std::string_view name(Layer layer) noexcept;

/// Returns "layer 1, type 1, code 0x00".
[[nodiscard]] std::string text(const ErrorCode& error);
/// Returns "layer 1 (DDP), type 1, code 0x00".
[[nodiscard]] std::string text_with_layer(const ErrorCode& error);
/// Returns "1/1/00".
[[nodiscard]] std::string short_text(const ErrorCode& error);

/// Says that a Terminate is laid out as by Linux siw.
inline constexpr std::string_view kSiwLayout = "laid out as Linux siw does";
/// Returns numbers and sentence: "layer 1, type 1, code 0x00: the STag is invalid, ... (laid out as Linux siw does)".
[[nodiscard]] std::string text(const TerminateReport& report);
/// Returns "1/1/00: the STag is invalid, ...".
[[nodiscard]] std::string short_text(const TerminateReport& report);

/// Returns "FetchAdd of 0x1" or "CmpSwap of 0x1 for 0x2".
[[nodiscard]] std::string text(const AtomicOperation& operation);

/// Returns the RDMAP Control Field: "RV=1 Rsv=0 opcode 3: Send".
[[nodiscard]] std::string control_text(std::uint64_t octet);
/// Returns the kind of an Atomic Request: "FetchAdd", "CmpSwap" or "unknown".
[[nodiscard]] std::string aopcode_text(std::uint64_t word);
/// Returns "64 octets to read".
[[nodiscard]] std::string read_size_text(std::uint64_t size);

/// The control field, the second octet of every DDP header.
inline constexpr auto kControlFields = field_table(
    "rdmap", "RFC 5040 section 4.1",
    {
        octet_field(1, "RDMAP Control", "", "Says which message of RDMAP the segment belongs to.", {}, control_text),
        bit_field(2, "RV", "iwarp_rdma.version", "The version of RDMAP, which is 1.", {"RDMAP-4.1-17"}),
        bit_field(2, "Rsv", "iwarp_rdma.rsv", "Reserved bits, which are sent as zero and ignored.", {"RDMAP-4.1-20"}),
        bit_field(4, "Opcode", "iwarp_rdma.opcode",
                  "The kind of the message, from RDMA Write (0) to Atomic Response (11).", {"RDMAP-4.1-22"}),
    },
    1);

/// The word of the upper layer in the untagged header.
inline constexpr auto kInvalidateFields =
    field_table("rdmap", "RFC 5040 section 4.1",
                {octet_field(4, "Invalidate STag", "",
                             "The STag that the receiver revokes when it delivers a Send with Invalidate.",
                             {"RDMAP-4.1-23", "RDMAPX-4.1-03"})},
                2);

/// The header of an RDMA Read Request.
inline constexpr auto kReadRequestFields = field_table(
    "rdmap", "RFC 5040 section 4.4",
    {
        octet_field(4, "SinkSTag", "iwarp_rdma.sinkstag",
                    "Names the requester's buffer in which the Response places the octets.", {"RDMAP-4.4-03"}),
        octet_field(8, "SinkTO", "iwarp_rdma.sinkto",
                    "The position in the sink buffer at which the first octet is placed.", {"RDMAP-4.4-04"}),
        octet_field(4, "RDMARDSZ", "iwarp_rdma.rdmardsz", "The number of octets to read, which may be 0.",
                    {"RDMAP-4.4-07"}, read_size_text),
        octet_field(4, "SrcSTag", "iwarp_rdma.srcstag", "Names the receiver's buffer from which the octets are read."),
        octet_field(8, "SrcTO", "iwarp_rdma.srcto", "The position in the source buffer of the first octet to read."),
    });
static_assert(end_of(kReadRequestFields) == ReadRequestLayout::kSize);

/// The header of an Atomic Request.
inline constexpr auto kAtomicRequestFields = field_table(
    "rdmap", "RFC 7306 section 5.2.1",
    {
        octet_field(4, "AOpCode and Reserved", "", "Selects the atomic operation.", {"RDMAPX-5.2.1-02"}, aopcode_text),
        bit_field(28, "Reserved", "iwarp_rdma.atomic.reserved", "Reserved bits, which are sent as zero and ignored.",
                  {"RDMAPX-5.2.1-02"}),
        bit_field(4, "AOpCode", "iwarp_rdma.atomic.opcode", "The atomic operation: 0 FetchAdd, 2 CmpSwap.",
                  {"RDMAPX-5.2.1-04"}),
        octet_field(4, "Request Identifier", "iwarp_rdma.atomic.request_identifier",
                    "A number of the requester's choice, which the Response repeats."),
        octet_field(4, "Remote STag", "iwarp_rdma.atomic.remote_stag",
                    "Names the receiver's buffer with the 64-bit value."),
        octet_field(8, "Remote Tagged Offset", "iwarp_rdma.atomic.remote_tagged_offset",
                    "The position of the value in that buffer; the memory address behind it is a multiple of 8."),
        octet_field(8, "Add or Swap Data", "iwarp_rdma.atomic.add_data",
                    "The number to add, or the value to store if the comparison succeeds."),
        octet_field(
            8, "Add or Swap Mask", "iwarp_rdma.atomic.add_mask",
            "FetchAdd: the top bit of each field that is added separately; CmpSwap: the bits that are replaced."),
        octet_field(8, "Compare Data", "iwarp_rdma.atomic.compare_data",
                    "CmpSwap swaps if the memory holds this value.", {"RDMAPX-5.2.1-12"}),
        octet_field(8, "Compare Mask", "iwarp_rdma.atomic.compare_mask", "The bits that CmpSwap compares.",
                    {"RDMAPX-5.2.1-13"}),
    });
static_assert(end_of(kAtomicRequestFields) == AtomicRequestLayout::kSize);

/// The header of an Atomic Response.
inline constexpr auto kAtomicResponseFields = field_table(
    "rdmap", "RFC 7306 section 5.2.2",
    {
        octet_field(4, "Original Request Identifier", "iwarp_rdma.atomic.original_request_identifier",
                    "The Request Identifier of the Request that this Response answers.", {"RDMAPX-5.2.2-02"}),
        octet_field(8, "Original Remote Data Value", "iwarp_rdma.atomic.original_remote_data_value",
                    "The value in memory before the operation, whether it swapped or not."),
    });
static_assert(end_of(kAtomicResponseFields) == AtomicResponseLayout::kSize);

/// The control part of a Terminate. The words of its error depend on several fields.
inline constexpr auto kTerminateFields = field_table(
    "rdmap", "RFC 5040 section 4.8",
    {
        octet_field(1, "Layer and EType", "", "Says which layer found the error, and its kind.",
                    {"RDMAP-4.8-04", "RDMAP-4.8-05"}),
        bit_field(4, "Layer", "iwarp_rdma.term_layer", "The layer that found the error: 0 RDMAP, 1 DDP, 2 MPA or TCP.",
                  {"RDMAP-4.8-05"}),
        bit_field(4, "EType", "iwarp_rdma.term_etype", "The kind of the error within its layer.",
                  {"RDMAP-4.8-05", "DDP-7.2-14"}),
        octet_field(1, "Error Code", "iwarp_rdma.term_errcode", "The error within its layer and kind.",
                    {"RDMAP-4.8-05", "RDMAP-IANA-3.2-01"}),
        octet_field(2, "HdrCt and Reserved", "", "Says which parts of the segment in error follow.",
                    {"RDMAP-4.8-04", "RDMAP-4.8-11"}),
        bit_field(1, "M", "iwarp_rdma.term_hdrct_m", "Set if the DDP Segment Length is valid.", {"RDMAP-4.8-08"}),
        bit_field(1, "D", "iwarp_rdma.hdrct_d", "Set if the DDP header of the segment in error follows.",
                  {"RDMAP-4.8-09"}),
        bit_field(1, "R", "iwarp_rdma.hdrct_r", "Set if the header of the request in error follows.",
                  {"RDMAP-4.8-10", "RDMAP-4.8-18"}),
        bit_field(13, "Reserved", "iwarp_rdma.term_rsvd", "Reserved bits, which are sent as zero and ignored.",
                  {"RDMAP-4.8-11"}),
    });
static_assert(end_of(kTerminateFields) == TerminateLayout::kShortest);

/// What a Terminate quotes of the segment in error.
inline constexpr auto kQuoteFields =
    field_table("rdmap", "RFC 5040 section 4.8",
                {
                    octet_field(2, "DDP Segment Length", "iwarp_rdma.term_ddp_seg_len",
                                "The length of the segment in error, with its DDP header.", {"RDMAP-4.8-13"}),
                    octet_field(0, "Terminated DDP Header", "iwarp_rdma.term_ddp_h",
                                "The DDP header of the segment in error, as it was received.", {"RDMAP-4.8-15"}),
                    octet_field(0, "Terminated RDMA Header", "iwarp_rdma.term_rdma_h",
                                "The header of the request in error.", {"RDMAP-4.8-18"}),
                },
                TerminateLayout::kShortest);

/// The 8 octets of an Immediate Data message.
inline constexpr auto kImmediateFields = field_table(
    "rdmap", "RFC 7306 section 6.2",
    {octet_field(0, "Immediate Data", "", "Eight octets that the receiver's completion delivers; no buffer holds them.",
                 {"RDMAPX-6.3-05"})});

/// A message of the wrong length: the incomplete header, or what follows the header.
inline constexpr auto kWrongLengthFields = field_table(
    "rdmap", "RFC 5040 section 4.1",
    {
        octet_field(0, "header", "", "The header of the message, of which octets are missing.",
                    {"RDMAP-4.4-01", "RDMAPX-4-02", "RDMAPX-4-03"}),
        octet_field(0, "surplus", "", "Octets after the end of the message's header, which is all that it has.",
                    {"RDMAP-4.4-01", "RDMAP-4.8-02"}),
    });

/// Returns the fields of a message that is nothing but a header; none for the others.
[[nodiscard]] constexpr std::span<const FieldInfo> fields_of(Opcode opcode) noexcept {
  switch (opcode) {
    case Opcode::kReadRequest: return kReadRequestFields;
    case Opcode::kAtomicRequest: return kAtomicRequestFields;
    case Opcode::kAtomicResponse: return kAtomicResponseFields;
    case Opcode::kTerminate: return kTerminateFields;
    case Opcode::kImmediate:
    case Opcode::kImmediateSolicited: return kImmediateFields;
    case Opcode::kWrite:
    case Opcode::kReadResponse:
    case Opcode::kSend:
    case Opcode::kSendInvalidate:
    case Opcode::kSendSolicited:
    case Opcode::kSendSolicitedInvalidate: return {};
  }
  return {};
}

}  // namespace weft::rdmap
