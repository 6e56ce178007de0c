# SPDX-License-Identifier: Apache-2.0
"""The copy of weft that has all faults of the table, each behind its switch, and its build: the machinery of tests/mutation."""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/mutation"))
import faults as mutation  # noqa: E402
import weave  # noqa: E402
from fault import place_of  # noqa: E402
from tree import Tree  # noqa: E402

FLAGS = "-O1 -g0 -w -include {tree}/tests/mutation/switch.hpp"
SETTINGS = ("-DWEFT_TESTS=OFF", "-DWEFT_LABORATORY=OFF")  # the laboratory is compiled by a compiler of its own, which knows no switch


def as_mutation(fault, text):
    """A row of the table as a fault of tests/mutation: the whole of its old text is what the switch chooses by."""
    begin, end = place_of(fault, text)
    return mutation.Fault(path=fault.path, kind="replacement", start=begin, end=end, before=fault.old, after=fault.new, region=(begin, end),
                          how="instead" if fault.is_statement else "choose", switched=True, number=fault.number)


def woven(path, rows, root=ROOT):
    """The source file with those of `rows` that belong to it."""
    text = (root / path).read_text()
    return weave.with_switches(text, [as_mutation(row, text) for row in rows if row.path == path])


def build(rows, work, jobs=None):
    """The path of `weft` with all faults. Nothing is done where nothing has changed."""
    tree = Tree(ROOT, work, jobs or os.cpu_count(), FLAGS, SETTINGS)
    paths = sorted({row.path for row in rows})
    tree.copy(besides=set(paths))
    for path in paths:
        tree.write(path, woven(path, rows))
    tree.configure()
    output, built = tree.make(["weft"])
    if not built:
        sys.exit(output[-6000:] + "\nthe copy with all faults does not build")
    return tree.build / "tools/weft"
