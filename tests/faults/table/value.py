# SPDX-License-Identifier: Apache-2.0
"""What a hurried implementer gets wrong with some values only: too few bits compared, zero taken for none, off by one at a bound, a sign, a sum
that wraps."""

from . import SMALL, TABLE
from .mpa_fpdu import BAD_CRC
from .rdmap import BAD_RESPONSE
from .verbs import ALIGNED, EXECUTED, UNALIGNED

START, NEGOTIATION, QUEUES, READ, ATOMICS = "startup frame", "negotiation", "untagged queues", "Read", "atomics"

received = TABLE.file("mpa/fpdu_receiver.cpp")
MATCHES = "crc.value() == CrcField::get(fpdu.subspan(covered.size()))"
received("crc-zero-passes", "CRC", BAD_CRC, "A CRC field of 0 counts as no CRC.", MATCHES, MATCHES + " || CrcField::get(fpdu.subspan(covered.size())) == 0")
received("crc-in-either-order", "CRC", BAD_CRC + " MPA-4.4-13 MPA-4.4-17", "A CRC with its octets the other way round is taken, too.",
         MATCHES, MATCHES + " || __builtin_bswap32(crc.value()) == CrcField::get(fpdu.subspan(covered.size()))")
LENGTH = "UlpduLength::get(stream.subspan(header))"
LONG = "MPA-3-06 MPA-4.1-02 MPA-5.2-01 MPA-A.4-01 MPA-A.5.2-01 MPA-3-05 MPA-6-06"
received("length-of-15-bits", "FPDU", LONG, "The uppermost bit of ULPDU_Length is not read.", LENGTH, LENGTH + " & 0x7fff")
received("long-fpdu-refused", "FPDU", LONG, "An FPDU of more than 16 KiB ends the stream.",
         "if (!has(stream, size)) return std::nullopt;",
         "if (ulpdu > 16384) return fail(Fault::kMarkerMismatch); if (!has(stream, size)) return std::nullopt;")
received("marker-low-octet-only", "Markers", "MPA-8-03 MPA-8-06 MPA-8-07 MPA-5.2-02 MPA-6-02 MPA-4.3-05 MPA-4.2-04 RDMAP-IANA-3.3-03",
         "Only the low octet of FPDUPTR is compared.",
         "static_cast<std::uint16_t>(distance) != pointer", "static_cast<std::uint8_t>(distance) != (pointer & 0xff)", policy="markers=on")

frame = TABLE.file("mpa/startup_frame.cpp")
TOO_LONG = "MPA-7.1.1-26 MPA-7.1.2-27 MPA-7.1.2-29 MPA-7.1.2-30 MPA-7.1.1-28 MPA-7.1.2-04"
frame("pd-length-of-10-bits", START, TOO_LONG, "Only the low 10 bits of PD_Length are compared with 512.",
      "length > kMaxPrivateData", "(length & 0x3ff) > kMaxPrivateData")
frame("enhanced-data-alone-refused", NEGOTIATION, "MPA2-6-11 MPA2-6-10 MPA2-6-03 MPA2-10-02 MPA2-10-08 MPA-7.1.1-24",
      "A Request with enhanced data and no private data besides is refused.",
      "length < kEnhancedDataSize", "length <= kEnhancedDataSize")
frame("depths-swapped-when-sent", NEGOTIATION, "MPA2-9-01 MPA2-9.1-02 MPA2-9.1-04 MPA2-9.1-05 MPA2-9.1-06 MPA2-9.1-08 MPA2-9.1-10 MPA2-9.1-20 MPA2-9.1-22",
      "The Reply has the ORD where the IRD belongs.", "data.ird", "data.ord", near="word(data.peer_to_peer, data.rtr.send, data.ird)")
responder = TABLE.file("mpa/responder.cpp")
responder("revision-of-4-bits", START, "MPA-7.1.1-20 MPA-7.1.1-21 MPA2-10-03 MPA2-10-10 MPA-7.1.2-04 MPA2-6-02", "Only the low 4 bits of the revision are looked at.",
          "revision >= 1 && revision <= std::min(policy.revision, kHighestRevision)",
          "(revision & 0xf) >= 1 && (revision & 0xf) <= std::min(policy.revision, kHighestRevision)")
