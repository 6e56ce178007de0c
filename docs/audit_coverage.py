#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Maps each clause that shows on the wire to the rule of `weft audit` that checks it, or to the reason why no rule does.

    docs/audit_coverage.py               fail when a clause has neither a rule nor a reason, or a rule lacks a test or a breaking sample
    docs/audit_coverage.py --page FILE   write the map as a page (the `docs` target puts it into the site)

A rule is a clause id in a string of conformance/rules/. docs/clauses/audit.csv explains the other clauses; where several clauses state
one fact, its column `why` says why the rule has the clause that it has. The tests of a rule are those of
tests/conformance/clauses_*.cpp that have its clause as a tag. Its sample is the capture in pcap-samples/broken/ that has its name.
"""

import argparse
import re
import sys
from pathlib import Path

from probe_coverage import ID, clauses, rows
from rfc_map import ROOT

KINDS = {
    "judged": "Checked by another rule: the same octets violate both",
    "layout": "The layout itself",
    "freedom": "Optional: never flagged",
    "unseen": "Not visible in a capture",
    "outside": "Not iWARP over TCP",
}


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


def sample(clause):
    return f"pcap-samples/broken/{clause.lower()}.pcap"


def faults(catalogue, judged, tested, explained):
    for clause in judged:
        if clause not in catalogue:
            yield f"{clause}: a rule that no catalogue has"
        if clause in explained:
            yield f"{clause}: a rule, and explained away in docs/clauses/audit.csv"
        if clause not in tested:
            yield f"{clause}: a rule, and no test of tests/conformance/ has it as a tag"
        if not (ROOT / sample(clause)).exists():
            yield f"{clause}: {sample(clause)} does not exist"
    yield from (f"{clause}: shows on the wire, is no rule, and docs/clauses/audit.csv does not say why" for clause, row in catalogue.items()
                if row["observable"] == "wire" and clause not in judged and clause not in explained)
    yield from (f"{row['id']}: judged by {rule}, which is no rule" for row in explained.values() if row["kind"] == "judged"
                for rule in row["detail"].split() if rule not in judged)


def page(catalogue, judged, tested, explained):
    out = ["# Clauses and the rules of weft audit", "", f"{len(judged)} rules. A rule is in `conformance/rules/`, its tests in `tests/conformance/`.", "",
           "| clause | RFC | requirement | rule | a capture that violates it | tests |", "|---|---|---|---|---|---|"]
    out += [f"| {clause} | {row['rfc']} {row['section']} | {row['requirement']} | {judged[clause]} | `{sample(clause)}` | "
            f"{', '.join(tested.get(clause, []))} |" for clause, row in catalogue.items() if clause in judged]
    for kind, title in KINDS.items():
        chosen = [row for row in explained.values() if row["kind"] == kind]
        reasons = {}
        for row in chosen:
            reasons.setdefault((row["detail"], row["why"]), []).append(row["id"])
        out += ["", f"## {title} ({len(chosen)})", ""]
        out += [f"- {', '.join(names)}: {', '.join(detail.split()) if kind == 'judged' else detail}{f' ({why})' if why else ''}."
                for (detail, why), names in reasons.items()]
    return "\n".join(out) + "\n"


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--page", type=Path, metavar="FILE", help="write the map there")
    target = options.parse_args().page
    found = clauses(), rules(), tests(), {row["id"]: row for row in rows(ROOT / "docs/clauses/audit.csv")}
    wrong = list(faults(*found))
    if target:
        target.write_text(page(*found))
    print("\n".join(wrong) or f"{len(found[1])} rules, {len(found[3])} clauses with a reason for having none")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
