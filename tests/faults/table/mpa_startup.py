# SPDX-License-Identifier: Apache-2.0
"""The startup frame: what both roles read and write by the same code."""

from . import TABLE

GROUP = "startup frame"
frame = TABLE.file("mpa/startup_frame.cpp")

KEY = """std::ranges::equal(octets.first(std::min(octets.size(), kKeySize)),
                            key.first(std::min(octets.size(), kKeySize)))"""
frame("key-first-8-octets", GROUP, "MPA-7.1.1-03 MPA-7.1.2-18 MPA-7.1-09 MPA-7.1.2-25 MPA-7.1.2-04 MPA-8-04 MPA-8-09",
      "Only the first 8 octets of the key are compared.",
      KEY, "std::ranges::equal(octets.first(std::min<std::size_t>(octets.size(), 8)), key.first(std::min<std::size_t>(octets.size(), 8)))")
frame("key-last-octet", GROUP, "MPA-7.1.1-03 MPA-7.1.2-18 MPA-7.1.2-04 MPA-8-04 MPA-8-09",
      "The last octet of the key is not compared.",
      KEY, "std::ranges::equal(octets.first(std::min<std::size_t>(octets.size(), 15)), key.first(std::min<std::size_t>(octets.size(), 15)))")
frame("key-of-reply-ignored", GROUP, "MPA-7.1.1-05 MPA-7.1.2-18 MPA-7.1.2-14 MPA-8-04 MPA-8-09",
      "An initiator compares 12 octets of the key of the Reply.",
      KEY, "std::ranges::equal(octets.first(std::min<std::size_t>(octets.size(), kind == FrameKind::kReply ? 12 : 16)), "
      "key.first(std::min<std::size_t>(octets.size(), kind == FrameKind::kReply ? 12 : 16)))", peer="connects")
AGREES = "if (agrees_with_key(octets, expected)) return std::nullopt;"
frame("reply-taken-for-request", GROUP, "MPA-7.1.1-03 MPA-7.1.2-18 MPA-7.1.2-25 MPA-7.1-09 MPA-7.1.2-04 MPA-8-04",
      "A responder takes a Reply for a Request, and answers it.",
      AGREES, "if (agrees_with_key(octets, expected) || agrees_with_key(octets, FrameKind::kReply)) return std::nullopt;")
frame("request-taken-for-reply", GROUP, "MPA-7.1.1-05 MPA-7.1-09 MPA-7.1.2-25 MPA-7.1.2-18 MPA-7.1.2-14 MPA-8-04",
      "An initiator takes the Request of another initiator for its Reply.",
      AGREES, "if (agrees_with_key(octets, expected) || agrees_with_key(octets, FrameKind::kRequest)) return std::nullopt;",
      peer="connects")
LONG = "if (length > kMaxPrivateData) return Fault::kPrivateDataTooLong;"
TOO_LONG = "MPA-7.1.1-26 MPA-7.1.2-27 MPA-7.1.2-29 MPA-7.1.2-30 MPA-7.1.1-28 MPA-7.1.2-04"
frame("pd-length-unbounded", GROUP, TOO_LONG, "PD_Length may be anything up to 65535.", LONG, "")
frame("pd-length-513", GROUP, TOO_LONG, "A PD_Length of 513 is taken.", "length > kMaxPrivateData", "length > kMaxPrivateData + 1")
frame("pd-length-512-refused", GROUP, "MPA-7.1.1-28 MPA-7.1.1-26 MPA-7.1.2-27 MPA2-7-07",
      "A PD_Length of 512, the most that there may be, is refused.", "length > kMaxPrivateData", "length >= kMaxPrivateData")
frame("pd-length-unbounded-in-reply", GROUP, TOO_LONG + " MPA-7.1.2-14",
      "An initiator takes a Reply of any PD_Length.", LONG, "", peer="connects")
S_BIT = "(Layout::Flags::get(octets) & Flag::kEnhanced) != 0 && Layout::Revision::get(octets) >= kFirstEnhancedRevision"
frame("s-without-room", "negotiation", "MPA2-6-11 MPA2-6-03 MPA2-10-07 MPA2-10-08 MPA-7.1.1-25 MPA2-12-01",
      "S with fewer than 4 octets of private data counts as no S.",
      S_BIT, S_BIT + " && Layout::PdLength::get(octets) >= kEnhancedDataSize")