negotiation = TABLE.file("mpa/negotiation.hpp")
BEYOND = "MPA2-9.1-02 MPA2-9.1-05 MPA2-9.1-06 MPA2-9.1-08 MPA2-9.1-10 MPA2-9.1-14 MPA2-3-02"
negotiation("depth-3ffe-is-none", NEGOTIATION, "MPA2-9.1-19 MPA2-9.1-04 MPA2-9.1-05 MPA2-9.1-20 MPA2-9.1-22",
            "A depth of 0x3FFE counts as not negotiated.", "value == kNoNegotiation", "value >= kNoNegotiation - 1")
WITHIN = "std::min(*own_ord, *peer_ird)"
negotiation("ird-0-is-no-limit", NEGOTIATION, BEYOND, "An IRD of 0 in the Request does not bound the Reply's ORD.",
            WITHIN, "*peer_ird == 0 ? *own_ord : std::min(*own_ord, *peer_ird)")
negotiation("ord-beyond-ird-by-one", NEGOTIATION, BEYOND, "The Reply's ORD may be one more than the Request's IRD.",
            WITHIN, "std::min<std::uint16_t>(*own_ord, *peer_ird + 1)")

header = TABLE.file("ddp/header.hpp")
header("ddp-version-3-taken", "DDP header", "DDP-4.1-15 DDP-7.2-07 DDP-7.2-13 DDP-6.2.2-03", "Only the low bit of the DDP version is compared.",
       "(control & Control::kVersionMask) == Control::kVersion", "(control & 1) != 0")
window = TABLE.file("ddp/message_window.hpp")
window("msn-of-16-bits", QUEUES, "DDP-7.1-09 DDP-7.1-10 DDP-7.2-10 SEC-5.1.1-02 DDP-4.3-10", "Only the low 16 bits of an MSN are compared.",
       "msn != expected_", "static_cast<std::uint16_t>(msn.value) != static_cast<std::uint16_t>(expected_.value)")
MO = "DDP-7.1-07 DDP-7.2-11"
window("empty-segment-at-end-refused", QUEUES, MO + " DDP-4.4-02 DDP-7.1-11 RDMAP-5.3-03",
       "A segment without octets after the last octet of a full buffer has a wrong MO.",
       "offset.value > limit", "offset.value > limit || (offset.value == limit && offset.value != 0 && length == 0)")
window("mo-of-16-bits", QUEUES, MO, "Only the low 16 bits of an MO are compared with the buffer of a Send.",
       "offset.value > limit", "(capacity > 64 ? offset.value & 0xffff : offset.value) > limit")
window("too-long-by-one", QUEUES, "DDP-7.1-08 DDP-7.2-12 RDMAP-5.3-04 DDP-1.2-03", "A message may be one octet longer than its buffer.",
       "length > limit - offset.value", "length > limit - offset.value + (capacity > 64 ? 1 : 0)")
msn = TABLE.file("ddp/msn.hpp")
msn("msn-wraps-at-256", QUEUES, "DDP-4.3-10 DDP-4.3-12 DDP-7.1-09 DDP-7.1-10 RDMAP-5.3-05", "MSNs of 8 bits are counted, received and sent.",
    "msn.value + 1U", "(msn.value + 1U) & 0xff")
numbers = TABLE.file("ddp/untagged_queues.hpp")
BOUND = "queue > static_cast<std::uint32_t>(QueueNumber::kAtomicResponse)"
numbers("queue-of-8-bits", QUEUES, "DDP-7.1-01 DDP-7.2-08 RDMAPX-10.2-01", "Only the low octet of a queue number is compared.",
        BOUND, "(queue & 0xff) > static_cast<std::uint32_t>(QueueNumber::kAtomicResponse)")
tagged = TABLE.file("ddp/tagged.hpp")
tagged("no-more-than-1460-octets", "Write", "DDP-5.2-05 DDP-4.1-03 RDMAP-5.1-05 DDP-5.1.1-01 RDMAP-B-06 RDMAP-5.5-14",
       "Of a tagged segment 1460 octets are placed at most.",
       "placement.place_tagged(header.stag, header.offset, payload)",
       "placement.place_tagged(header.stag, header.offset, payload.size() > 1460 ? payload.first(1460) : payload)")
