# SPDX-License-Identifier: Apache-2.0
"""Where `weft dissect` and tshark 4.0.17 do not show the same, and why: the reasons as docs/audit-tshark.md tells them, and for
each difference that may occur the reason that explains it."""

from collections import namedtuple

# `right`: whose reading the RFC's text supports. `rfc`: section and sentence.
Reason = namedtuple("Reason", "title tshark weft right rfc")

REASONS = {
    "S bit": Reason(
        "S in a startup frame", "part of a 5-bit Reserved field", "S, and a Res of 4 bits", "weft",
        [("6581, 6", "S: One, if the Private Data begins with the enhanced RDMA connection establishment data; 0 otherwise."),
         ("6581, 6", "Res: One bit smaller than in [RFC5044]; otherwise unchanged.")]),
    "enhanced data": Reason(
        "enhanced connection establishment data", "its four octets as the first ones of the Private Data",
        "A, B, IRD, C, D and ORD, and behind them what is left to the ULP", "weft; tshark's octets are the same",
        [("6581, 6", "S: One, if the Private Data begins with the enhanced RDMA connection establishment data; 0 otherwise.")]),
    "no enhanced data": Reason(
        "S in a startup frame whose Private Data is too short for it", "Private Data", "octets of a frame that is none",
        "neither: RFC 5044's layout and RFC 6581's contradict each other here",
        [("6581, 6", "S: One, if the Private Data begins with the enhanced RDMA connection establishment data; 0 otherwise.")]),
    "PD_Length": Reason(
        "PD_Length of more than 512", "an error in its place; the value is not shown", "the value, and that it is too large",
        "both: it is an error, and weft shows the value",
        [("5044, 7.1.1", "The Private Data field MUST be between 0 and 512 octets in length.")]),
    "key": Reason(
        "a key that is neither Request's nor Reply's", "no MPA in this connection, or from there on",
        "the frame and all behind it, for `weft audit` to judge", "tshark as a receiver has to be, weft as an auditor",
        [("5044, 7.1.2", "If a received \"Key\" does not match the expected value [...] the TCP/DDP connection MUST be closed, "
          "and an error returned to the ULP.")]),
    "two Requests": Reason(
        "a Request that answers a Request", "a Request", "a Reply with the key of a Request, which is a finding",
        "both: it is the one and should be the other",
        [("5044, 7.1.2", "MPA implementations MUST use the difference between the MPA Request Frame and the MPA Reply Frame to "
          "check for incorrect \"Initiator/Initiator\" startups.")]),
    "startup order": Reason(
        "a Reply before the Request", "no MPA in this connection", "both frames and the FPDUs",
        "tshark as a receiver, weft as an auditor",
        [("5044, 7.1.2", "When MPA is started in the Responder mode, the MPA implementation MUST wait until an MPA Request "
          "Frame is received and validated before entering Full MPA/DDP Operation.")]),
    "startup cut short": Reason(
        "a startup frame that ends before its Private Data does", "no MPA", "what there is of it", "neither: it is no frame",
        [("5044, 7.1.1", "PD_Length: This field MUST contain the length in octets of the Private Data field.")]),
    "private data": Reason(
        "private data that is not as long as PD_Length says, or a second startup frame",
        "what that length makes of it, or a frame; an FPDU that is none, and nothing of that direction any more",
        "that the length is wrong, and the FPDUs that follow", "weft: what follows the frame can be nothing else",
        [("5044, 7.1.2", "MPA implementations MUST validate the PD_Length field.")]),
    "before the Reply": Reason(
        "FPDUs that are sent before the Reply has come, or without one", "octets of TCP", "FPDUs",
        "weft: these octets can be nothing else; that they come too early is a finding",
        [("5044, 7.1.2", "Note: Since the receiver's ability to deal with Markers is unknown until the Request and Reply "
          "Frames have been received, sending FPDUs before this occurs is not possible.")]),
    "same segment": Reason(
        "an FPDU behind a startup frame in one TCP segment", "the startup frame alone", "both", "weft",
        [("5044, 7.1", "During this phase, specifically formatted frames are exchanged as TCP byte streams without using CRCs "
          "or Markers.")]),
    "rejected": Reason(
        "an FPDU behind a Reply that rejects", "octets of the ULP",
        "an FPDU, which is a finding unless it is the Terminate of RFC 6581 section 9.1",
        "tshark; weft shows why it complains",
        [("5044, 7.1.2", "[...] if the Rejected Connection bit is set to '1', the implementation MUST exit MPA, leaving the TCP "
          "connection open.")]),
    "wrong length": Reason(
        "a ULPDU_Length that is wrong", "an FPDU with a bad CRC, and nothing of that direction any more",
        "that this is no FPDU, and the FPDUs that follow", "weft: the length of an FPDU whose CRC is wrong cannot be trusted",
        [("5044, 4.4", "Verify that the calculated CRC-32c value is the same as the received CRC-32c value found in the FPDU CRC "
          "field.  If not, the receiver MUST treat the FPDU as an invalid FPDU.")]),
    "Markers missing": Reason(
        "no Markers where they were asked for", "nothing of that direction", "FPDUs without Markers, which is a finding",
        "neither: the octets break the rule, and weft says how",
        [("5044, 7.1.1", "When '1' Markers MUST be added as described in Section 4.3, MPA Markers.")]),
    "Markers unasked": Reason(
        "Markers that were not asked for", "Markers as FPDUs of no octets, and everything behind them wrong",
        "FPDUs with Markers, which is a finding", "neither: the octets break the rule, and weft says how",
        [("5044, 7.1.1", "When in a received MPA Request Frame or MPA Reply Frame and the value is '0', Markers MUST NOT be "
          "added to the data stream by that endpoint.")]),
    "Marker between FPDUs": Reason(
        "an FPDU that ends where a Marker is due", "the Marker as part of the FPDU before it, which then is not shown; the one "
        "behind it without Marker, and with a bad CRC", "the Marker as the beginning of the second FPDU; both CRCs are right",
        "weft",
        [("5044, 4.3", "In this case, the Marker is considered to be contained in the following FPDU; the Marker MUST be "
          "included in the CRC calculation of the FPDU following the Marker (if CRCs are being generated or checked).")]),
    "Markers one way": Reason(
        "Markers in one direction only", "nothing of the direction without Markers", "FPDUs in both", "weft",
        [("5044, 7.1.1", "When this bit is '1' in an MPA Request Frame, the Initiator declares that Markers are REQUIRED in "
          "FPDUs sent from the Responder.  When set to '1' in an MPA Reply Frame, this bit declares "
          "that Markers are REQUIRED in FPDUs "
          "sent from the Initiator.")]),
    "FPDUs across segments": Reason(
        "Markers, and TCP segments that hold more or less than one FPDU",
        "FPDUs, but none behind whose end another begins in the same segment",
        "every FPDU", "weft",
        [("5044, 5.1", "MPA receivers are REQUIRED to be able to operate correctly even if alignment is lost (see Section 6).")]),
    "T decides": Reason(
        "an opcode with the wrong kind of DDP header", "the field behind the RDMAP control octet by the opcode: the STag of a "
        "tagged segment as \"Reserved\", or no \"Reserved\" in an untagged one", "the header that T says", "weft",
        [("5041, 4.2", "Figure 4 shows the DDP Header format that MUST be used in all DDP Segments that target Tagged Buffers."),
         ("5040, 4", "[...] RDMAP uses the second through fifth octets, provided by DDP on Untagged DDP Messages, to carry the "
          "STag that will be Invalidated.")]),
    "cut-short header": Reason(
        "a header that ends too early", "the fields that are there, and \"Malformed Packet\"; of a Read Request also some that "
        "reach into PAD and CRC", "its octets, and that they are too few", "both, but a field does not reach into the CRC",
        [("5041, 4.2", "Figure 4 shows the DDP Header format that MUST be used in all DDP Segments that target Tagged Buffers."),
         ("5044, 4.1", "ULPDU_Length: 16 bits (unsigned integer).  This is the number of octets of the contained ULPDU.")]),
    "AOpCode": Reason(
        "an Atomic Request with an unknown AOpCode or Reserved bits",
        "Compare Data where Add or Swap Data is, and nothing of the rest",
        "all fields at their places", "weft: the layout does not depend on them",
        [("7306, 5.2.1", "Reserved (Not Used): 28 bits.  This field is set to zero on transmit, ignored on receive.")]),
    "quoted header": Reason(
        "the DDP header that a Terminate quotes", "14 octets with error type 1 and 18 with any other, of whichever layer: cut "
        "short, and the RDMA header read 4 octets early, or beyond the message's end and \"Malformed Packet\"",
        "14 or 18 octets as its own T bit says", "weft",
        [("5040, 4.8", "Terminated DDP Header: 112 bits for Tagged Messages and 144 bits for Untagged Messages.")]),
    "segment length": Reason(
        "a Terminate with M set and D clear", "no DDP Segment Length", "it", "weft",
        [("5040, 4.8", "It MUST be valid if the M bit is set.")]),
    "siw's Terminate": Reason(
        "a Terminate of Linux siw", "no quoted headers: M, D and R are clear",
        "the headers that siw has put there, and that siw wrote them",
        "tshark by the letter; siw sets the bits of a little-endian layout, which weft knows",
        [("5040, 4.8", "D: bit 17.  DDP Header Included.")]),
}