COMPLETE = "if (missing_octets(octets) > 0) return std::nullopt;"
frame("reserved-flags-refused", GROUP, "MPA-7.1.1-18 MPA2-6-05", "A frame with a reserved flag set is refused.",
      COMPLETE, COMPLETE + " if ((Layout::Flags::get(octets) & Flag::kReservedV2) != 0) return std::unexpected(Fault::kBadKey);")
frame("r-in-request-refused", GROUP, "MPA-7.1.1-15", "A Request with the R bit, which means nothing there, is refused.",
      COMPLETE, COMPLETE + " if (expected == FrameKind::kRequest && (Layout::Flags::get(octets) & Flag::kReject) != 0) "
      "return std::unexpected(Fault::kBadKey);")
frame("m-bit-unread", "Markers", "MPA-7.1.1-08 MPA-7.1.1-06 MPA-4.3-03 MPA-4.3-04 MPA-4.3-11 MPA-7.1.2-22",
      "The M bit is read as 0: no Markers, though the peer wants them.",
      "(flags & Flag::kMarkers) != 0", "false")
frame("m-bit-is-c-bit", "Markers", "MPA-7.1.1-07 MPA-7.1.1-06 MPA-7.1.2-23",
      "The C bit is read as the M bit: Markers to a peer that wants none.",
      "(flags & Flag::kMarkers) != 0", "(flags & Flag::kCrc) != 0")
frame("c-bit-unread", "CRC", "MPA-7.1.1-11 MPA-4.4-09 MPA-4.4-13",
      "The C bit is read as 0: no CRC where the peer alone asks for it.",
      "(flags & Flag::kCrc) != 0", "false", policy="crc=off")
frame("c-bit-is-m-bit", "CRC", "MPA-4.1-08 MPA-4.4-10 MPA-7.1.1-09 MPA-7.1.1-13 MPA-7.1.1-11 MPA-4.4-09",
      "The M bit is read as the C bit.",
      "(flags & Flag::kCrc) != 0", "(flags & Flag::kMarkers) != 0", policy="crc=off")
frame("reserved-flag-sent", GROUP, "MPA-7.1.1-17 MPA2-6-04", "A reserved flag is sent as 1.", "frame.reserved", "0x01")
frame("reply-key-misspelt", GROUP, "MPA-7.1.1-04 MPA-7.1.1-01 MPA-7.1.1-05", "The key of the Reply is misspelt by one letter.",
      '"MPA ID Rep Frame"', '"MPA ID rep Frame"')
frame("request-key-misspelt", GROUP, "MPA-7.1.1-02 MPA-7.1.1-01 MPA-7.1.2-01 MPA-7.1.1-03",
      "The key of the Request is misspelt by one letter.",
      '"MPA ID Req Frame"', '"MPA ID req Frame"', peer="connects")
frame("pd-length-without-enhanced-data", "negotiation", "MPA2-6-10 MPA-7.1.1-23 MPA2-6-11 MPA-7.1.1-01",
      "PD_Length of a Reply leaves out the enhanced data.",
      "static_cast<std::uint16_t>(frame.size() - kFixedFrameSize)", "static_cast<std::uint16_t>(frame.private_data.size())")
frame("ird-and-ord-swapped", "negotiation",
      "MPA2-9-01 MPA2-9.1-04 MPA2-9.1-05 MPA2-9.1-08 MPA2-9.1-10 MPA2-9.1-20 MPA2-9.1-22 MPA2-9.1-02 MPA2-9.1-06",
      "The Request's IRD is read where its ORD is.",
      "static_cast<std::uint16_t>(ird & L::kDepth)", "static_cast<std::uint16_t>(ord & L::kDepth)")
frame("depth-of-13-bits", "negotiation", "MPA2-9-02 MPA2-9-01 MPA2-9.1-19 MPA2-9.1-20 MPA2-9.1-22 MPA2-9.1-04",
      "The peer's ORD is read as 13 bits, so that 0x3FFF is a depth like any other.",
      "static_cast<std::uint16_t>(ord & L::kDepth)", "static_cast<std::uint16_t>(ord & 0x1fff)")
