# SPDX-License-Identifier: Apache-2.0
"""FPDUs: lengths, PAD, CRC and Markers, received and sent."""

from functools import partial

from . import TABLE

at = TABLE.file("mpa/fpdu_receiver.cpp")
CRC_CHECK = "if (framing_.crc && !crc_matches(fpdu, landed)) return fail(Fault::kCrcMismatch);"
BAD_CRC = "MPA-4.4-01 MPA-4.4-18 MPA-4.4-19 MPA-6-01 MPA-6-03 MPA-8-02 MPA-9.1-01 RDMAP-IANA-3.3-02"
at("crc-unchecked", "CRC", BAD_CRC, "The CRC of an FPDU is not looked at.", CRC_CHECK, "")
at("crc-checked-though-off", "CRC", "MPA-4.1-08 MPA-4.4-10 MPA-7.1.1-09 MPA-7.1.1-13",
   "The CRC is checked though both ends said C = 0.",
   "framing_.crc && !crc_matches(fpdu, landed)", "!crc_matches(fpdu, landed)", policy="crc=off")
at("crc-of-16-bits", "CRC", BAD_CRC, "Half of the CRC field is compared.",
   "crc.value() == CrcField::get(fpdu.subspan(covered.size()))",
   "((crc.value() ^ CrcField::get(fpdu.subspan(covered.size()))) & 0xFFFF) == 0")
at("crc-error-ends-nothing", "CRC", BAD_CRC + " MPA-8-13", "An FPDU whose CRC is wrong is skipped, and the stream goes on.",
   CRC_CHECK, "if (framing_.crc && !crc_matches(fpdu, landed)) { position_ += fpdu.size(); return std::nullopt; }")
at("crc-error-code", "CRC", BAD_CRC + " MPA2-8-02 RDMAP-4.8-07", "A wrong CRC is told as a wrong Marker.",
   "Fault::kCrcMismatch", "Fault::kMarkerMismatch")
at("pad-must-be-zero", "FPDU", "MPA-4.1-04", "PAD octets that are not zero end the stream.",
   "position_ += fpdu.size();", "if (result.pad_nonzero) return fail(Fault::kCrcMismatch); position_ += fpdu.size();")
at("fpdu-in-one-piece", "FPDU", "MPA-5.1-06 MPA-6-06 MPA-A.4-01 MPA-A.4-02 DDP-3-04",
   "An FPDU that does not come in one piece ends the stream.",
   "return std::nullopt;", "return fail(Fault::kCrcMismatch);",
   near="if (!has(stream, size)) return std::nullopt;")
at("half-a-length-field", "FPDU", "MPA-5.1-06 MPA-A.4-01 MPA-A.4-02 MPA-5.2-01",
   "A read that ends inside the length field ends the stream.",
   "if (!has(stream, header + kLengthSize)) return std::nullopt;",
   "if (!has(stream, header + kLengthSize)) { if (!stream.empty()) return fail(Fault::kCrcMismatch); return std::nullopt; }")
CHECK = "if (!markers_agree(fpdu, header, first)) return fail(Fault::kMarkerMismatch);"
MISMATCH = "MPA-8-03 MPA-8-06 MPA-8-07 MPA-5.2-02 MPA-6-02 MPA-4.3-05 MPA-4.2-04 RDMAP-IANA-3.3-03"
marker = partial(at, policy="markers=on")
marker("markers-unchecked", "Markers", MISMATCH, "What the Markers say is not compared with the lengths.", CHECK, "")
marker("marker-error-code", "Markers", MISMATCH, "A wrong Marker is told as a wrong CRC.",
       "return fail(Fault::kMarkerMismatch);", "return fail(Fault::kCrcMismatch);")
marker("marker-reserved-checked", "Markers", "MPA-4.2-03", "A Marker whose reserved half is not zero ends the stream.",
       "static_cast<std::uint16_t>(distance) != pointer",
       "static_cast<std::uint16_t>(distance) != pointer || MarkerLayout::Reserved::get(fpdu.subspan(at)) != 0")
marker("marker-low-bits-checked", "Markers", "MPA-4.2-06 MPA-4.3-10", "The two low bits of FPDUPTR count.",
       "MarkerLayout::FpduPtr::get(fpdu.subspan(at)) & MarkerLayout::kPtrMask", "MarkerLayout::FpduPtr::get(fpdu.subspan(at))")
marker("marker-in-payload", "Markers", "MPA-4.3-03 MPA-5.2-01 MPA-4.3-11 MPA-4.3-04 MPA-7.1.1-06 MPA-4.3-08",
       "The first Marker inside an FPDU is sought four octets too late.",
       "header == 0 ? first : kMarkerPeriod", "header == 0 ? first + kMarkerSize : kMarkerPeriod")

