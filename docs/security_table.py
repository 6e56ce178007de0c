#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Maps each clause of RFC 5042, and section 7 of RFC 4297, to what weft does about it; and holds the limits of docs/security.md
against the code.

    docs/security_table.py               fail when a clause has neither test nor reason, or a limit of docs/security.md is not in the code
    docs/security_table.py --page FILE   write the map as a page (the `docs` target puts it into the site)

docs/clauses/security-page.csv has the clauses that cannot be observed, and RFC 4297; `kept-by` names clauses that say the same and are
tested."""

import argparse
import csv
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import rfc_map
from rfc_map import CLAUSES, ROOT, STATUSES

PAGE = ROOT / "docs/security.md"
RFC, PROBLEM = "5042", "4297"
# The last cell of a row of limits: a file, and what it has to have, word by word.
PLACE = re.compile(r"\| `([\w./-]+)`: ((?:`[^`]+`(?:, )?)+) \|$", re.M)


@dataclass
class Row:
    id: str
    level: str
    requirement: str
    state: str
    reason: str
    code: list
    tests: list

    def fault(self):
        if self.state == "tested" and self.tests or self.state in STATUSES and self.reason:
            return None
        return f"{self.id} is {self.state}, without a reason"


def of_clause(clause, unseen):
    """Of RFC 5042. A clause with tests and a reason is kept in part."""
    status, reason = clause.exception or unseen.get(clause.id, ("", ""))
    tests = [f"tests/{name}" for name in clause.tests]
    state = status or clause.state
    return Row(clause.id, clause.level, clause.requirement, state, reason, list(clause.code), tests)


def of_problem(values, clauses):
    """Of RFC 4297, which has no levels."""
    row = Row(values["clause"], "", values["requirement"], values["status"], values["detail"], [], [])
    if row.state == "kept-by":
        same = [clauses.get(name) for name in values["detail"].split()]
        right = all(clause and clause.tests for clause in same)
        row.state, row.reason = ("tested" if right else "kept by what is not tested"), "see " + ", ".join(values["detail"].split())
        for clause in filter(None, same):
            row.code += [name for name in clause.code if name not in row.code]
            row.tests += [f"tests/{name}" for name in clause.tests]
    return row


def read_rows():
    """(rows of each RFC, faults)"""
    clauses = rfc_map.read_clauses()
    faults = rfc_map.read_exceptions(clauses) + rfc_map.scan(clauses)
    with open(CLAUSES / "security-page.csv", newline="") as file:
        page = list(csv.DictReader(file))
    unseen = {values["clause"]: (values["status"], values["detail"]) for values in page if not values["requirement"]}
    faults += [f"security-page.csv: {name} can be observed, or is no clause" for name in unseen if name not in clauses or clauses[name].in_scope]
    rows = {RFC: [of_clause(clause, unseen) for clause in clauses.values() if clause.rfc == RFC],
            PROBLEM: [of_problem(values, clauses) for values in page if values["requirement"]]}
    return rows, faults + [fault for table in rows.values() for row in table if (fault := row.fault())]


def render(rows):
    """Reasons that several clauses share come once, as notes."""
    reasons = [row.reason for table in rows.values() for row in table if row.reason and row.state != "tested"]
    notes = [reason for reason in dict.fromkeys(reasons) if reasons.count(reason) > 1]
    lines = ["# Clauses of RFC 5042 and RFC 4297", "", "`docs/security.md` has the threat model and the limits."]
    for rfc, table in rows.items():
        lines += ["", f"## RFC {rfc}{', section 7' if rfc == PROBLEM else ''}", "", "| clause | level | requirement | weft | code | tests |", "|---|---|---|---|---|---|"]
        lines += [line_of(row, notes) for row in table]
    lines += ["", "Notes:", "", *(f"{number}. {note}." for number, note in enumerate(notes, 1)), ""]
    return re.sub(r"\[([^]]*)\]\(#[^)]*\)", r"\1", "\n".join(lines))


def line_of(row, notes):
    if row.state == "tested":
        weft = "kept" + (f": {row.reason}" if row.reason else "")
    else:
        weft = f"*{row.state}*" + (f" (note {notes.index(row.reason) + 1})" if row.reason in notes else f": {row.reason}")
        weft += "; kept in part" if row.tests else ""
    cells = [row.id, row.level, rfc_map.short(row.requirement, 200), weft, rfc_map.places(row.code), rfc_map.places(row.tests)]
    return "| " + " | ".join(cells) + " |"


def wrong_figures(page, root=ROOT):
    """A sentence for each limit whose place in the code does not say so."""
    found = PLACE.findall(page)
    if not found:
        yield "security.md: no limit names its place in the code"
    for name, words in found:
        text = " ".join((root / name).read_text().split()) if (root / name).is_file() else ""
        for word in re.findall(r"`([^`]+)`", words):
            if " ".join(word.split()) not in text:
                yield f"security.md: {name} does not have `{word}`"


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--page", type=Path, metavar="FILE", help="write the map there")
    args = options.parse_args()
    rows, faults = read_rows()
    page = PAGE.read_text()
    faults += wrong_figures(page)
    if args.page:
        args.page.write_text(render(rows))
    print("\n".join(faults) or f"{sum(map(len, rows.values()))} clauses, {len(PLACE.findall(page))} limits")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
