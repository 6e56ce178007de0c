#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/audit-coverage.md: what `weft audit` judges, and of each other clause that shows on the wire why it does not.

    docs/audit_coverage.py           write it
    docs/audit_coverage.py --check   fail when it is out of date, a clause is neither a rule nor explained, or a rule has no test

A rule is a clause id in a string of conformance/rules/. docs/clauses/audit.csv explains the others, and says where several
clauses state one fact why the rule has the clause that it has (`why`). A rule's tests are those of
tests/conformance/clauses_*.cpp that have its clause as a tag. A capture keeps a clause when it has what the rule needs to judge
anything (docs/clauses/audit-samples.csv, docs/audit_contents.py) and its expected findings, which tests/conformance/samples.py
holds `weft audit` to, do not name the clause.
"""

import argparse
import csv
import json
import re
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from audit_contents import contents  # noqa: E402

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/audit-coverage.md"
SAMPLES = ROOT / "pcap-samples"
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
    """clause -> the file that has the rule"""
    found = {}
    for path in sorted((ROOT / "conformance/rules").glob("*.[ch]pp")):
        found.update(dict.fromkeys(re.findall(rf'"({ID})"', path.read_text()), path.name))
    return found


def tests():
    """clause -> the Catch2 files that have it as a tag"""
    found = {}
    for path in sorted((ROOT / "tests/conformance").glob("clauses_*.cpp")):
        for clause in set(re.findall(rf"\[({ID})\]", path.read_text())):
            found.setdefault(clause, []).append(path.name)
    return found


# --- samples

def expected(capture):
    """The clauses that the audit of this capture finds broken."""
    file = capture.with_suffix(".expected.json")
    if not file.exists():
        return None
    document = json.loads(file.read_text())
    if document.get("connections") == []:
        return None  # no iWARP in it
    return {finding["clause"] for finding in document["findings"]} | set(document.get("also", []))


def conforming():
    """(capture, what it has, the clauses that it may break): the forge's, weft's, siw's."""
    captures = [(path, expected(path)) for folder in ("forged", "weft", ".") for path in plainest_first(SAMPLES / folder)]
    return [(path, contents(path), broken) for path, broken in captures if broken is not None]


def plainest_first(folder):
    """story.pcap before story-markers.pcap."""
    return sorted(folder.glob("*.pcap"), key=lambda path: (len(path.name), path.name))


def link(capture):
    return f"[{capture.name}](../{capture.relative_to(ROOT)})"


def positive(clause, needs, captures):
    """The first capture in which the rule has something to judge and finds nothing."""
    return next((f"{link(path)}: {needs}" for path, has, broken in captures if needs in has and clause not in broken), "none")


def page(problems):
    catalogue = {row["id"]: row for name in CATALOGUE for row in rows(name)}
    wire = [clause for clause, row in catalogue.items() if row["observable"] == "wire"]
    judged, explained = rules(), {row["id"]: row for row in rows("audit.csv")}
    problems += [f"{clause}: a rule that no catalogue has" for clause in judged.keys() - catalogue.keys()]
    problems += [f"{clause}: shows on the wire, is no rule, and docs/clauses/audit.csv does not say why"
                 for clause in wire if clause not in judged and clause not in explained]
    problems += [f"{clause}: a rule, and explained away in docs/clauses/audit.csv" for clause in judged.keys() & explained.keys()]
    for row in explained.values():
        if row["kind"] == "judged":
            problems += [f"{row['id']}: judged by {rule}, which is no rule" for rule in row["detail"].split() if rule not in judged]
    needs = {clause: row["needs"] for row in rows("audit-samples.csv") for clause in row["rules"].split()}
    problems += [f"{clause}: a rule, and docs/clauses/audit-samples.csv does not say what it needs"
                 for clause in judged.keys() - needs.keys()]
    problems += [f"{clause}: no rule, and docs/clauses/audit-samples.csv has it" for clause in needs.keys() - judged.keys()]
    tested, captures = tests(), conforming()
    problems += [f"{clause}: a rule, and no test of tests/conformance/ has it as a tag" for clause in judged.keys() - tested.keys()]
    out = ["<!-- Written by docs/audit_coverage.py; a test checks that it is up to date. -->", "# What the auditor judges", "",
           f"{len(judged)} rules. {len(wire)} clauses of the catalogue show on the wire; those that are no rule of their own are",
           "listed below with the reason. A rule stands in [conformance/rules/](../conformance/rules), its tests in",
           "[tests/conformance/](../tests/conformance). Beside a capture that keeps the clause stands what in it the rule is about.",
           "", "| clause | RFC | what it asks for | rule | a capture that keeps it | a capture that breaks it | tests |",
           "|---|---|---|---|---|---|---|"]
    for clause, row in catalogue.items():
        if clause not in judged:
            continue
        sample = SAMPLES / "broken" / f"{clause.lower()}.pcap"
        if not sample.exists():
            problems.append(f"{clause}: no capture in pcap-samples/broken/ breaks it")
        kept = positive(clause, needs.get(clause), captures)
        cells = [clause, f"{row['rfc']} {row['section']}", row["requirement"], judged[clause], kept,
                 link(sample) if sample.exists() else "none", ", ".join(tested.get(clause, ["none"]))]
        out.append(f"| {' | '.join(cells)} |")
    for kind, title in KINDS.items():
        chosen = [row for clause, row in explained.items() if row["kind"] == kind]
        out += ["", f"## {title} ({len(chosen)})", ""]
        reasons = {}
        for row in chosen:
            reasons.setdefault((row["detail"], row["why"]), []).append(row["id"])
        out += [f"- {', '.join(clauses)}: {', '.join(detail.split()) if kind == 'judged' else detail}{f' ({why})' if why else ''}."
                for (detail, why), clauses in reasons.items()]
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
