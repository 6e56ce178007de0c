#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Maps each observable clause of the RFCs to the code that implements it and to the tests that fail without it.

    docs/rfc_map.py               fail when a clause has neither a test nor an exception, or a source names an unknown id
    docs/rfc_map.py --page FILE   write the map as a page (the `docs` target puts it into the site)

The catalogue is docs/clauses/*.csv. A clause is implemented where a source names its id, and tested where a test names it. The
auditor, the prober and tests/faults do not count: finding a violation says nothing about weft's own behavior.
docs/clauses/exceptions.csv lists the clauses that weft does not implement or that do not apply, each with the reason.
"""

import argparse
import csv
import re
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CLAUSES = ROOT / "docs/clauses"
CODE = ["common", "mpa", "ddp", "rdmap", "engine", "transport", "verbs", "tools", "bench"]
AUDITOR = ("conformance/", "tools/audit/", "tools/dissect/", "tools/forge/", "tools/probe/", "tests/conformance/", "tests/fuzz/conformance",
           "tests/tools/probe_", "tests/tools/sample_report", "tests/faults/")
SUFFIXES = {".hpp", ".cpp", ".h", ".c", ".py", ".sh"}
OBSERVABLE = {"wire", "active", "api"}
STATUSES = {
    "not-kept": "weft does not do this",
    "not-applicable": "the case cannot arise in weft",
    "elsewhere": "binds others: the application, the administrator, the local TCP or operating system",
    "by-construction": "true because of how the thing is built; nothing to test on its own",
}
CATALOGUE = ["mpa.csv", "ddp.csv", "rdmap.csv", "rdmap_ext.csv", "security.csv"]
TITLES = {
    "5044": "MPA", "6581": "MPA, enhanced connection set-up", "5041": "DDP", "5040": "RDMAP",
    "6580": "registries", "7306": "RDMAP extensions", "5042": "security",
}
ID = re.compile(r"(?<![\w.-])(?:MPA2?|DDP|RDMAP(?:X|-IANA)?|SEC)-[0-9A-Z][0-9A-Za-z.]*-[0-9]{2}(?![\w-])")
TEST = re.compile(r'^\s*(?:TYPED_)?(TEST(?:_[FP])?\s*\(\s*(\w+)\s*,\s*(\w+)|(?:TEST_CASE|SCENARIO)\s*\(\s*"([^"]+)")')
SHOWN = 4  # places named per cell


@dataclass
class Clause:
    id: str
    rfc: str
    section: str
    level: str
    requirement: str
    in_scope: bool
    code: dict = field(default_factory=dict)  # an ordered set of file names
    tests: dict = field(default_factory=dict)  # an ordered set of "file: test"
    exception: tuple = ()  # (status, reason)

    @property
    def state(self):
        if self.tests:
            return "tested"
        if self.exception:
            return self.exception[0]
        return "untested" if self.code else "open"


def read_clauses():
    clauses = {}
    for name in CATALOGUE:
        with open(CLAUSES / name, newline="") as file:
            for row in csv.DictReader(file):
                clauses[row["id"]] = Clause(row["id"], row["rfc"], row["section"], row["level"], row["requirement"],
                                            row["observable"] in OBSERVABLE)
    return clauses


def read_exceptions(clauses):
    """A pattern is an id, or the beginning of ids followed by *."""
    faults = []
    with open(CLAUSES / "exceptions.csv", newline="") as file:
        for number, row in enumerate(csv.DictReader(file), 2):
            where = f"docs/clauses/exceptions.csv:{number}"
            pattern, status, reason = row["clause"], row["status"], row["reason"]
            hits = [c for i, c in clauses.items() if (i.startswith(pattern[:-1]) if pattern.endswith("*") else i == pattern)]
            if status not in STATUSES or not reason:
                faults.append(f"{where}: needs a status of {', '.join(STATUSES)}, and a reason")
            if not any(c.in_scope for c in hits):
                faults.append(f"{where}: '{pattern}' matches no observable clause")
            for clause in hits:
                clause.exception = (status, reason)
    return faults


def sources(folder):
    return sorted(p for p in (ROOT / folder).rglob("*") if p.suffix in SUFFIXES and p.is_file())


def occurrences(path):
    """(line number, id, name of the test it belongs to) for each id in the file. A comment belongs to the test below it."""
    lines = path.read_text(errors="replace").splitlines()
    heads = {}  # line index -> test name
    for index, line in enumerate(lines):
        match = TEST.match(line if line.rstrip().endswith("{") or index + 1 == len(lines) else line + lines[index + 1])
        if match:
            heads[index] = match[4] or f"{match[2]}.{match[3]}"
    current = ""
    for index, line in enumerate(lines):
        current = heads.get(index, current)
        below = index
        while below + 1 < len(lines) and lines[below].lstrip().startswith("//"):
            below += 1
        for match in ID.finditer(line):
            yield index + 1, match[0], heads.get(below, current)


def scan(clauses):
    faults = []
    for folder in CODE + ["conformance", "tests"]:
        for path in sources(folder):
            name = path.relative_to(ROOT).as_posix()
            for line, identity, test in occurrences(path):
                clause = clauses.get(identity)
                if clause is None:
                    faults.append(f"{name}:{line}: the catalogue has no clause {identity}")
                elif name.startswith(AUDITOR):
                    continue
                elif folder == "tests":
                    clause.tests[f"{name.removeprefix('tests/')}{': ' + test if test else ''}"] = True
                else:
                    clause.code[name] = True
    return faults


def short(text, limit=120):
    text = " ".join(text.split()).replace("|", "\\|")
    return text if len(text) <= limit else text[:limit].rsplit(" ", 1)[0] + " …"


def places(names):
    names = list(names)
    more = len(names) - SHOWN
    return "<br>".join(f"`{n}`" for n in names[:SHOWN]) + (f"<br>and {more} more" if more > 0 else "")


def row(clause):
    cells = [clause.id, clause.level, short(clause.requirement), places(clause.code), places(clause.tests)]
    if clause.exception:  # beside tests: kept in part
        cells[4] = "<br>".join(filter(None, [cells[4], f"*{clause.exception[0]}*: {clause.exception[1]}"]))
    elif clause.state == "open":
        cells[4] = "**open**"
    return "| " + " | ".join(cells) + " |"


def summary(scope):
    columns = ["tested", "untested", *STATUSES, "open"]
    lines = ["| RFC | clauses | " + " | ".join(columns) + " |", "|---|" + "---:|" * (len(columns) + 1)]
    for rfc in dict.fromkeys(c.rfc for c in scope):
        states = Counter(c.state for c in scope if c.rfc == rfc)
        lines.append(f"| {rfc} {TITLES[rfc]} | {states.total()} | " + " | ".join(str(states[s]) for s in columns) + " |")
    states = Counter(c.state for c in scope)
    lines.append(f"| all | {states.total()} | " + " | ".join(str(states[s]) for s in columns) + " |")
    return lines


def render(clauses):
    scope = [c for c in clauses.values() if c.in_scope]
    lines = [
        "# Clause by clause: RFC -> code -> test",
        "",
        "The observable clauses: on the wire, by an active peer, or at the API. The catalogue `docs/clauses/` has each clause in full.",
        "*tested*: a test names the clause. *untested*: the code names it and no test does. *open*: neither.",
        *(f"*{status}*: {meaning}." for status, meaning in STATUSES.items()),
        "",
        *summary(scope),
    ]
    heading = None
    for clause in scope:
        if (clause.rfc, clause.section) != heading:
            if heading is None or heading[0] != clause.rfc:
                lines += ["", f"## RFC {clause.rfc}: {TITLES[clause.rfc]}"]
            heading = (clause.rfc, clause.section)
            lines += ["", f"### RFC {clause.rfc} section {clause.section}", "", "| clause | level | requirement | code | tests |", "|---|---|---|---|---|"]
        lines.append(row(clause))
    return "\n".join(lines) + "\n"


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--page", type=Path, metavar="FILE", help="write the map there")
    args = options.parse_args()

    clauses = read_clauses()
    faults = read_exceptions(clauses) + scan(clauses)
    scope = [c for c in clauses.values() if c.in_scope]
    faults += [f"{c.id} is {c.state}: {c.requirement}" for c in scope if c.state in ("open", "untested")]
    if args.page:
        args.page.write_text(render(clauses))
    counts = Counter(c.state for c in scope)
    print("\n".join(faults + [", ".join(f"{n} {state}" for state, n in sorted(counts.items()))]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
