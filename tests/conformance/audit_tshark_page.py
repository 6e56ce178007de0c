# SPDX-License-Identifier: Apache-2.0
"""docs/audit-tshark.md: what was compared and what differs."""

from tshark_differences import INVENTED, MALFORMED, REASONS, UNSEEN

HEAD = """<!-- Written by tests/conformance/dissect_and_tshark.py --write; a test checks that it is up to date. -->
# What `weft dissect` and tshark make of the same captures

tshark shares no code with weft. A test runs both over every capture in `pcap-samples/` and compares each field that both show,
its value and its place: startup frames and FPDUs are matched by the packet in which they end. tshark is 4.0.17 and is run as
[tshark.md](tshark.md) says.

| | |
|---|---|
"""

LAYERS = (("MPA, startup frames", "iwarp_mpa.", "startup"), ("MPA, FPDUs", "iwarp_mpa.", "fpdu"), ("DDP", "iwarp_ddp.", None),
          ("RDMAP", "iwarp_rdma.", None))
IN_FPDUS = {"ulpdulength", "pad", "crc", "crc_check", "marker_res", "marker_fpduptr"}

UNNAMED = (
    ("S", "of a startup frame (RFC 6581 section 6)"), ("A", "peer to peer (RFC 6581 section 9.2)"), ("B", "RTR by a Send"),
    ("C", "RTR by a Write"), ("D", "RTR by a Read"), ("IRD", "(RFC 6581 section 9.1)"), ("ORD", "(RFC 6581 section 9.1)"),
    ("Immediate Data", "(RFC 7306 section 6.2); to tshark the opcodes are \"Unknown\", their octets data"))


def counts(total, reasons):
    decoded = sum(total.messages.values())
    unseen = sum(d.kind == UNSEEN for found in reasons.values() for d in found)
    yield "captures", total.captures
    yield "of them without iWARP to either", total.silent
    yield "startup frames that both show", total.messages["startup frame"]
    yield "FPDUs that both show", total.messages["FPDU"]
    yield "messages that only weft shows", f"{unseen} of {decoded + unseen}"
    yield "fields compared", sum(total.fields.values())
    for title, prefix, part in LAYERS:
        yield f"- {title}", sum(number for name, number in total.fields.items() if name.startswith(prefix) and (
            part is None or (name.removeprefix(prefix) in IN_FPDUS) == (part == "fpdu")))
    yield "- verdicts on a CRC", total.fields["verdict on the CRC"]
    yield "differences, all explained below", len(total.differences)


def reason_lines(name, found):
    reason = REASONS[name]
    captures = sorted({d.capture for d in found})
    shown = ", ".join(f"`{capture}`" for capture in captures[:4])
    shown += f" and {len(captures) - 4} more" if len(captures) > 4 else ""
    messages = {kind: sum(d.kind == kind for d in found) for kind in (UNSEEN, INVENTED, MALFORMED)}
    fields = len(found) - sum(messages.values())
    told = [f"{kind}: {number}" for kind, number in messages.items() if number] + ([f"fields: {fields}"] if fields else [])
    yield f"### {reason.title[0].upper()}{reason.title[1:]}\n"
    yield f"{'; '.join(told)}; in {'one capture' if len(captures) == 1 else f'{len(captures)} captures'}: {shown}.\n"
    yield f"- tshark shows {reason.tshark}."
    yield f"- weft shows {reason.weft}."
    yield f"- Right: {reason.right}."
    for section, sentence in reason.rfc:
        yield f"- RFC {section.replace(', ', ' section ')}: “{' '.join(sentence.split())}”"
    yield ""


def page(total, reasons):
    lines = [f"| {what} | {number} |" for what, number in counts(total, reasons)]
    lines += ["", "## Fields that tshark does not know", "", "| field | | in messages that both show |", "|---|---|---|"]
    lines += [f"| {name} | {meaning} | {total.unnamed[name]} |" for name, meaning in UNNAMED]
    lines += ["", "## Differences, and the text that decides", ""]
    for name in REASONS:
        if name in reasons:
            lines += reason_lines(name, reasons[name])
    return HEAD + "\n".join(lines).rstrip() + "\n"
