#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/probe-coverage.md: which case of `weft probe` shows each clause that a peer's reaction can show, and of the others why
none does.

    docs/probe_coverage.py           write it
    docs/probe_coverage.py --check   fail when it is out of date, a clause has neither a case nor a reason, or has
                                     both, or docs/probe-known-bugs.md names a case that does not exist

A case is a row of a table in probe/cases/. probe/cases/unreached/*.csv has the reasons. The catalogue is docs/clauses/*.csv: `active`
clauses show by the reaction to something; `wire` clauses, by what the peer sends anyway, are judged by the rules of `weft audit` while
the cases run (docs/audit-coverage.md), and some of them by a case as well.
"""

import argparse
import csv
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/probe-coverage.md"
BUGS = ROOT / "docs/probe-known-bugs.md"
CATALOGUE = ["mpa.csv", "ddp.csv", "rdmap.csv", "rdmap_ext.csv", "security.csv"]
ID = r"(?:MPA2?|DDP|RDMAP(?:X|-IANA)?|SEC)-[0-9A-Z][0-9A-Za-z.]*-[0-9]{2}"


def rows(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def clauses():
    """id -> row of the catalogue, in the order of the RFCs"""
    return {row["id"]: row for name in CATALOGUE for row in rows(ROOT / "docs/clauses" / name)}


def cases():
    """(name, clause, [other clauses], file) of each row in the tables"""
    found = []
    for path in sorted((ROOT / "probe/cases").glob("*.cpp")):
        text = path.read_text()
        starts = [match.start() for match in re.finditer(r"\.name = \"", text)] + [len(text)]
        for begin, end in zip(starts, starts[1:]):
            row = text[begin:end]
            name = re.match(r'\.name = "([^"]+)"', row).group(1)
            clause = re.search(rf'\.clause = "({ID})"', row)
            also = re.search(r"\.also = \{(.*?)\}", row, re.DOTALL)
            found.append((name, clause.group(1) if clause else "", re.findall(ID, also.group(1)) if also else [], path.name))
    return found


def reasons():
    """clause -> why no case shows it"""
    found = {}
    for path in sorted((ROOT / "probe/cases/unreached").glob("*.csv")):
        for row in rows(path):
            found[row["clause"]] = row["reason"]
    return found


def named_by_bugs():
    """each case that the page of known bugs names"""
    return re.findall(r"`([a-z0-9]+(?:-[a-z0-9]+)+)`", BUGS.read_text())


def faults(catalogue, all_cases, why):
    shown = {clause for _, clause, also, _ in all_cases for clause in [clause, *also]}
    names = [name for name, *_ in all_cases]
    yield from (f"two cases have the name {name}" for name in sorted({name for name in names if names.count(name) > 1}))
    yield from (f"the case {name} names {clause}, which the catalogue does not have"
                for name, own, also, _ in all_cases for clause in [own, *also] if clause not in catalogue)
    yield from (f"a reason is given for {clause}, which the catalogue does not have" for clause in why if clause not in catalogue)
    yield from (f"{BUGS.name} names the case {name}, which does not exist" for name in named_by_bugs() if name not in names)
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
        "<!-- Written by docs/probe_coverage.py; a test checks that it is up to date. -->",
        "# What the prober shows",
        "",
        f"{len(all_cases)} cases of `weft probe` show {len(shown)} clauses. The catalogue has {len(active)} clauses that a peer's reaction can",
        f"show: {sum(clause in by_clause for clause in active)} of them have a case, and {sum(clause in why for clause in active)} have a reason for having none. What a peer sends",
        "anyway is judged by the rules of `weft audit` while the cases run ([audit-coverage.md](audit-coverage.md)).",
        "",
        "| clause | RFC | level | what it asks for | cases |",
        "|---|---|---|---|---|",
    ]
    for clause in shown:
        row = catalogue[clause]
        links = ", ".join(f"[{name}](../probe/cases/{file})" for name, file in by_clause[clause])
        lines.append(f"| {clause} | {row['rfc']} {row['section']} | {row['level']} | {row['requirement']} | {links} |")
    lines += ["", "## Clauses without a case", "", "| clause | RFC | what it asks for | why none shows it |", "|---|---|---|---|"]
    for clause, row in catalogue.items():
        if clause in why:
            lines.append(f"| {clause} | {row['rfc']} {row['section']} | {row['requirement']} | {why[clause]} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    catalogue, all_cases, why = clauses(), cases(), reasons()
    wrong = list(faults(catalogue, all_cases, why))
    for one in wrong:
        print(one, file=sys.stderr)
    text = page(catalogue, all_cases, why)
    if not check:
        PAGE.write_text(text)
    elif not PAGE.exists() or PAGE.read_text() != text:
        wrong.append("docs/probe-coverage.md is out of date: docs/probe_coverage.py writes it")
        print(wrong[-1], file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
