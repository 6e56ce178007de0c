# SPDX-License-Identifier: Apache-2.0
"""One fault of a source file: a row of the table (table/), or one of a sample of one-token faults (sample.py)."""

import csv
import re
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CATALOGUES = ("mpa", "ddp", "rdmap", "rdmap_ext", "security")
COMMENT = re.compile(r'("(?:[^"\\\n]|\\.)*")|//[^\n]*|/\*.*?\*/', re.S)


@dataclass(eq=False)
class Fault:
    id: str
    path: str        # of the source file
    old: str         # an expression, or a statement if it ends with ";"
    new: str         # what it becomes
    near: str = ""   # where `old` stands more than once in the file: a text around it that does not
    group: str = ""
    clauses: list = field(default_factory=list)  # ids that fit a finding; "MPA-8*" stands for all that begin so
    what: str = ""   # what is wrong, in one sentence
    peer: str = "listens"  # the role of the program with the fault; the other is "connects"
    policy: str = ""       # what that program gets as --policy
    begin: int = -1  # where `old` stands in the file
    number: int = 0  # of the switch

    @property
    def end(self):
        return self.begin + len(self.old)

    def fits(self, clause):
        return any(clause.startswith(c[:-1]) if c.endswith("*") else clause == c for c in self.clauses)

    def find(self, text):
        """Sets `begin`. The answer: what is wrong with the row, or None."""
        near = self.near or self.old
        for inner, outer, where in ((near, text, self.path), (self.old, near, "the text around it")):
            if outer.count(inner) != 1:
                return f"{self.id}: stands {outer.count(inner)} times in {where}: {inner!r}"
        self.begin = text.index(near) + near.index(self.old)
        return None


class Table:
    """Faults, file by file. Their numbers are their places, from 1."""

    def __init__(self):
        self.rows = []

    def file(self, path):
        def add(name, group, clauses, what, old, new, near="", peer="listens", policy=""):
            self.rows.append(Fault(name, path, old, new, near, group, clauses.split(), what, peer, policy, number=len(self.rows) + 1))
        return add


def cross(one, other):
    """Whether they overlap, and neither lies in the other."""
    return one.begin < other.begin < one.end < other.end or other.begin < one.begin < other.end < one.end


def complaints(rows):
    """What is wrong with the table, held against today's sources and clauses. Finds the places of all rows."""
    wrong, known, before = [], set(), {}
    for name in CATALOGUES:
        with open(ROOT / "docs/clauses" / f"{name}.csv", newline="") as file:
            known |= {row["id"] for row in csv.DictReader(file)}
    for row in rows:
        wrong += [f"{row.id}: no such clause: {c}" for c in row.clauses if not any(k == c or (c[-1] == "*" and k.startswith(c[:-1])) for k in known)]
        if not (ROOT / row.path).is_file():
            wrong.append(f"{row.id}: no such file: {row.path}")
        elif missing := row.find((ROOT / row.path).read_text()):
            wrong.append(missing)
        else:
            wrong += [f"{row.id}: overlaps a part of {other.id}" for other in before.get(row.path, ()) if cross(row, other)]
            before.setdefault(row.path, []).append(row)
    if len({row.id for row in rows}) < len(rows):
        wrong.append("two rows have the same id")
    return wrong


def woven(text, faults):
    """The text with all of `faults`, each after its switch. Lines keep their numbers."""
    return _weave(text, 0, len(text), sorted(faults, key=lambda f: (f.begin, -f.end, f.number)))


def _weave(text, begin, end, faults):
    out, at = "", begin
    while faults:
        first, *faults = faults
        inner = [f for f in faults if f.end <= first.end]
        faults = [f for f in faults if f.end > first.end]
        old = _weave(text, first.begin, first.end, inner)
        new = " ".join(COMMENT.sub(lambda m: m.group(1) or " ", first.new).split("\n"))
        asked = f"weft_fault({first.number})"
        out += text[at:first.begin]
        if first.old.endswith(";"):
            out += f"{{ if ({asked}) {{ {new} }} else {{ {old} }} }}"
        else:
            out += f"(!{asked} && ({old}))" if new == "false" else f"({asked} ? ({new}) : ({old}))"
        at = first.end
    return out + text[at:end]
