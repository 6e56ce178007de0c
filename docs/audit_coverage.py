#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/audit-coverage.md: what `weft audit` judges, and of each other clause that shows on the wire why it does not.

    docs/audit_coverage.py           write it
    docs/audit_coverage.py --check   fail when it is out of date, or a clause is neither a rule nor explained

A rule is a clause id in a string of conformance/rules/. docs/clauses/audit.csv explains the others.
"""

import argparse
import csv
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/audit-coverage.md"
CATALOGUE = ["mpa.csv", "ddp.csv", "rdmap.csv", "rdmap_ext.csv", "security.csv"]
ID = r"(?:MPA2?|DDP|RDMAP(?:X|-IANA)?|SEC)-[0-9A-Z][0-9A-Za-z.]*-[0-9]{2}"
KINDS = {
    "judged": "Judged by another rule: the same octets break both",
    "layout": "The layout itself",
    "freedom": "Freedom: never flagged",
    "unseen": "Cannot be told from a capture",
    "outside": "Not iWARP over TCP",
}


def rows(name):
    with (ROOT / "docs/clauses" / name).open(newline="") as file:
        return list(csv.DictReader(file))


def rules():
    text = "\n".join(path.read_text() for path in sorted((ROOT / "conformance/rules").glob("*.[ch]pp")))
    return set(re.findall(rf'"({ID})"', text))


def tests(clause):
    found = [path for path in sorted((ROOT / "tests/conformance").glob("*.cpp")) if clause in path.read_text()]
    return ", ".join(path.name for path in found) or "sample"


def page(problems):
    catalogue = {row["id"]: row for name in CATALOGUE for row in rows(name)}
    wire = [clause for clause, row in catalogue.items() if row["observable"] == "wire"]
    judged, explained = rules(), {row["id"]: row for row in rows("audit.csv")}
    problems += [f"{clause}: a rule that no catalogue has" for clause in judged - catalogue.keys()]
    problems += [f"{clause}: shows on the wire, is no rule, and docs/clauses/audit.csv does not say why"
                 for clause in wire if clause not in judged and clause not in explained]
    problems += [f"{clause}: a rule, and explained away in docs/clauses/audit.csv" for clause in judged & explained.keys()]
    for row in explained.values():
        if row["kind"] == "judged":
            problems += [f"{row['id']}: judged by {rule}, which is no rule" for rule in row["detail"].split() if rule not in judged]
    out = ["<!-- Written by docs/audit_coverage.py; a test checks that it is up to date. -->", "# What the auditor judges", "",
           f"{len(judged)} rules. {len(wire)} clauses of the catalogue show on the wire; those that are no rule of their own are",
           "listed below with the reason.", "", "| rule | RFC | what it asks for | a capture that breaks it | tests |",
           "|---|---|---|---|---|"]
    for clause, row in catalogue.items():
        if clause not in judged:
            continue
        sample = ROOT / "pcap-samples/broken" / f"{clause.lower()}.pcap"
        shown = f"[{sample.name}](../pcap-samples/broken/{sample.name})" if sample.exists() else "none"
        if not sample.exists():
            problems.append(f"{clause}: no capture in pcap-samples/broken/ breaks it")
        out.append(f"| {clause} | {row['rfc']} {row['section']} | {row['requirement']} | {shown} | {tests(clause)} |")
    for kind, title in KINDS.items():
        chosen = [row for clause, row in explained.items() if row["kind"] == kind]
        out += ["", f"## {title} ({len(chosen)})", ""]
        reasons = {}
        for row in chosen:
            reasons.setdefault(row["detail"], []).append(row["id"])
        out += [f"- {', '.join(clauses)}: {reason.replace(' ', ', ') if kind == 'judged' else reason}."
                for reason, clauses in reasons.items()]
    return "\n".join(out) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    problems = []
    text = page(problems)
    if not options.check:
        PAGE.write_text(text)
    elif not PAGE.exists() or PAGE.read_text() != text:
        problems.append("docs/audit-coverage.md is out of date: run docs/audit_coverage.py")
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
