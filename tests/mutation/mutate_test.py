#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tool on a toy: what faults it finds, that the switch holds them, who notices what, and what is kept of it."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import faults  # noqa: E402
import results  # noqa: E402
import trial  # noqa: E402
import weave  # noqa: E402

COMPILER = sys.argv.pop(1) if len(sys.argv) > 1 and not sys.argv[1].startswith("-") else "g++"
HEADER, PROGRAM = HERE / "toy/toy.hpp", HERE / "toy/toy_test.cpp"


def toys_faults():
    text = HEADER.read_text()
    found = faults.faults_of("toy.hpp", text, faults.enumerators([text]))
    for number, fault in enumerate(found):
        fault.number = number
    return text, found


def compiled(folder, text, switch=True):
    (folder / "toy.hpp").write_text(text)
    (folder / "toy_test.cpp").write_text(PROGRAM.read_text())
    program = folder / "toy_test"
    subprocess.run([COMPILER, "-std=c++23", "-O0", "-w", *(["-include", HERE / "switch.hpp"] if switch else []),
                    folder / "toy_test.cpp", "-o", program], check=True)
    return program


class Finding(unittest.TestCase):
    def setUp(self):
        self.text, self.found = toys_faults()

    def of(self, kind):
        return sorted((f.before, f.after) for f in self.found if f.kind == kind)

    def test_each_kind_has_its_faults(self):
        self.assertEqual(self.of("relation"), [("<", "<="), (">", ">=")])
        self.assertEqual(self.of("logic"), [("||", "&&")])
        self.assertEqual(self.of("equality"), [("==", "!=")])
        self.assertEqual(self.of("arithmetic"), [("+", "-"), ("+=", "-="), ("/", "*")])
        self.assertEqual(self.of("code"), [("kEmpty", "kTooLarge"), ("kFull", "kEmpty"), ("kTooLarge", "kFull")])
        self.assertEqual([before for before, _ in self.of("statement")],
                         ["sum_ += value;", "values_.pop_back();", "values_.push_back(value);"])
        self.assertEqual(len(self.of("check")), 4)
        self.assertEqual(len(self.of("constant")), 6)

    def test_what_the_compiler_computes_is_compiled_in(self):
        self.assertEqual([f.before for f in self.found if not f.switched], ["9"])

    def test_keys_stay_when_lines_move(self):
        moved = faults.faults_of("toy.hpp", self.text.replace("namespace toy", "\n\nnamespace toy", 1), faults.enumerators([self.text]))
        self.assertEqual([f.key for f in moved], [f.key for f in self.found])
        self.assertEqual([f.line for f in moved], [f.line + 2 for f in self.found])
        self.assertEqual(len({f.key for f in moved}), len(moved))

    def test_weaving_keeps_the_lines(self):
        woven = weave.with_switches(self.text, [f for f in self.found if f.switched])
        self.assertEqual(woven.count("\n"), self.text.count("\n"))