segments = TABLE.file("ddp/segmenter.hpp")
segments("to-wraps-at-2-32", "tagged placement", "DDP-5.2-10 DDP-5.3-03 RDMAP-5.2.1-11 RDMAP-4.4-04 DDP-4.2-11",
         "Within a tagged message that is sent only the low 32 bits of TO count on.",
         "first_.value + offset", "(first_.value & ~std::uint64_t{0xffffffff}) | ((first_.value + offset) & 0xffffffff)", policy=SMALL)

admit = TABLE.file("rdmap/admit.hpp")
admit("rdmap-version-3-taken", "RDMAP header", "RDMAP-4.1-19 RDMAP-7.2-03 RDMAP-7.2-06 RDMAP-4.8-31 RDMAPX-8.2-03",
      "Only the low bit of the RDMAP version is compared.", "version_bits(control) != Control::kVersion", "(control & Control::kVersion) == 0")
opcodes = TABLE.file("rdmap/opcodes.hpp")
opcodes("experimental-opcode-is-a-send", "RDMAP header", "RDMAP-7.2-02 RDMAP-4.1-15 RDMAP-IANA-3.4-01 RDMAP-4.1-16", "Opcode 0xF counts as a Send.",
        "value < kOpcodeTable.size() ? &kOpcodeTable[value] : nullptr",
        "value < kOpcodeTable.size() ? &kOpcodeTable[value] : value == 0xF ? &kOpcodeTable[3] : nullptr")
window = TABLE.file("rdmap/request_window.cpp")
window("response-stag-key-unchecked", READ, BAD_RESPONSE, "The key of the STag in a Read Response is not compared.",
       "header.stag != read.sink_stag", "((header.stag.value ^ read.sink_stag.value) >> 8U) != 0")
window("response-offset-of-32-bits", READ, BAD_RESPONSE, "Only the low 32 bits of the TO of a Read Response are compared.",
       "header.offset.value - read.sink_offset.value", "(header.offset.value - read.sink_offset.value) & 0xffffffff")
window("atomic-identifier-of-16-bits", ATOMICS, "RDMAPX-5.2.2-10 RDMAPX-5.2.2-02 RDMAPX-5-08",
       "Only the low 16 bits of the identifier in an Atomic Response are compared.",
       "atomic->request_id != response.request_id", "((atomic->request_id ^ response.request_id) & 0xffff) != 0")
outbound = TABLE.file("engine/outbound.cpp")
outbound("sink-offset-of-32-bits", READ, "RDMAP-4.4-04 RDMAP-4.4-05 RDMAP-5.2.1-11", "A Read Response has the low 32 bits of SinkTO only.",
         "read->sink_offset", "ddp::TaggedOffset{read->sink_offset.value & 0xffffffff}")
receive = TABLE.file("engine/state_receive.cpp")
QUEUE = "queue_response({rdmap::segment_in_error(segment.ulpdu), request, segment.stream_offset}, now);"
receive("sink-wrap-refused", READ, "RDMAP-4.4-06 RDMAP-4.4-05 RDMAP-5.2.1-11", "A Read whose sink passes 2^64 is refused by its responder.",
        QUEUE, "if (request.sink_offset.value + request.size < request.sink_offset.value) return fail(make_fault(rdmap::error_code("
        "rdmap::ProtectionError::kOffsetWrap), segment.stream_offset, rdmap::segment_in_error(segment.ulpdu)), now); " + QUEUE)
receive("sink-stag-0-refused", READ, "RDMAP-4.4-03 RDMAP-5.2.1-11", "A Read whose sink has the STag 0 is refused by its responder.",
        QUEUE, "if (request.sink_stag.value == 0) return fail(make_fault(rdmap::error_code(rdmap::ProtectionError::kInvalidStag), "
        "segment.stream_offset, rdmap::segment_in_error(segment.ulpdu)), now); " + QUEUE)
