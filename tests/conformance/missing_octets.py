#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`weft audit` of captures that lack octets: every report says how many, and of which end. One lost packet is no error; a capture of
which most octets could not be checked is.

    missing_octets.py WEFT
"""

import json
import struct
import sys
import tempfile
import xml.etree.ElementTree
from pathlib import Path

from command import CLEAN, NO_VIOLATION, ROOT, SAMPLES, UNREADABLE, VIOLATION, VIOLATIONS, WRONG, audit, check, fits

LONG = SAMPLES / "04-write-bw-64k-mtu1500.pcap"
SCHEMA = json.loads((ROOT / "docs/audit.schema.json").read_text())


def packets_of(capture):
    octets = capture.read_bytes()
    at, packets = 24, []
    while at < len(octets):
        size = struct.unpack_from("<I", octets, at + 8)[0]
        packets.append((octets[at:at + 16], octets[at + 16:at + 16 + size]))
        at += 16 + size
    return octets[:24], packets


def write(path, head, packets):
    path.write_bytes(head + b"".join(header[:8] + struct.pack("<I", len(octets)) + header[12:] + octets for header, octets in packets))
    return path


def with_snap_length(capture, size, folder):
    head, packets = packets_of(capture)
    return write(folder / f"{capture.stem}-{size}.pcap", head, [(header, octets[:size]) for header, octets in packets])


def without_packet(capture, folder):
    """The largest of the middle."""
    head, packets = packets_of(capture)
    third = len(packets) // 3
    lost = max(range(third, 2 * third), key=lambda number: len(packets[number][1]))
    return write(folder / f"{capture.stem}-lost.pcap", head, packets[:lost] + packets[lost + 1:])


class Reports:
    def __init__(self, weft, folder, *captures):
        written, suites = folder / "r.json", folder / "r.xml"
        self.status, self.text, self.complaint = audit(weft, "--json", written, "--junit", suites, *captures)
        self.summary = audit(weft, "--summary", *captures)[1]
        document = json.loads(written.read_text())
        WRONG.extend(fits(document, SCHEMA, SCHEMA["$defs"]))
        self.ends = [connection["mpa"][end] for connection in document.get("connections", []) for end in ("initiator", "responder")]
        self.left_out = document.get("left_out")
        self.junit = xml.etree.ElementTree.parse(suites)
        for suite in self.junit.findall("testsuite"):
            for count, found in (("tests", "testcase"), ("skipped", ".//skipped"), ("errors", ".//error"), ("failures", ".//failure")):
                check(f"{suite.get('name')}: {count}", int(suite.get(count)) == len(suite.findall(found)))

    def missing(self):
        return sum(end["missing_octets"] for end in self.ends)

    def unchecked(self):
        return sum(end["unchecked_octets"] for end in self.ends)


def nothing_is_missing(weft, folder):
    reports = Reports(weft, folder, CLEAN)
    check("a whole capture: nothing said", not any("missing" in text for text in (reports.text, reports.summary)))
    check("a whole capture: complete", reports.missing() == reports.unchecked() == 0 and all(end["complete"] for end in reports.ends))
    check("a whole capture: nothing skipped", not reports.junit.findall(".//skipped"))


def one_lost_packet(weft, folder):
    whole = audit(weft, LONG)
    reports = Reports(weft, folder, without_packet(LONG, folder))
    words = f"{reports.missing()} octets missing, {reports.unchecked()} not checked"
    check("one lost packet: the exit code stays", reports.status == whole[0])
    check("one lost packet: some octets are missing", 0 < reports.missing() <= 1460)
    check("one lost packet: others were not checked for that reason", reports.unchecked() >= reports.missing())
    check("one lost packet: the summary says so", f"; initiator: {words}" in reports.summary or f"; responder: {words}" in reports.summary)
    check("one lost packet: the verdict says so", reports.text.rstrip().endswith(words))
    check("one lost packet: a skipped case of JUnit", [words in one.get("message") for one in reports.junit.findall(".//skipped")] == [True])
    check("one lost packet: no error of JUnit", not reports.junit.findall(".//error"))


def most_is_missing(weft, folder):
    short = with_snap_length(LONG, 96, folder)
    reports = Reports(weft, folder, short)
    check("a snap length of 96: exit code", reports.status == UNREADABLE)
    check("a snap length of 96: one sentence", "were not checked" in reports.complaint and reports.complaint.count("\n") == 1)
    check("a snap length of 96: the verdict", "\nINCOMPLETE CAPTURE: " in reports.text and ": INCOMPLETE CAPTURE, " in reports.summary)
    unread = [end for end in reports.ends if end["fpdus"] == 0 and end["missing_octets"]]
    check("an end without an FPDU is not complete", unread and not any(end["complete"] for end in unread))
    check("and its octets count, though no FPDU was found again", all(end["unchecked_octets"] >= end["missing_octets"] for end in unread))
    check("a snap length of 96: an error of JUnit", len(reports.junit.findall(".//error")) == 1)
    check("no rule is called unbroken", not [one for one in reports.junit.findall(".//testcase") if one.get("name") == "no rule broken"])
    check("of several, the worst", audit(weft, CLEAN, short)[0] == UNREADABLE and audit(weft, VIOLATION, short)[0] == UNREADABLE)


def left_out(weft, folder):
    """What is missing from connections that are not described counts, too."""
    short = with_snap_length(LONG, 96, folder)
    head, packets = packets_of(CLEAN)
    both = write(folder / "both.pcap", head, packets + packets_of(short)[1])
    reports = Reports(weft, folder, "--max-connections", "1", both)
    check("left out: exit code", reports.status == UNREADABLE)
    check("left out: JUnit", len(reports.junit.findall(".//error")) == len(reports.junit.findall(".//skipped")) == 1)
    check("left out: JSON", reports.left_out["missing_octets"] > reports.missing() == 0)
    words = f"; {reports.left_out['missing_octets']} octets missing, {reports.left_out['unchecked_octets']} not checked"
    check("left out: text", f"(--max-connections){words}" in " ".join(reports.text.split()))
    check("left out: summary", f"counted below{words}\n" in reports.summary)


def not_the_capture(weft, folder):
    """Octets that are no FPDU are there: no capture is blamed for them."""
    garbage = SAMPLES / "broken/mpa-4.1-02.pcap"
    reports = Reports(weft, folder, garbage)
    check("garbage is a violation", reports.status == VIOLATIONS)
    check("garbage is not missing", reports.missing() == reports.unchecked() == 0 and "missing" not in reports.text)


def main():
    weft = sys.argv[1]
    with tempfile.TemporaryDirectory() as name:
        for part in (nothing_is_missing, one_lost_packet, most_is_missing, left_out, not_the_capture):
            part(weft, Path(name))
    for line in WRONG:
        print(line, file=sys.stderr)
    return 1 if WRONG else 0


if __name__ == "__main__":
    sys.exit(main())