class Trying(unittest.TestCase):
    def test_the_switch_says_what_compiling_in_says(self):
        text, found = toys_faults()
        switched = [f for f in found if f.switched]
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            program = compiled(folder, weave.with_switches(text, switched))
            reached = folder / "reached"
            self.assertTrue(trial.run(program, trial.Limits(), reached=reached).passed)
            runs = {f.key: trial.run(program, trial.Limits(5, 5), fault=f.number) for f in switched}
            lines = {int(line) for line in reached.read_text().split()}
            single = next(f for f in switched if f.kind == "relation")
            self.assertFalse(trial.run(compiled(folder, weave.with_fault(text, single), switch=False), trial.Limits()).passed)
        survived = {(f.kind, f.before) for f in switched if runs[f.key].passed}
        # No test looks at sum_ and mean().
        self.assertEqual(survived, {("statement", "sum_ += value;"), ("arithmetic", "+="), ("arithmetic", "+"), ("arithmetic", "/"),
                                    ("constant", "0"), ("constant", "1"), ("constant", "2")})
        in_mean = [f.number for f in switched if "int mean()" in f.text]
        self.assertFalse(lines & set(in_mean))
        in_a_child = next(f for f in switched if f.before == "kEmpty")
        self.assertIn(in_a_child.number, lines)
        noticed = next(f for f in switched if f.kind == "logic")
        self.assertEqual((runs[noticed.key].test, Path(runs[noticed.key].place).name), ("Toy.Test", "toy_test.cpp"))

    def test_a_loop_without_end_is_bounded(self):
        with tempfile.TemporaryDirectory() as name:
            program = Path(name) / "loop"
            program.write_text("#!/bin/sh\nwhile :; do :; done\n")
            program.chmod(0o755)
            self.assertTrue(trial.run(program, trial.Limits(60, 1)).timed_out)
            program.write_text("#!/bin/sh\nsleep 60\n")
            self.assertTrue(trial.run(program, trial.Limits(0.2, 60)).timed_out)


class Keeping(unittest.TestCase):
    def test_a_result_holds_until_what_it_came_from_changes(self):
        _, found = toys_faults()
        with tempfile.TemporaryDirectory() as name:
            root = Path(name)
            (root / "tests/toy").mkdir(parents=True)
            for path in ("toy.hpp", "tests/toy/a_test.cpp", "tests/toy/b_test.cpp"):
                (root / path).write_text("1")
            kept = results.Results(root / "results.json", root)
            kept.add("toy", found[0], "noticed", ["tests/toy"], "a_test", "tests/toy/a_test.cpp")
            kept.add("toy", found[1], "survived", ["tests/toy"])
            kept.save()
            self.assertEqual(self.holding(root, found), [True, True])
            (root / "tests/toy/b_test.cpp").write_text("2")
            self.assertEqual(self.holding(root, found), [True, False], "another test might notice it now")
            (root / "tests/toy/a_test.cpp").write_text("2")
            self.assertEqual(self.holding(root, found), [False, False])
            (root / "tests/toy/a_test.cpp").write_text("1")
            (root / "toy.hpp").write_text("2")
            self.assertEqual(self.holding(root, found), [False, False])

    @staticmethod
    def holding(root, found):
        again = results.Results(root / "results.json", root)
        return [again.known(f, ["tests/toy"]) is not None for f in found[:2]]

    def test_the_report_counts(self):
        def result(outcome, before):
            return {"room": "toy", "path": "t.hpp", "line": 3, "column": 7, "text": "x", "kind": "code", "before": before, "after": "b",
                    "outcome": outcome}
        tried = [result("noticed", "a"), result("timed out", "a"), result("survived", "c"), result("survived", "d"),
                 result("not compiled", "e")]
        text, data = results.report(tried, {("t.hpp", "x", 7, "d", "b"): "reason"}, {"title": "T", "text": ""})
        self.assertEqual(data["rooms"]["toy"], {"tried": 4, "noticed": 2, "equivalent": 1, "survived": 1, "percent": 66.7})
        self.assertIn("- t.hpp:3:7 code: `c` -> `b` in `x`\n", text)
        self.assertIn("`d` -> `b` in `x`: reason", text)


class Equivalents(unittest.TestCase):
    def test_the_list_names_faults_that_there_are(self):
        import plan
        listed = results.equivalents(HERE / "equivalent.csv")
        enums = faults.enumerators(p.read_text() for p in sorted(plan.ROOT.glob("*/*.hpp")) + sorted(plan.ROOT.glob("verbs/*/*.hpp")))
        for path in {name[0] for name in listed}:
            there = {(f.path, f.text, f.column, f.before, f.after) for f in faults.faults_of(path, (plan.ROOT / path).read_text(), enums)}
            for name in listed:
                self.assertTrue(name[0] != path or name in there, f"equivalent.csv: no such fault: {name}")


if __name__ == "__main__":
    unittest.main()
