#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The ladders of `weft dissect --overview`: what tshark counts in the captures of siw stands there, each kind of message as often,
with as many octets and FPDUs. Of each capture in pcap-samples/ no line is too long, and colours change nothing but colours.

    ladder.py WEFT
"""

import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

from both_readings import LENGTH, tshark_reads

SAMPLES = Path(__file__).resolve().parents[2] / "pcap-samples"
WIDTH = 80
# RFC 5040 figure 4 and RFC 7306 figure 2, by opcode.
NAMES = ["RDMA Write", "RDMA Read Request", "RDMA Read Response", "Send", "Send with Invalidate", "Send with SE",
         "Send with SE and Invalidate", "Terminate", "Immediate Data", "Immediate Data with SE", "Atomic Request", "Atomic Response"]
TAGGED = (0, 2)
TRANSFERS = (0, 2, 3, 4, 5, 6)  # whose octets the ladder tells
COLOURS = re.compile(r"\x1b\[[0-9;]*m")
LINE = re.compile(r" *-?[0-9]+\.[0-9]{6} +[0-9]+  (.*)")
ARROWS = re.compile(r"^<-+ +| +-+>$")
# tshark takes nothing for iWARP there (docs/tshark.md).
UNSEEN_BY_TSHARK = {"49-mpa-v1-rping-fails.pcap"}


def ladder(weft, capture, *options):
    done = subprocess.run([weft, "dissect", "--overview", *options, capture], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


def entries(text):
    """What stands on the rungs, a continued line joined: (sender, words)."""
    found = []
    for line in text.splitlines():
        rung = LINE.fullmatch(line)
        if rung:
            words = rung[1]
            sender = "initiator" if words.endswith(">") else "responder"
            found.append([sender, ARROWS.sub("", words).strip()])
        elif line.startswith(" " * 23) and found:
            found[-1][1] += " " + line.strip()
    return found


def told_by_weft(text):
    told = Counter()
    for _, words in entries(text):
        name, _, rest = words.partition(":")
        name = re.sub(r" (CmpSwap|FetchAdd)$", "", name)
        if name not in NAMES:
            told["startup"] += name in ("MPA Request", "MPA Reply")
            continue
        opcode = NAMES.index(name)
        told[name, "messages"] += 1
        fpdus = re.search(r"(\d+) FPDUs", rest)
        told[name, "FPDUs"] += int(fpdus[1]) if fpdus else 1
        if opcode in TRANSFERS:
            told[name, "octets"] += int(re.search(r"(\d+) octet", rest)[1])
    return told


def told_by_tshark(messages):
    told = Counter()
    for message in (message for packet in messages.values() for message in packet):
        opcode = message.number("iwarp_rdma.opcode")
        if opcode is None:
            told["startup"] += 1
            continue
        name = NAMES[opcode]
        told[name, "messages"] += message.number("iwarp_ddp.last_flag")
        told[name, "FPDUs"] += 1
        if opcode in TRANSFERS:
            told[name, "octets"] += message.number(LENGTH) - (14 if opcode in TAGGED else 18)
    return told


def compare(weft):
    wrong, messages = [], 0
    captures = [capture for capture in sorted(SAMPLES.glob("[0-9][0-9]-*.pcap")) if capture.name not in UNSEEN_BY_TSHARK]
    for capture, (theirs, _) in tshark_reads(captures).items():
        ours, others = told_by_weft(ladder(weft, capture, "--all")[1]), told_by_tshark(theirs)
        messages += sum(count for what, count in ours.items() if what[1] == "messages")
        if +ours != +others:
            wrong.append(f"{capture.name}: the ladder tells {ours - others} that tshark does not, and lacks {others - ours}")
    return wrong, messages


def check_lines(weft):
    wrong = []
    for number, capture in enumerate(sorted(SAMPLES.glob("**/*.pcap"))):
        status, coloured = ladder(weft, capture, "--color", "always")
        plain = COLOURS.sub("", coloured)
        wrong += [f"{capture.name}: too long: {line}" for line in plain.splitlines() if len(line) > WIDTH]
        if (status == 0) != bool(plain) or (plain and coloured == plain):
            wrong.append(f"{capture.name}: exit status {status}, {len(plain)} characters, {len(coloured)} with colours")
        if number % 20 == 0 and ladder(weft, capture)[1] != plain:
            wrong.append(f"{capture.name}: without colours it is another text")
        if number % 20 == 0 and not same_through_a_pipe(weft, capture):
            wrong.append(f"{capture.name}: what comes through a pipe is told otherwise")
    return wrong


def same_through_a_pipe(weft, capture):
    """Connections may take turns there, and nothing is folded."""
    done = subprocess.run([weft, "dissect", "--overview", "-"], input=capture.read_bytes(), capture_output=True, check=False)
    return sorted(entries(done.stdout.decode())) == sorted(entries(ladder(weft, capture, "--all")[1]))


def main():
    weft, wrong, messages = sys.argv[1], [], 1
    wrong = check_lines(weft)
    if shutil.which("tshark") is None:
        print("SKIPPED comparison with tshark: it is not installed (Debian package tshark)")
    else:
        differences, messages = compare(weft)
        wrong += differences
        print(f"{messages} messages in the ladders of siw's captures")
    for line in wrong[:40]:
        print(line, file=sys.stderr)
    print(f"{len(wrong)} wrong")
    return 1 if wrong or not messages else 0


if __name__ == "__main__":
    sys.exit(main())
