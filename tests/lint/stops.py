#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The lists of stops in CONTRIBUTING.md: every file has what it is listed for, and no file with the list's model is missing."""

import re
import sys

from modules import ROOT

sys.path.insert(0, str(ROOT / "tests/course"))
from figures import FIGURE  # noqa: E402

PAGE = "CONTRIBUTING.md"

# The most files that a change may touch: a new stop needs a reason, or a table that the code can ask instead.
MOST = {"Add an RDMAP opcode": 17, "Add a rule of the auditor": 6, "Add a key of the policy": 4}

# heading -> globs of the files that must be listed when they have the model, and the model: for an opcode a case, a row or an
# enumerator. Each list follows one thing that is there already.
CODE = ["{}/**/*.[ch]pp".format(module) for module in ("common", "mpa", "ddp", "rdmap", "engine", "verbs", "compat", "conformance")]
LISTS = {
    "Add an RDMAP opcode": (
        [*CODE, "explain/**/*.[ch]pp", "tools/dissect/*.[ch]pp"],
        re.compile(r"case (?:\w+::)*kImmediate:|\bkImmediate = |\{kImmediate,|^ +kImmediate,", re.M)),
    "Add a rule of the auditor": (
        ["conformance/rules/*.[ch]pp", "tools/forge/*.py", "tests/conformance/*.cpp", "tests/conformance/*.py",
         "docs/clauses/rdmap_ext.csv"],
        re.compile(r"RDMAPX-6\.3-05")),
    "Add a key of the policy": (
        [*CODE, "tools/**/*.[ch]pp", "tests/verbs/*.cpp", "tests/tools/*.cpp", "docs/drop-in.md", "docs/man/*.1"],
        re.compile(r"(?<!`)\bkeepalive\b")),
}


def rows(heading, text):
    """(line, files, anchor) of each row of the table below the heading."""
    start = text.index(f"### {heading}\n")
    section = re.split(r"\n##", text[start + 3:], maxsplit=1)[0]
    line = text.count("\n", 0, start) + 1
    for number, row in enumerate(section.split("\n"), line):
        cells = row.split("|")
        if len(cells) > 3 and "`" in cells[1]:
            yield number, re.findall(r"`([^`]+)`", cells[1]), re.search(r"`([^`]+)`", cells[2])[1]


def text_of(name):
    """Without the figures that tests/course/figures.py makes: nobody edits them. And with a manual page's hyphens."""
    return FIGURE.sub("", (ROOT / name).read_text()).replace("\\-", "-")


def main():
    text, faults, count = (ROOT / PAGE).read_text(), [], 0
    for heading, (globs, model) in LISTS.items():
        listed = set()
        for line, names, anchor in rows(heading, text):
            for name in names:
                count += 1
                listed.add(name)
                if not (ROOT / name).is_file():
                    faults.append(f"{PAGE}:{line}: {name} does not exist")
                elif anchor not in text_of(name):
                    faults.append(f"{PAGE}:{line}: {name} does not have {anchor!r} any more")
        if len(listed) > MOST.get(heading, len(listed)):
            faults.append(f"{PAGE}: '{heading}' has {len(listed)} stops, more than {MOST[heading]}")
        if not listed:
            faults.append(f"{PAGE}: no table below '{heading}'")
        for path in sorted({path for pattern in globs for path in ROOT.glob(pattern)}):
            name = path.relative_to(ROOT).as_posix()
            found = model.search(text_of(name)) if name not in listed else None
            if found:
                faults.append(f"{PAGE}: '{heading}' lacks {name}, which has its model ({found[0].strip()})")
    print("\n".join(faults) or f"{count} stops of {len(LISTS)} changes are where they are said to be")
    return 1 if faults else 0


sys.exit(main())
