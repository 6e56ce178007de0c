# SPDX-License-Identifier: Apache-2.0
"""Where `weft dissect` and tshark 4.0.17 may differ. Each row names its reason, a row of the table in docs/tshark.md."""

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
    ("order of the capture", "order/*-before-*.pcap", UNSEEN, "*", None),
    ("order of the capture", "order/early-packets-of-both.pcap", UNSEEN, "*", None),
    ("startup not captured", "order/*-not-captured.pcap", UNSEEN, "*", None),
    ("startup not captured", "order/request-cut-*.pcap", UNSEEN, "*", None),
    ("startup not captured", "order/keep-alive-*.pcap", UNSEEN, "*", None),
    ("numbers of TCP", "forged/challenge-ack.pcap", UNSEEN, "FPDU", None),
    ("numbers of TCP", "forged/ports-used-again.pcap", "*", "*", None),
    ("numbers of TCP", "forged/started-anew.pcap", "*", "*", None),
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
