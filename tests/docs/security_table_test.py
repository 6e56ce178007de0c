#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does docs/security_table.py see a clause of which nothing is known, a figure that is not in the code, and a page without its table?"""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "docs"))
import security_table  # noqa: E402
from rfc_map import Clause  # noqa: E402
from security_table import of_clause, of_problem, render, with_table, wrong_figures  # noqa: E402


def clause(**more):
    return Clause("X-9-01", "5042", "9", "MUST", "Something is kept.", True, **more)


def problem(detail, **clauses):
    return of_problem({"clause": "PS-7-99", "requirement": "It is so.", "status": "kept-by", "detail": detail}, clauses)


class Rows(unittest.TestCase):
    def test_of_a_tested_clause(self):
        row = of_clause(clause(code={"a.cpp": True}, tests={"b.cpp: C.D": True}), {})
        self.assertIsNone(row.fault())
        self.assertIn("| kept | `a.cpp` | `tests/b.cpp: C.D` |", render({"5042": [row], "4297": []}))

    def test_without_test_or_reason_are_a_fault(self):
        self.assertIn("X-9-01 is open", of_clause(clause(), {}).fault())
        self.assertIn("X-9-01 is untested", of_clause(clause(code={"a.cpp": True}), {}).fault())
        self.assertIsNone(of_clause(clause(), {"X-9-01": ("elsewhere", "a duty of the network")}).fault())

    def test_of_the_other_rfc_have_the_places_of_those_that_keep_them(self):
        kept = clause(code={"a.cpp": True}, tests={"b.cpp: C.D": True})
        self.assertEqual((problem("X-9-01", **{"X-9-01": kept}).code, problem("X-9-01", **{"X-9-01": kept}).fault()), (["a.cpp"], None))
        self.assertIsNotNone(problem("X-9-01", **{"X-9-01": clause()}).fault())
        self.assertIsNotNone(problem("X-9-02", **{"X-9-01": kept}).fault(), "there is no such clause")

    def test_share_a_reason_in_a_note(self):
        rows = [of_clause(clause(), {"X-9-01": ("elsewhere", "a duty of the network")}) for _ in range(2)]
        text = render({"5042": rows, "4297": []})
        self.assertEqual((text.count("(note 1)"), text.count("a duty of the network")), (2, 1))


class Page(unittest.TestCase):
    def test_has_its_table_between_the_marks(self):
        page = f"before\n{security_table.BEGIN}old{security_table.END}\nbehind\n"
        self.assertEqual(with_table(page, "new"), page.replace("old", "new"))
        with self.assertRaises(SystemExit):
            with_table("before\n", "new")

    def test_has_the_figures_of_the_code(self):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "a.hpp").write_text("constexpr int kMost =\n    256;  // and kTime{10}\n")

            def wrong(place):
                return list(wrong_figures(f"| what | 256 | | {place} |\n", Path(folder)))

            self.assertEqual(wrong("`a.hpp`: `kMost = 256`, `kTime{10}`"), [])
            self.assertEqual(len(wrong("`a.hpp`: `kMost = 512`, `kTime{10}`")), 1)
            self.assertEqual(len(wrong("`b.hpp`: `kMost = 256`")), 1)
            self.assertEqual(len(wrong("")), 1, "a table without places is not looked at")


if __name__ == "__main__":
    unittest.main()
