#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Words that make a reader stumble are not in the documents: "nobody", "somebody", "anybody", "whoever", "so many", "so long", and
a relative clause without a head at the start of a sentence ("Who polls ..."). Comments of sources are counted, and do not fail.

    english.py              check the documents, count the comments
    english.py --comments   show each use in a comment, too
"""

import re
import sys

from rooms import ROOT

WORDS = re.compile(r"\b(?:nobody|somebody|anybody|whoever|whomever|so (?:many|few|long)(?! as\b))\b", re.I)
OPENER = re.compile(r"(?:\A|\n\n|[.?!:]\s|\n[-*] )\s*(Who\s[^.?!]*)(?=[.!]|\Z)")  # a question ends with "?"

# Written by programs and held by their tests; the changelog and the page of clauses quote others.
GENERATED = {"docs/rfc-map.md", "docs/audit-coverage.md", "docs/audit-tshark.md", "docs/applications.md", "CHANGELOG.md",
             "tests/mutation/report.md"}
GENERATED_FOLDERS = ("pcap-samples/broken/", "pcap-samples/edited/", "pcap-samples/forged/", "pcap-samples/weft/")
COUNTED = set()
HELD = ["is tried again for so long"]  # weft-run.1 has verbs/policy_text.cpp's words


def documents():
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs/man").glob("*.1")]
    for folder in ("docs", "tests", "bench", "examples", "pcap-samples"):
        pages += (ROOT / folder).rglob("*.md")
    for page in sorted(set(pages)):
        name = page.relative_to(ROOT).as_posix()
        if name not in GENERATED and not name.startswith(GENERATED_FOLDERS):
            yield name, page.read_text()


def prose(text):
    """Without code, of the same number of lines."""
    blank = lambda match: re.sub(r"[^\n]", " ", match[0])  # noqa: E731
    text = re.sub(r"^```.*?^```", blank, text, flags=re.M | re.S)
    text = re.sub(r"^    .*$", blank, text, flags=re.M)
    return re.sub(r"`[^`\n]*`|\"[^\"\n]*\"", blank, text)


def comments(text):
    """The // comments, of the same number of lines."""
    return "\n".join((re.search(r"(?:^|\s)//(.*)", line) or ["", ""])[1] for line in text.split("\n"))


def uses(text):
    """(line, words) of each use."""
    for held in HELD:
        text = text.replace(held, "")
    for pattern, group in ((WORDS, 0), (OPENER, 1)):
        for match in pattern.finditer(text):
            yield text.count("\n", 0, match.start(group)) + 1, " ".join(match[group].split()[:4])


def report(pages, shown):
    count = 0
    for name, text in pages:
        for line, words in sorted(uses(text)):
            count += 1
            if shown:
                print(f"{name}:{line}: '{words}'")
    return count


def main():
    pages = [(name, prose(text)) for name, text in documents()]
    faults = report([page for page in pages if page[0] not in COUNTED], True)
    counted = report([page for page in pages if page[0] in COUNTED], False)
    sources = sorted(path for pattern in ("*.hpp", "*.cpp") for path in ROOT.rglob(pattern)
                     if not path.relative_to(ROOT).parts[0].startswith(("build", ".")))
    in_comments = report(((path.relative_to(ROOT).as_posix(), comments(path.read_text())) for path in sources),
                         "--comments" in sys.argv)
    print(f"{len(pages)} documents: {faults} of these words; {counted} in {', '.join(COUNTED)}, {in_comments} in comments of sources")
    return 1 if faults else 0


sys.exit(main())