sender = TABLE.file("mpa/fpdu_sender.cpp")
sender("marker-distance", "Markers", "MPA-4.2-04 MPA-4.3-05 MPA-4.3-15 MPA-4.3-16",
       "FPDUPTR counts from after the length field's word.",
       "at - header", "at - header - 4", near="write_marker(fpdu.subspan(at), at - header);")
sender("first-marker-not-zero", "Markers", "MPA-4.3-12 MPA-4.3-07 MPA-4.3-11 MPA-7.1.2-22 MPA-4.3-09 MPA-4.3-16",
       "A Marker in front of an FPDU has a distance.", "write_marker(fpdu, 0)", "write_marker(fpdu, 4)")
sender("marker-reserved-sent", "Markers", "MPA-4.2-02", "The reserved half of a Marker is not zero.",
       "MarkerLayout::Reserved::put(room, 0);", "MarkerLayout::Reserved::put(room, 1);")
sender("marker-low-bits-sent", "Markers", "MPA-4.2-05", "The low bits of FPDUPTR are sent as 1.",
       "static_cast<std::uint16_t>(distance)", "static_cast<std::uint16_t>(distance | 3)")
sender("pad-not-zero", "FPDU", "MPA-4.1-03", "PAD octets are sent as 0xFF.",
       "zero(fpdu.subspan(begin + ulpdu, pad_size(ulpdu)));", "std::ranges::fill(fpdu.subspan(begin + ulpdu, pad_size(ulpdu)), std::byte{0xff});")
sender("crc-without-length", "CRC", "MPA-4.4-13 MPA-4.4-14 MPA-4.1-06", "The CRC that is sent leaves out the length field.",
       "crc32c(fpdu.first(covered))", "crc32c(fpdu.subspan(kLengthSize, covered - kLengthSize))")
sender("crc-most-significant-first", "CRC", "MPA-4.4-13 MPA-4.1-06 MPA-4.4-17",
       "The CRC is sent with its octets the other way round.",
       "crc32c(fpdu.first(covered))", "__builtin_bswap32(crc32c(fpdu.first(covered)))")
sender("crc-not-sent", "CRC", "MPA-4.4-09 MPA-4.4-13 MPA-7.1.1-11 MPA-4.1-06", "Zeros are sent where a CRC was agreed.",
       "framing_.crc", "false", near="if (framing_.crc) {\n    write_crc")
sender("length-with-pad", "FPDU", "MPA-4.1-02 MPA-4.1-01 MPA-4.1-05", "ULPDU_Length counts the PAD, too.",
       "UlpduLength::put(fpdu.subspan(header), static_cast<std::uint16_t>(ulpdu));",
       "UlpduLength::put(fpdu.subspan(header), static_cast<std::uint16_t>(ulpdu + pad_size(ulpdu)));")
layout = TABLE.file("mpa/fpdu.hpp")
layout("pad-without-length", "FPDU", "MPA-4.1-05 MPA-4.1-01 MPA-4.1-09 MPA-5.2-01 MPA-4.1-02",
       "ULPDU and PAD are a multiple of four without the length field.", "(2 - ulpdu) & 3", "(4 - ulpdu) & 3")
inbound = TABLE.file("engine/inbound.cpp")
inbound("placed-before-crc", "CRC", "MPA-6-01 MPA-6-03 MPA-4.4-19 MPA-4.4-18 MPA-6-06 DDP-3-07",
        "A Write is placed although its CRC is wrong; then the stream ends.",
        "if (!fpdu) return std::unexpected(make_fault(fpdu.error().fault, fpdu.error().stream_offset));",
        """if (!fpdu) {
    if (fpdu.error().fault == mpa::Fault::kCrcMismatch && stream.size() >= mpa::kLengthSize) {
      const std::size_t size = mpa::UlpduLength::get(stream);
      const Bytes ulpdu = Bytes(stream).subspan(mpa::kLengthSize, std::min(size, stream.size() - mpa::kLengthSize));
      if (!ddp::find_error(ulpdu)) {
        const ddp::Header header = ddp::read(ulpdu);
        if (const auto* tagged = std::get_if<ddp::TaggedHeader>(&header)) {
          static_cast<void>(ddp::place_tagged(*tagged, ulpdu.subspan(ddp::TaggedLayout::kSize), placement_));
        }
      }
    }
    return std::unexpected(make_fault(fpdu.error().fault, fpdu.error().stream_offset));
  }""")
