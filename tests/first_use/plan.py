#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What becomes of each command of the documents: in_root.csv says how it runs in the clean root, elsewhere.csv what tries it instead, or
why nothing can. As a program (ctest: lint_commands): each command is in one of the two, and each row stands for a command.

  in_root.csv    document, begins, how, with, other
    how     run [CODE]    ends by itself, with this exit code (0)
            install       the same, and may use the network of the machine: apt does
            serve         waits for `other`, its peer, or for the command after it, and then ends by itself
            serve stop    the same, but has to be stopped
            file NAME     the whole block becomes this file
    with    A=B; ...      words of the text that are a reader's own, and what stands for them here
    other   the other end: the client of a server, the server of a client; of a file the command that uses it
  elsewhere.csv  document, begins, scope, where
    scope   command, or block: the whole block that begins so
    where   `ctest NAME`: the entry that tries the same; else the reason why it is not tried
"""

import csv
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from commands import ROOT, all_commands

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True, eq=False)
class Row:
    document: str
    begins: str
    values: dict
    in_root: bool

    def whole_block(self):
        return self.values.get("scope") == "block" or self.values.get("how", "").startswith("file ")

    def stands_for(self, command):
        text = command.block[0] if self.whole_block() else command.text
        return command.document == self.document and spaced(text).startswith(spaced(self.begins))


def spaced(text):
    return " ".join(text.split())


def rows(name, in_root):
    with (HERE / name).open(newline="") as file:
        lines = (line for line in file if not line.startswith("#"))
        return [Row(values["document"], values["begins"], values, in_root) for values in csv.DictReader(lines)]


def all_rows():
    return rows("in_root.csv", True) + rows("elsewhere.csv", False)


def row_of(command, table):
    """The row with the most words, or None."""
    return max((row for row in table if row.stands_for(command)), key=lambda row: len(row.begins), default=None)


def exchanges(words):
    """"theirs=ours; theirs=ours" as pairs: what stands in the document, and what is typed for it."""
    return [word.strip().split("=", 1) for word in words.split(";") if word.strip()]


def entries(root=ROOT):
    """Names of ctest entries, as far as a CMakeLists.txt has them in full."""
    text = "\n".join(path.read_text() for path in (root / "tests").rglob("CMakeLists.txt"))
    lints = re.findall(r"\bweft_lint\((\w+) ", text)
    return {*re.findall(r"(?:\bNAME |\bweft_\w*test\()(\w+)[ )]", text), *(f"lint_{name}" for name in lints)}


def faults(commands, table, names):
    """A sentence for each thing that is wrong."""
    used = set()
    for command in commands:
        row = row_of(command, table)
        used.add(row)
        if row is None:
            yield f"{command.place}: neither in_root.csv nor elsewhere.csv has \"{command.text.splitlines()[0]}\""
            continue
        for theirs, _ in exchanges(row.values.get("with") or ""):
            if theirs not in command.text:
                yield f"in_root.csv: \"{theirs}\" is not in \"{command.text.splitlines()[0]}\" ({command.place})"
    for row in table:
        if row not in used:
            yield f"{'in_root' if row.in_root else 'elsewhere'}.csv: {row.document} has no command that begins with \"{row.begins}\""
        entry = re.match(r"ctest (\w+)", row.values.get("where", ""))
        if entry and entry[1] not in names:
            yield f"elsewhere.csv: {row.document}, \"{row.begins}\": there is no ctest entry {entry[1]}"


def main():
    commands, table = list(all_commands()), all_rows()
    found = list(faults(commands, table, entries()))
    tried = sum(row_of(command, table) is not None and row_of(command, table).in_root for command in commands)
    print("\n".join(found) or f"{len(commands)} commands in documents: {tried} run in the clean root, {len(commands) - tried} are accounted for")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