receive("invalidates-stag-0-silently", "Send and Invalidate", "RDMAP-5.3-15 RDMAP-7.2-07 RDMAP-7.2-08 RDMAP-4.8-29",
        "A Send that invalidates STag 0 counts as one without Invalidate.",
        "if (!send.invalidate) return;", "if (!send.invalidate || send.invalidate->value == 0) return;")
inbound = TABLE.file("engine/inbound.cpp")
inbound("write-to-stag-0-dropped", "Write", "DDP-7.1-12 RDMAP-5.1-03 RDMAP-3.2-06 DDP-7.2-03 SEC-5.1.1-01 SEC-6.1.1-01",
        "A Write to STag 0 is dropped without a word.",
        "if (!placed) return refuse(placed.error());", "if (!placed) { if (header.stag.value == 0) return Verdict::kGood; return refuse(placed.error()); }",
        near="const auto placed = ddp::place_tagged(header, payload, placement_);\n  if (!placed) return refuse(placed.error());")
order = TABLE.file("rdmap/send_order.hpp")
order("ord-exceeded-by-one", "resources", "RDMAP-6.1-08 RDMAP-6.1-06 MPA2-3-02 MPA2-9.1-14 MPA2-9.1-10 SEC-6.4.3.3-04",
      "One Read more is sent than the peer can hold.",
      "head.is_request && outstanding >= ord", "head.is_request && outstanding > ord")
order("fence-behind-one-read", "ordering", "RDMAP-5.5-16", "A fence does not wait for the last Read before it.",
      "head.fence && outstanding > 0", "head.fence && outstanding > 1")
startup = TABLE.file("engine/state_startup.cpp")
DEPTH = "std::min(ird, std::max<std::uint32_t>(config.max_ird, ready_to_receive ? 1 : 0))"
HELD = "RDMAP-6.1-09 MPA2-3-01 SEC-6.4.3.3-03 SEC-2.2.8-01 RDMAP-4.8-33 DDP-7.2-09"
startup("ird-exceeded-by-one", "resources", HELD, "One request more is held than IRD says.", DEPTH, DEPTH + " + 1")
startup("ird-0-takes-one", "resources", HELD, "With an IRD of 0 one request is held.", DEPTH, "std::max<std::uint32_t>(1, " + DEPTH + ")")

sums = TABLE.file("rdmap/atomics.hpp")
SUM = "((value & ~mask) + (addend & ~mask)) ^ ((value ^ addend) & mask)"
sums("add-mask-of-32-bits", ATOMICS, "RDMAPX-5.1.1-02 RDMAPX-5.1.1-01", "Only the low 32 bits of an Add Mask are used.",
     SUM, SUM.replace("mask", "(mask & 0xffffffff)"))
sums("sum-wraps-at-2-32", ATOMICS, "RDMAPX-5.1.1-01 RDMAPX-5.1.1-03", "No carry passes from the low 32 bits of a sum to the high ones.",
     SUM, SUM.replace("mask", "(mask | 0x80000000)"))
sums("compare-mask-0-is-all", ATOMICS, "RDMAPX-5.1.2-01 RDMAPX-5.1.2-05", "A Compare Mask of 0 counts as none, and all bits are compared.",
     "((value ^ compare) & compare_mask) != 0", "((value ^ compare) & (compare_mask == 0 ? ~std::uint64_t{0} : compare_mask)) != 0")
atomics = TABLE.file("rdmap/atomic_messages.hpp")
atomics("aopcode-1-swaps", ATOMICS, "RDMAPX-5.2.1-18 RDMAPX-10.1-01", "AOpCode 1, which is reserved, is a CmpSwap.",
        "return std::nullopt;", "if (aopcode == 1) return AtomicOperation::Kind::kCmpSwap; return std::nullopt;", near="default: return std::nullopt;")
terminate = TABLE.file("rdmap/terminate.cpp")
terminate("quotes-14-octets", "Terminate", "RDMAP-4.8-15 RDMAP-4.8-17 RDMAP-4.8-18 DDP-7.1-19 RDMAP-4.8-39 RDMAP-4.8-40", "Of any DDP header 14 octets are quoted.",
          "tagged ? ddp::TaggedLayout::kSize : ddp::UntaggedLayout::kSize", "ddp::TaggedLayout::kSize")
