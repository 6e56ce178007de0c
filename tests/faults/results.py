# SPDX-License-Identifier: Apache-2.0
"""What the prober said of each fault, as a table for people."""

from fault import GROUPS


def verdict_of(row, finding, sound):
    """(whether a clause that fits was named, the clauses that were, in words why not). `sound`: what is named without a fault."""
    named = sorted(finding.clauses - sound)
    fitting = [clause for clause in named if row.fits(clause)]
    if fitting:
        return True, fitting, ""
    if finding.trouble:
        return False, named, finding.trouble
    return False, named, row.hidden or ("no case is about these clauses" if finding.cases == 0 else "nothing that fits was named")


def share(outcomes):
    return sum(found for found, _, _ in outcomes.values()) / len(outcomes) if outcomes else 0.0


def listing(rows, outcomes):
    """One line for each fault that was tried."""
    return "\n".join(f"{'named' if outcomes[row.id][0] else 'MISSED':7} {row.id:34} {' '.join(outcomes[row.id][1]) or '-':40} {outcomes[row.id][2]}"
                     for row in rows if row.id in outcomes)


def markdown(rows, outcomes):
    found = sum(outcomes[row.id][0] for row in rows)
    lines = ["# Deliberate faults, and what `weft probe` calls them", "",
             "Each line is a fault that was put into a copy of weft ([tests/faults](../tests/faults/README.md)), one at a time: a check",
             "dropped, a code swapped, a bound moved by one. The prober is not told which. A fault counts as found when it names a clause",
             f"that fits. It found {found} of {len(rows)}, {100 * found / len(rows):.1f} %. `tests/faults/faults --report` writes this page.", ""]
    for group in GROUPS:
        of_group = [row for row in rows if row.group == group and outcomes[row.id][0]]
        lines += [f"## {group}", "", "| fault | what is wrong | where | named by |", "|---|---|---|---|"]
        lines += [f"| {row.id} | {cell(row.what)} | `{row.path}` | {', '.join(outcomes[row.id][1])} |" for row in of_group] + [""]
    lines += ["## Not found", "", "| fault | what is wrong | where | why |", "|---|---|---|---|"]
    lines += [f"| {row.id} | {cell(row.what)} | `{row.path}` | {cell(outcomes[row.id][2])} |" for row in rows if not outcomes[row.id][0]]
    return "\n".join(lines) + "\n"


def cell(text):
    return text.replace("|", "\\|").replace("\n", " ")
