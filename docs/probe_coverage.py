#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Maps each clause that a peer's reaction can show to the cases of `weft probe`, or to the reason why no case shows it.

    docs/probe_coverage.py               fail when a clause has neither a case nor a reason, or both
    docs/probe_coverage.py --page FILE   write the map as a page (the `docs` target puts it into the site)

A case is a row in probe/cases/, below the requirement of its clause, or a rule of the plan in probe/plan/; probe/cases/unreached/*.csv has the reasons. The catalogue is docs/clauses/*.csv: `active`
clauses show in the reaction to something; `wire` clauses show in what the peer sends anyway, and the rules of `weft audit` judge them
while the cases run.
"""

import argparse
import csv
import re
import sys
from pathlib import Path

from rfc_map import CATALOGUE, ROOT

PROBE_PAGE = ROOT / "docs/probe.md"
BUGS_HEADING = "## Known bugs of other stacks"
ID = r"(?:MPA2?|DDP|RDMAP(?:X|-IANA)?|SEC)-[0-9A-Z][0-9A-Za-z.]*-[0-9]{2}"


def rows(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def clauses():
    """id -> row of the catalogue, in the order of the RFCs"""
    return {row["id"]: row for name in CATALOGUE for row in rows(ROOT / "docs/clauses" / name)}


def cases():
    """(name, clause, [other clauses], file) of each row in probe/cases/ and of each rule in probe/plan/"""
    found = []
    for path in [*sorted((ROOT / "probe/cases").glob("*.cpp")), *sorted((ROOT / "probe/plan").glob("rules_*.cpp"))]:
        text = path.read_text()
        starts = [match.start() for match in re.finditer(r"\.name = \"", text)] + [len(text)]
        for begin, end in zip(starts, starts[1:]):
            row = text[begin:end]
            name = re.match(r'\.name = "([^"]+)"', row).group(1)
            clause = re.search(rf'\.clause = "({ID})"', row)
            also = re.search(r"\.also = \{(.*?)\}", row, re.DOTALL)
            found.append((name, clause.group(1) if clause else "", re.findall(ID, also.group(1)) if also else [], path.relative_to(ROOT)))
    return found


def faults_of_sentences(catalogue):
    """The comment above each row of probe/cases/ is the requirement of its clause."""
    for path in sorted((ROOT / "probe/cases").glob("*.cpp")):
        text = path.read_text()
        found = re.findall(rf'((?:^ *//.*\n)*) *cases\.add\(\s*\{{\.name = "([^"]+)",\s*\.clause = "({ID})"', text, re.M)
        if len(found) != text.count(".name = \""):
            yield f"{path.relative_to(ROOT)}: a row does not begin with cases.add({{.name, .clause"
        for above, name, clause in found:
            sentence = " ".join(above.replace("//", " ").split())
            if clause in catalogue and sentence != f"{clause}: {' '.join(catalogue[clause]['requirement'].split())}":
                yield f"{path.relative_to(ROOT)}: the comment above {name} is not the requirement of {clause}"


def reasons():
    """clause -> why no case shows it"""
    found = {}
    for path in sorted((ROOT / "probe/cases/unreached").glob("*.csv")):
        for row in rows(path):
            found[row["clause"]] = row["reason"]
    return found


def named_by_bugs():
    """Each case that docs/probe.md names in its table of known bugs."""
    text = PROBE_PAGE.read_text().partition(BUGS_HEADING)[2].partition("\n## ")[0]
    return re.findall(r"`([a-z0-9]+(?:-[a-z0-9]+)+)`", text)


def faults(catalogue, all_cases, why):
    shown = {clause for _, clause, also, _ in all_cases for clause in [clause, *also]}
    names = [name for name, *_ in all_cases]
    yield from (f"two cases have the name {name}" for name in sorted({name for name in names if names.count(name) > 1}))
    yield from (f"the case {name} names {clause}, which the catalogue does not have"
                for name, own, also, _ in all_cases for clause in [own, *also] if clause not in catalogue)
    yield from (f"a reason is given for {clause}, which the catalogue does not have" for clause in why if clause not in catalogue)
    bugs = named_by_bugs()
    yield from (f"docs/probe.md names the case {name}, which does not exist" for name in bugs if name not in names)
    yield from () if bugs else ("docs/probe.md has no table of known bugs",)
    yield from (f"{clause} has a case, and a reason for having none" for clause in why if clause in shown)
    yield from (f"{clause} has neither a case nor a reason" for clause, row in catalogue.items()
                if row["observable"] == "active" and clause not in shown and clause not in why)


def page(catalogue, all_cases, why):
    by_clause = {}
    for name, clause, also, file in all_cases:
        for one in [clause, *also]:
            by_clause.setdefault(one, []).append((name, file))
    active = [clause for clause, row in catalogue.items() if row["observable"] == "active"]
    shown = [clause for clause in catalogue if clause in by_clause]
    lines = [
        "# Clauses and the cases of weft probe",
        "",
        f"{len(all_cases)} cases and rules of the plan of `weft probe` cover {len(shown)} clauses. A peer's reaction can show {len(active)} clauses of the catalogue:",
        f"{sum(clause in by_clause for clause in active)} have a case, and {sum(clause in why for clause in active)} have a reason why no case is possible.",
        "While the cases run, the rules of `weft audit` judge everything that the peer sends ([audit_coverage.md](audit_coverage.md)).",
        "",
        "| clause | RFC | level | what it asks for | cases |",
        "|---|---|---|---|---|",
    ]
    for clause in shown:
        row = catalogue[clause]
        links = ", ".join(f"{name} (`{file}`)" for name, file in by_clause[clause])
        lines.append(f"| {clause} | {row['rfc']} {row['section']} | {row['level']} | {row['requirement']} | {links} |")
    lines += ["", "## Clauses without a case", "", "| clause | RFC | what it asks for | why none shows it |", "|---|---|---|---|"]
    for clause, row in catalogue.items():
        if clause in why:
            lines.append(f"| {clause} | {row['rfc']} {row['section']} | {row['requirement']} | {why[clause]} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--page", type=Path, metavar="FILE", help="write the map there")
    target = parser.parse_args().page
    found = clauses(), cases(), reasons()
    wrong = [*faults(*found), *faults_of_sentences(found[0])]
    if target:
        target.write_text(page(*found))
    print("\n".join(wrong) or f"{len(found[1])} cases, {len(found[2])} clauses with a reason for having none")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
