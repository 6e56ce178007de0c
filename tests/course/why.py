#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The table of processor times in docs/why.md is that of the newest bench/results/octet-cost-*.txt. With --write it is made of it."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/why.md"
BEGIN, END = "<!-- tests/course/why.py --write makes this -->\n", "<!-- up to here -->\n"
LINE = re.compile(r"(.*?) +[\d.]+ GB/s +first +(\d+) ns a KiB +second +(\d+), of which its application's thread +(\d+) ")
WORDS = {"TCP": "TCP: sends; receives in place", "TCP and a copy": "TCP: sends; receives and copies",
         "RDMA Write, CRC": "RDMA Write, CRC on: writes; sleeps", "RDMA Write, no CRC": "the same, CRC off",
         "RDMA Read, CRC": "RDMA Read, CRC on: reads; sleeps", "RDMA Read, no CRC": "the same, CRC off"}


def table(text):
    rows = [f"| {WORDS[name]} | {first} ns | {second} ns | {thread} ns |\n" for name, first, second, thread in map(lambda line: LINE.match(line).groups(), text.splitlines())]
    return "| | first end | second end | application thread of the second end |\n|---|---|---|---|\n" + "".join(rows)


def main():
    newest = max((ROOT / "bench/results").glob("octet-cost-*.txt"))
    page = PAGE.read_text()
    before, rest = page.split(BEGIN)
    old, behind = rest.split(END, 1)
    now = table(newest.read_text())
    if "--write" in sys.argv:
        PAGE.write_text(before + BEGIN + now + END + behind)
        return 0
    if now != old or newest.name not in page:
        print(f"docs/why.md has to have this table, and the name of {newest.name}:\n{now}")
        return 1
    print(f"docs/why.md has the figures of {newest.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
