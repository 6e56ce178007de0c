#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every file that a document names, as a link or in backticks, exists, and so does the heading that a link points to. The same
of the files that comments in sources name."""

import functools
import re
import sys

from modules import MAY_INCLUDE, ROOT

FOLDERS = [*MAY_INCLUDE, "tests", "docs", "examples", "cmake", "pcap-samples"]
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]*)(?:#([^)\s]*))?\)")
NAMED = re.compile(r"`((?:" + "|".join(FOLDERS) + r")/[\w./-]*)`")
COMMENT = re.compile(r"//(.*)")
# A file as a comment names it, from the root or from anywhere below: docs/tour.md, rules/crc.cpp, walk.hpp
IN_COMMENT = re.compile(r"(?<![\w/.<\"*}:-])((?:[\w-]+/)*[\w-]+\.(?:hpp|cpp|md|py|csv)|docs/decisions/\d+[\w-]*)(?:#([\w-]+))?(?![\w/*])")


def documents():
    yield from sorted(ROOT.glob("*.md"))
    yield from sorted(p for folder in ("docs", "tests", "bench", "examples", "pcap-samples") for p in (ROOT / folder).rglob("*.md"))


def sources():
    yield from sorted(p for folder in FOLDERS for p in (ROOT / folder).rglob("*") if p.suffix in (".hpp", ".cpp", ".h", ".c"))


@functools.cache
def anchors(document):
    """What a link may name after #, as GitHub makes it of the headings."""
    headings = re.findall(r"^#+ +(.*?) *$", document.read_text(), re.M)
    plain = (re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower() for heading in headings)
    return {re.sub(r"[^\w\- ]", "", heading).replace(" ", "-") for heading in plain}


@functools.cache
def all_files():
    """Each file, by each way to name it: its own name, and that with folders before it."""
    names = set()
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*"):
            parts = path.relative_to(ROOT).parts
            names.update("/".join(parts[i:]) for i in range(len(parts)))
    return names | {path.name for path in ROOT.glob("*.*")}


def of_document(document):
    """(place in the text, what it says, whether that is there) of each name."""
    text = document.read_text()
    for match in LINK.finditer(text):
        if "://" in match[1] or match[1].startswith("mailto:"):
            continue
        target = document.parent / match[1] if match[1] else document
        there = target.exists() and (not match[2] or target.suffix != ".md" or match[2] in anchors(target))
        yield match.start(), match[1] + ("#" + match[2] if match[2] else ""), there
    if document.name != "CHANGELOG.md":  # tells what was there at its time
        for match in NAMED.finditer(text):
            yield match.start(), match[1], (ROOT / match[1]).exists()


def of_source(source):
    text = source.read_text(errors="replace")
    for comment in COMMENT.finditer(text):
        for match in IN_COMMENT.finditer(comment[1]):
            there = match[1] in all_files()
            if there and match[2]:
                there = match[2] in anchors(ROOT / match[1])
            yield comment.start(), match[0], there


def main():
    faults, count = [], 0
    names = [(path, of_document(path)) for path in documents()]
    names += [(path, of_source(path)) for path in sources()]
    for path, found in names:
        for at, name, there in found:
            count += 1
            if not there:
                line = path.read_text(errors="replace").count("\n", 0, at) + 1
                faults.append(f"{path.relative_to(ROOT)}:{line}: {name} does not exist")
    print("\n".join(faults) or f"{count} names of files in documents and comments are right")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