VALUE, PLACE, OURS, THEIRS = "another value", "another place", "only weft shows it", "only tshark shows it"
UNSEEN, INVENTED, MALFORMED = "message only weft shows", "message only tshark shows", "called malformed"


def s_is_set(ours, theirs, message):
    return message.unnamed["S"] == "1" and theirs == ours | 0x10


def enhanced_first(ours, theirs, message):
    octets = "".join(message.unnamed.get(name, "") for name in ("A, B, IRD", "C, D, ORD")).replace(" ", "")
    return len(octets) == 8 and theirs.startswith(octets + (ours or "").removesuffix("..."))


# reason, captures, kind, field, check(ours, theirs, weft's message) or None. The first that fits explains; * is any.
EXCUSES = [
    ("S bit", "*", VALUE, "iwarp_mpa.res", s_is_set),
    ("enhanced data", "*", THEIRS, "iwarp_mpa.privatedata", enhanced_first),
    ("enhanced data", "*", VALUE, "iwarp_mpa.privatedata", enhanced_first),
    ("enhanced data", "*", PLACE, "iwarp_mpa.privatedata", lambda ours, theirs, _: (ours, theirs) == (24, 20)),
    ("no enhanced data", "broken/mpa2-6-11.pcap", THEIRS, "iwarp_mpa.privatedata", None),
    ("PD_Length", "broken/mpa-7.1.1-28.pcap", OURS, "iwarp_mpa.pdlength", None),
    ("key", "broken/mpa-7.1.1-02*.pcap", UNSEEN, "*", None),
    ("key", "broken/mpa-7.1.1-04*.pcap", UNSEEN, "*", None),
    ("two Requests", "broken/mpa-7.1.1-04-both-request.pcap", "*", "iwarp_mpa.*", None),
    ("startup order", "broken/mpa-7.1.2-12*.pcap", UNSEEN, "*", None),
    ("startup order", "broken/mpa-7.1.2-01.pcap", UNSEEN, "*", None),
    ("startup cut short", "broken/mpa-7.1.1-23.pcap", UNSEEN, "startup frame", None),
    ("startup cut short", "broken/mpa-7.1.1-23-cut-*.pcap", UNSEEN, "startup frame", None),
    ("private data", "broken/mpa-7.1.1-23-reply-length.pcap", UNSEEN, "FPDU", None),
    ("private data", "broken/mpa-7.1.1-23-surplus.pcap", UNSEEN, "FPDU", None),
    ("private data", "broken/mpa-1.2-01*.pcap", INVENTED, "*", None),
    ("private data", "broken/mpa-1.2-01*.pcap", MALFORMED, "", None),
    ("before the Reply", "broken/mpa-7.1.2-13*.pcap", UNSEEN, "FPDU", None),
    ("before the Reply", "broken/mpa-7.1.2-24*.pcap", UNSEEN, "FPDU", None),
    ("before the Reply", "broken/mpa2-4.3-01.pcap", UNSEEN, "FPDU", lambda _o, _t, message: message.piece["packet"] == 5),
    ("same segment", "broken/mpa2-4.3-01.pcap", UNSEEN, "FPDU", lambda _o, _t, message: message.piece["packet"] == 6),
    ("rejected", "broken/mpa-7.1.1-16*.pcap", UNSEEN, "FPDU", None),
    ("rejected", "forged/refused-for-ird.pcap", UNSEEN, "FPDU", None),
    ("wrong length", "broken/mpa-4.1-02.pcap", UNSEEN, "FPDU", None),
    ("wrong length", "broken/mpa-4.1-02.pcap", INVENTED, "FPDU", None),
    ("wrong length", "edited/rping-length.pcap", UNSEEN, "FPDU", None),
    ("wrong length", "edited/rping-length.pcap", INVENTED, "FPDU", None),
    ("Markers missing", "broken/mpa-7.1.1-08.pcap", UNSEEN, "FPDU", None),
    ("Markers unasked", "broken/mpa-7.1.1-07.pcap", "*", "*", None),
    ("Marker between FPDUs", "broken/mpa-4.3-07.pcap", "*", "*", None),
    ("Marker between FPDUs", "forged/markers-between-and-inside.pcap", UNSEEN, "FPDU", None),
    ("T decides", "broken/rdmap-5.[234]*.pcap", THEIRS, "iwarp_rdma.reserved", None),
    ("T decides", "broken/rdmap-5.[12]*.pcap", OURS, "iwarp_rdma.reserved", None),
    ("cut-short header", "broken/ddp-4-01.pcap", THEIRS, "*", None),
    ("cut-short header", "broken/ddp-4-01.pcap", MALFORMED, "", None),
    ("cut-short header", "broken/rdmapx-4-02.pcap", THEIRS, "iwarp_rdma.atomic.*", None),
    ("cut-short header", "broken/rdmapx-4-02.pcap", MALFORMED, "", None),
    ("cut-short header", "broken/rdmapx-5.2.2-02-segments.pcap", THEIRS, "iwarp_rdma.atomic.*", None),
    ("cut-short header", "broken/rdmapx-5.2.2-02-segments.pcap", MALFORMED, "", None),
    ("AOpCode", "broken/rdmapx-5.2.1-0[24].pcap", "*", "iwarp_rdma.atomic.*", None),
    ("segment length", "broken/rdmap-4.8-09.pcap", OURS, "iwarp_rdma.term_ddp_seg_len", None),
    ("siw's Terminate", "2?-term-*.pcap", OURS, "iwarp_rdma.term_*", None),
    ("siw's Terminate", "46-crc-term-*.pcap", OURS, "iwarp_rdma.term_*", None),
    ("siw's Terminate", "broken/rdmap-4.8-04.pcap", OURS, "iwarp_rdma.term_*", None),
    ("quoted header", "broken/*.pcap", "*", "iwarp_rdma.term_ddp_h", None),
    ("quoted header", "broken/*.pcap", MALFORMED, "", lambda _o, _t, message: message and message.number("iwarp_rdma.opcode") == 7),
    ("quoted header", "forged/terminate-ddp-local.pcap", "*", "iwarp_rdma.term_ddp_h", None),
    ("quoted header", "forged/terminate-ddp-local.pcap", MALFORMED, "", None),
    # What weft writes.
    ("quoted header", "weft/terminate-0-*.pcap", "*", "iwarp_rdma.term_*_h", None),
    ("quoted header", "weft/terminate-0-2-06-*.pcap", MALFORMED, "", None),
    ("cut-short header", "weft/terminate-0-2-ff-*.pcap", "*", "*", None),
    ("T decides", "weft/terminate-0-2-06-tagged-send.pcap", THEIRS, "iwarp_rdma.reserved", None),
    ("FPDUs across segments", "weft/tcp-*-markers.pcap", UNSEEN, "FPDU", lambda _o, _t, message: "Marker" in message.unnamed),
    ("Markers one way", "weft/markers-to-*.pcap", UNSEEN, "FPDU", None),
    ("Markers one way", "weft/terminate-2-0-03-marker.pcap", UNSEEN, "FPDU", None),
    ("AOpCode", "weft/terminate-0-2-06-atomic-opcode.pcap", "*", "iwarp_rdma.atomic.*", None),
]
