#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The text of `weft audit`: colours, the order of findings, which octets its numbers count, the verdict, the summary.

    audit_text.py WEFT
"""

import json
import os
import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

from command import CLEAN, SAMPLES, VIOLATION, VIOLATIONS, UNREADABLE, WARNING, WRONG, audit, check

BOTH = SAMPLES / "20-term-write-bad-stag.pcap"  # a warning in an earlier packet than the violation
CODE = re.compile(r"\x1b\[[0-9;]*m")


def unwrapped(shown):
    """Findings whose lines were too long for 80 columns are one line again."""
    return re.sub(r"\n {6,}(?=\S)", " ", shown)


def width(weft):
    for capture in (BOTH, VIOLATION, SAMPLES / "31-privdata.pcap", SAMPLES / "broken/ddp-4.3-10.pcap"):
        long = [line for line in audit(weft, capture)[1].splitlines()[:-1] if len(line) > 80]
        check(f"{capture.name}: no line is longer than 80 columns: {long}", not long)


def colours(weft):
    plain = audit(weft, BOTH)[1]
    coloured = audit(weft, "--color", "always", BOTH)[1]
    check("without a terminal there are no colours", "\x1b" not in plain)
    check("colours change no word", CODE.sub("", coloured) == plain)
    check("violations are red", "\x1b[1;31mviolation\x1b[0m" in coloured)
    check("warnings are yellow", "\x1b[33mwarning\x1b[0m" in coloured)
    check("clause ids are bold", "\x1b[1mRDMAP-4.8-04\x1b[0m" in coloured)
    check("the head of a connection is bold", re.search(r"^\x1b\[1mconnection 0: [^\x1b]*\x1b\[0m$", coloured, re.M))
    check("the verdict is red", "\x1b[1;31mVIOLATIONS\x1b[0m" in coloured)
    check("and green", "\x1b[32mNO VIOLATION\x1b[0m" in audit(weft, "--color", "always", CLEAN)[1])
    marked = audit(weft, "--color", "always", SAMPLES / "broken/ddp-4.3-10.pcap")[1]
    check("wrong octets have the colour of their finding", "[\x1b[1;31m00\x1b[0m \x1b[1;31m00\x1b[0m" in marked)
    check("a program's report has none", "\x1b" not in subprocess.run(
        [weft, "--color", "always", "audit", "--quiet", "--json", BOTH], capture_output=True, text=True, check=False).stdout)


def order(weft):
    shown = unwrapped(audit(weft, BOTH)[1])
    kinds = re.findall(r"^  (violation|warning|note) ", shown, re.M)
    check("violations come before warnings", kinds == sorted(kinds, key=["violation", "warning", "note"].index) and len(set(kinds)) > 1)
    check("those of one kind in the order of packets", all(
        places == sorted(places) for places in ([int(n) for n in re.findall(rf"^  {kind} .*, packet (\d+)", shown, re.M)] for kind in kinds)))


def silent_capture(folder):
    """A TCP connection of 127.0.0.1 with itself that carries no octets."""
    packets = b""
    for ports, seq, ack, flags in (((40000, 7174), 0, 0, 2), ((7174, 40000), 0, 1, 18), ((40000, 7174), 1, 1, 17)):
        tcp = struct.pack(">HHIIBBHHH", *ports, seq, ack, 5 << 4, flags, 512, 0, 0)
        ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 40, 0, 0, 64, 6, 0, b"\x7f\0\0\1", b"\x7f\0\0\1")
        packets += struct.pack("<IIII", 0, 0, 40, 40) + ip + tcp
    file = folder / "silent.pcap"
    file.write_bytes(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 101) + packets)
    return file


def verdicts(weft, folder):
    cut = folder / "cut.pcap"
    cut.write_bytes(VIOLATION.read_bytes()[:-10])
    for capture, options, word in ((CLEAN, [], "NO VIOLATION: 0 violations"), (WARNING, [], "NO VIOLATION: 0 violations, 1 warning"),
                                   (WARNING, ["--strict"], "WARNINGS: 0 violations, 1 warning"), (VIOLATION, [], "VIOLATIONS: 1 violation, "),
                                   (SAMPLES / "32-refused-no-mpa.pcap", [], "NO IWARP: no iWARP in 1 TCP connection"),
                                   (silent_capture(folder), [], "NO IWARP: no iWARP in 1 TCP connection; 1 within one host carried no octets. "),
                                   (cut, [], "NOT READ TO ITS END: 1 violation, ")):
        last = audit(weft, *options, capture)[1].splitlines()[-1]
        check(f"{capture.name} {options}: the last line is the verdict, not {last!r}", last.startswith(word))
    check("a verdict on damage says what it is", "cut short" in audit(weft, cut)[1].splitlines()[-1])


def places(weft, folder):
    written = folder / "report.json"
    shown = unwrapped(audit(weft, "--json", written, VIOLATION)[1])
    finding = json.loads(written.read_text())["findings"][0]
    check("each number says what it counts", f"packet {finding['packet']}, octet {finding['offset']} of the packet, "
          f"offset {finding['stream_offset']} in the {finding['direction']}'s stream\n" in shown)
    check("and so do the rows of octets", f"numbered by their offset in the {finding['direction']}'s stream" in shown)
    # The octet of the packet and the offset in the stream are the same octet.
    packet, at = VIOLATION.read_bytes(), 24
    for _ in range(finding["packet"] - 1):
        at += 16 + int.from_bytes(packet[at + 8:at + 12], "little")
    excerpt = finding["excerpt"]
    wrong = bytes.fromhex(excerpt["octets"])[excerpt["mark"]:][:excerpt["marked"]]
    there = at + 16 + finding["offset"]
    check("the octet of the packet is where the excerpt says", packet[there:there + len(wrong)] == wrong and wrong)
    check("the excerpt's mark is the stream offset", excerpt["stream_offset"] + excerpt["mark"] == finding["stream_offset"])
    check("private data have numbers of their own", "private data, numbered from their own first octet" in audit(weft, SAMPLES / "31-privdata.pcap")[1])


def summary(weft):
    status, shown, _ = audit(weft, "--summary", BOTH)
    lines = shown.splitlines()
    check("--summary keeps the exit code", status == VIOLATIONS)
    check("--summary: a line a connection", re.fullmatch(
        r"connection 0: [\d.]+:\d+ -> [\d.]+:\d+: VIOLATIONS, \d+ violations?, \d+ warnings?, \d+ notes?", lines[0]))
    rule = r"(violation|warning|note) (\S+) \(RFC \d+ [^)]+\): (\d+) times?, first in connection \d+, packet \d+(, octet \d+ of the packet)?: [A-Z].*\."
    check("--summary: a line a rule, and nothing else", all(re.fullmatch(rule, line) for line in lines[1:]) and len(lines) > 2)
    full = audit(weft, BOTH)[1]
    check("--summary has each rule once", sorted(line.split()[1] for line in lines[1:]) ==
          sorted(set(re.findall(r"^  (?:violation|warning|note) (\S+) ", full, re.M))))
    check("--summary of a clean capture", audit(weft, "--summary", CLEAN)[1].count("\n") == 1)


def unwritten(weft):
    for words in ([VIOLATION], [CLEAN], ["--list"], ["--summary", VIOLATION], [CLEAN, VIOLATION], ["-"]):
        with open("/dev/full", "wb") as full, open(VIOLATION, "rb") as stdin:
            done = subprocess.run([weft, "audit", *map(str, words)], stdin=stdin, stdout=full, stderr=subprocess.PIPE, check=False)
        complaint = done.stderr.decode()
        check(f"{words} on a full disk is 2, in one sentence: {done.returncode} {complaint!r}",
              done.returncode == UNREADABLE and complaint.count("\n") == 1 and "standard output" in complaint)
    closed = subprocess.run(["sh", "-c", 'exec "$0" audit "$1" >&-', weft, VIOLATION], capture_output=True, text=True, check=False)
    check("a closed standard output is 2", closed.returncode == UNREADABLE and "standard output: Bad file" in closed.stderr)


def main():
    weft = sys.argv[1]
    for name in ("NO_COLOR", "CLICOLOR_FORCE"):
        os.environ.pop(name, None)
    width(weft)
    colours(weft)
    order(weft)
    summary(weft)
    unwritten(weft)
    with tempfile.TemporaryDirectory() as name:
        verdicts(weft, Path(name))
        places(weft, Path(name))
    for line in WRONG:
        print(line, file=sys.stderr)
    return 1 if WRONG else 0


if __name__ == "__main__":
    sys.exit(main())