terminate("segment-length-of-8-bits", "Terminate", "RDMAP-4.8-13 RDMAP-4.8-14 DDP-7.1-19", "The segment length has 8 bits.",
          "static_cast<std::uint16_t>(ulpdu.size())", "static_cast<std::uint16_t>(ulpdu.size() & 0xff)")
terminate("quotes-version-1", "Terminate", "RDMAP-4.8-15 DDP-7.1-19 RDMAP-4.8-17", "The DDP header that is quoted has version 1, whatever it had.",
          "std::ranges::copy(ulpdu.first(copy.size_), copy.octets_.begin());",
          "std::ranges::copy(ulpdu.first(copy.size_), copy.octets_.begin()); copy.octets_[0] = (copy.octets_[0] & std::byte{0xfc}) | std::byte{1};")

grant = TABLE.file("rdmap/grant.hpp")
RIGHTS = "rights and bounds"
BOUNDS = "DDP-7.1-14 DDP-7.1-15 DDP-7.2-04 DDP-8.1-01 DDP-8.3.1-04 SEC-6.2.1-01 SEC-6.2.1-02 SEC-6.3.1-01 " \
         "RDMAP-7.2-12 RDMAP-7.2-13 RDMAP-8.1.1-03 RDMAP-4.8-25"
WRAP = "DDP-7.1-16 DDP-7.2-06 RDMAP-7.2-14 RDMAP-4.8-28"
INSIDE = "if (!detail::inside(grant, offset, length)) return std::unexpected(ddp::AccessError::kBaseOrBounds);"
ADDRESS = "return offset - grant.first_offset;"
WHOLE = f"if (ddp::offset_wraps({{offset}}, length)) return std::unexpected(ddp::AccessError::kOffsetWrap);\n  {INSIDE}\n  {ADDRESS}"
grant("end-wraps-at-2-64", RIGHTS, BOUNDS + " " + WRAP, "A range that passes 2^64 is inside each region that it begins in.",
      WHOLE, "if (offset < grant.first_offset || offset + length > grant.first_offset + grant.length) "
      "return std::unexpected(ddp::AccessError::kBaseOrBounds); " + ADDRESS)
grant("offset-of-32-bits", RIGHTS, BOUNDS, "Only the low 32 bits of TO are compared with a region, and used.",
      INSIDE + "\n  " + ADDRESS, "const std::uint64_t low = (offset - grant.first_offset) & 0xffffffff; "
      "if (!detail::inside(grant, grant.first_offset + low, length)) return std::unexpected(ddp::AccessError::kBaseOrBounds); return low;",
      near=WHOLE)
grant("below-the-base", RIGHTS, BOUNDS, "Offsets are compared as signed numbers, so that one below a region is inside.",
      "if (offset < grant.first_offset) return false;\n  const std::uint64_t skip = offset - grant.first_offset;\n"
      "  return skip <= grant.length && length <= grant.length - skip;",
      "const auto skip = static_cast<std::int64_t>(offset - grant.first_offset); "
      "return skip + static_cast<std::int64_t>(length) <= static_cast<std::int64_t>(grant.length);")
table = TABLE.file("verbs/memory/stag_table.cpp")
UNGUESSED = "SEC-6.1.1-05 SEC-6.1.1-07 RDMAP-8.1.1-08 RDMAP-8.1.1-09"
table("stags-count-up", RIGHTS, UNGUESSED, "STags count up from a fixed value.",
      "random_.next()", "[] { static std::atomic<std::uint32_t> last{0x100}; return last.fetch_add(0x100) + 0x100; }()")
memory = TABLE.file("verbs/memory/stream_memory.cpp")
memory("aligned-to-4", ATOMICS, UNALIGNED, "An atomic is executed on a multiple of four.",
       ALIGNED, "if (std::bit_cast<std::uintptr_t>(*at) % 4 != 0) return std::unexpected(AccessError::kUnaligned); " + EXECUTED)
