#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every file that a document names, as a link or in backticks, exists."""

import re
import sys

from rooms import MAY_INCLUDE, ROOT

FOLDERS = [*MAY_INCLUDE, "tests", "docs", "examples", "cmake", "pcap-samples"]
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")
NAMED = re.compile(r"`((?:" + "|".join(FOLDERS) + r")/[\w./-]*)`")


def documents():
    yield from sorted(ROOT.glob("*.md"))
    yield from sorted(p for folder in ("docs", "tests", "examples", "pcap-samples") for p in (ROOT / folder).rglob("*.md"))


def main():
    faults, count = [], 0
    for document in documents():
        if document.name == "rfc-map.md":  # generated, and checked by what generates it
            continue
        text = document.read_text()
        targets = [(m, document.parent / m[1]) for m in LINK.finditer(text) if "://" not in m[1]]
        if document.name != "CHANGELOG.md":  # tells what was there at its time
            targets += [(m, ROOT / m[1]) for m in NAMED.finditer(text)]
        for match, target in targets:
            count += 1
            if not target.exists():
                line = text.count("\n", 0, match.start()) + 1
                faults.append(f"{document.relative_to(ROOT)}:{line}: {match[1]} does not exist")
    print("\n".join(faults) or f"{count} names of files in documents are right")
    return 1 if faults else 0


sys.exit(main())
