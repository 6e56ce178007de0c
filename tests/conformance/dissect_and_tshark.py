#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each field that `weft dissect` and tshark both show, of each capture in pcap-samples/: value and place are equal, or a row
of tshark_differences.py allows the difference. A row that allows nothing is an error too, and so is a reason that the table in
docs/tshark.md lacks, or has in vain.

    dissect_and_tshark.py WEFT
"""

import re
import shutil
import subprocess
import sys
from collections import Counter, namedtuple
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from itertools import zip_longest
from pathlib import Path

from both_readings import paired, tshark_reads, weft_reads
from tshark_differences import EXCUSES, INVENTED, MALFORMED, OURS, PLACE, THEIRS, UNSEEN, VALUE

ROOT = Path(__file__).resolve().parents[2]
SAMPLES, PAGE = ROOT / "pcap-samples", ROOT / "docs/tshark.md"
SKIPPED = 77

Difference = namedtuple("Difference", "capture packet kind field ours theirs message")


@dataclass
class Comparison:
    """Of one capture, or of many together."""
    captures: int = 0
    silent: int = 0  # captures in which neither finds iWARP
    messages: Counter = field(default_factory=Counter)  # of both, by what they are
    fields: Counter = field(default_factory=Counter)  # compared, by name
    unnamed: Counter = field(default_factory=Counter)  # for which tshark has no name
    differences: list = field(default_factory=list)

    def add(self, other):
        self.captures += other.captures
        self.silent += other.silent
        for mine, more in ((self.messages, other.messages), (self.fields, other.fields), (self.unnamed, other.unnamed)):
            mine.update(more)
        self.differences += other.differences


def same_value(ours, theirs):
    if str(ours.value).endswith("..."):  # weft shows the first octets of long ones
        return ours.size == theirs.size and theirs.value.startswith(ours.value[:-3])
    return ours.value == theirs.value


def compare_message(ours, theirs, result, differ):
    result.messages[ours.what] += 1
    result.unnamed.update(ours.unnamed.keys())
    for name in sorted({*ours.fields, *theirs.fields}):
        for mine, other in zip_longest(ours.fields.get(name, ()), theirs.fields.get(name, ())):
            if mine is None:
                differ(THEIRS, name, None, other.value, ours)
            elif other is None:
                differ(OURS, name, mine.value, None, ours)
            else:
                result.fields[name] += 1
                if not same_value(mine, other):
                    differ(VALUE, name, mine.value, other.value, ours)
                if mine.place != other.place:
                    differ(PLACE, name, mine.place, other.place, ours)


def compare(name, ours, theirs, malformed):
    result = Comparison(captures=1)
    result.silent = not ours and not theirs
    for packet in sorted({*ours, *theirs, *malformed}):
        def differ(kind, what, mine, other, message, packet=packet):
            result.differences.append(Difference(name, packet, kind, what, mine, other, message))
        pairs, alone, left = paired(ours.get(packet, ()), theirs.get(packet, ()))
        for message in alone:
            differ(UNSEEN, message.what, None, None, message)
        for message in left:
            differ(INVENTED, message.what, None, None, message)
        if packet in malformed:
            differ(MALFORMED, "", None, None, next((mine for mine, _ in pairs), None))
        for mine, other in pairs:
            compare_message(mine, other, result, differ)
    return result


def explains(excuse, difference):
    _, captures, kind, what, check = excuse
    return (fnmatchcase(difference.capture, captures) and kind in ("*", difference.kind) and fnmatchcase(difference.field, what)
            and (check is None or check(difference.ours, difference.theirs, difference.message)))


def explain(differences):
    """What nothing explains; excuses that explained nothing."""
    strange, dead = [], set(range(len(EXCUSES)))
    for difference in differences:
        number = next((n for n, excuse in enumerate(EXCUSES) if explains(excuse, difference)), None)
        if number is None:
            strange.append(difference)
        else:
            dead.discard(number)
    return strange, [EXCUSES[number] for number in sorted(dead) if (SAMPLES / EXCUSES[number][1]).parent.is_dir()]


def documented():
    """The reasons that the page explains: the first cells of its table."""
    return set(re.findall(r"^\| ([^|]+) \|", PAGE.read_text(), re.M)) - {"name in the test"}


def main():
    if shutil.which("tshark") is None:
        print("SKIPPED: tshark is not installed: nothing is compared (Debian package tshark)")
        return SKIPPED
    weft, total = sys.argv[1], Comparison()
    # tshark 4.0 with these options finds no iWARP in most encapsulations.
    captures = sorted(set(SAMPLES.glob("**/*.pcap")) - set(SAMPLES.glob("encapsulated/*")))
    for capture, (theirs, malformed) in tshark_reads(captures).items():
        total.add(compare(str(capture.relative_to(SAMPLES)), weft_reads(weft, capture), theirs, malformed))
    strange, dead = explain(total.differences)
    wrong = [f"{d.capture}, packet {d.packet}: {d.field}: {d.kind}: weft {d.ours}, tshark {d.theirs}" for d in strange]
    wrong += [f"nothing is left to explain by {excuse[:4]}" for excuse in dead]
    wrong += [f"{PAGE.name} and tshark_differences.py do not both have '{name}'" for name in documented() ^ {excuse[0] for excuse in EXCUSES}]
    if wrong:
        print(subprocess.run(["tshark", "--version"], capture_output=True, text=True, check=True).stdout.partition("\n")[0],
              "(the table was made with 4.0.17)", file=sys.stderr)
    for line in wrong[:60]:
        print(line, file=sys.stderr)
    print(f"{total.captures} captures, {sum(total.messages.values())} messages, {sum(total.fields.values())} fields compared, "
          f"{len(total.differences)} differences, {len(strange)} of them unexplained")
    return 1 if wrong or not total.fields else 0


if __name__ == "__main__":
    sys.exit(main())
