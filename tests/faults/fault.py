# SPDX-License-Identifier: Apache-2.0
"""A row of the table: one deliberate fault of the stack, and what a prober may call it."""

import csv
from dataclasses import dataclass

# What the rules of the RFCs are about: each group has two faults at least.
GROUPS = ("start-up frame", "negotiation", "FPDU", "CRC", "Markers", "DDP header", "tagged placement", "untagged queues",
          "rights and bounds", "RDMAP header", "Send and Invalidate", "Read", "Write", "Terminate", "ordering", "close", "atomics",
          "Immediate Data", "resources")
CATALOGUES = ("mpa", "ddp", "rdmap", "rdmap_ext", "security")


@dataclass
class Fault:
    id: str
    path: str      # of the source file
    group: str
    clauses: list  # ids that fit a finding; one that ends with "*" stands for all that begin so
    what: str      # one sentence: what is wrong
    old: str       # the text that the fault replaces
    new: str
    near: str      # where `old` stands more than once in the file: a text around it that does not
    peer: str      # the role of the program with the fault: it "listens" or "connects"
    policy: str    # what that program is started with, for --policy
    hidden: str    # why nothing outside can tell
    number: int = -1  # of the switch

    def fits(self, clause):
        return any(clause.startswith(c[:-1]) if c.endswith("*") else clause == c for c in self.clauses)

    @property
    def is_statement(self):
        return self.old.endswith(";")


class Table:
    """Faults, file by file."""

    def __init__(self):
        self.rows = []

    def file(self, path):
        def add(name, group, clauses, what, old, new, near="", peer="listens", policy="", hidden=""):
            self.rows.append(Fault(name, path, group, clauses.split(), what, old, new, near or old, peer, policy, hidden))
        return add


def place_of(fault, text):
    """(begin, end) of the old text in the file, or what is wrong with the row."""
    for inner, outer, where in ((fault.near, text, fault.path), (fault.old, fault.near, "the text around it")):
        if outer.count(inner) != 1:
            return f"{fault.id}: stands {outer.count(inner)} times in {where}: {inner!r}"
    begin = text.index(fault.near) + fault.near.index(fault.old)
    return begin, begin + len(fault.old)


def catalogue(root):
    """The ids of all clauses."""
    ids = set()
    for name in CATALOGUES:
        with open(root / "docs/clauses" / f"{name}.csv", newline="") as file:
            ids |= {row["id"] for row in csv.DictReader(file)}
    return ids


def complaints(rows, root):
    """What is wrong with the table, as it stands against today's sources and clauses."""
    wrong, clauses, places = [], catalogue(root), {}
    for name in sorted({r.id for r in rows if sum(r.id == other.id for other in rows) > 1}):
        wrong.append(f"{name}: two rows have this id")
    for group in GROUPS:
        if sum(row.group == group for row in rows) < 2:
            wrong.append(f"{group}: fewer than two faults")
    for row in rows:
        wrong += [f"{row.id}: no such {kind}: {value}" for kind, value, known in
                  (("group", row.group, GROUPS), ("role", row.peer, ("listens", "connects"))) if value not in known]
        wrong += [f"{row.id}: no such clause: {c}" for c in row.clauses
                  if not any(known == c or (c.endswith("*") and known.startswith(c[:-1])) for known in clauses)]
        wrong += [f"{row.id}: {missing}" for missing, there in
                  (("no clause", row.clauses), ("no sentence", row.what.endswith(".")),
                   ("old and new are the same", row.old != row.new)) if not there]
        if not (root / row.path).is_file():
            wrong.append(f"{row.id}: no such file: {row.path}")
            continue
        place = place_of(row, (root / row.path).read_text())
        if isinstance(place, str):
            wrong.append(place)
            continue
        for other, (begin, end) in places.setdefault(row.path, {}).items():
            if place[0] < end and begin < place[1] and not within(place, (begin, end)) and not within((begin, end), place):
                wrong.append(f"{row.id}: overlaps a part of {other}")
        places[row.path][row.id] = place
    return wrong


def within(inner, outer):
    return outer[0] <= inner[0] and inner[1] <= outer[1]
