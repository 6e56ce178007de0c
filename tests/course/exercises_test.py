#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does docs/course/check.py refuse wrong answers, and has each exercise a question and an answer? exercises_test.py WEFT STORE LAB, the last two as
for lessons.py. That it takes the right answers lessons.py sees, which types those of docs/course/answers/README.md."""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COURSE = ROOT / "docs/course"
sys.path.insert(0, str(COURSE))
import check  # noqa: E402
import exercises  # noqa: E402

STORY = str(exercises.SAMPLES / "forged/story.pcap")
OTHER = str(exercises.SAMPLES / "broken/mpa-4.4-13.pcap")  # the same story, with something else wrong
NOT_A_GET = str(exercises.SAMPLES / "01-rping.pcap")
NOTHING = "/dev/null"
WRONG = {
    "0.1": [["iwarp", "roce", "infiniband"], ["iwarp"]],
    "0.2": [["6"], ["two"]],
    "1.1": [["4"], ["five"], ["5", "5"]],
    "1.2": [["ON", "OFF", "0.8"], ["ON", "OFF"], ["OFF", "ON", "0.2"], ["ON", "ON", "0.2"], [NOTHING, "OFF", "1"], ["ON", "no such file", "1"]],
    "1.3": [["1.25", "2"], ["1.11"]],
    "2.1": [["28", "1"], ["32", "0"]],
    "2.2": [["1024"], ["1536"]],
    "2.3": [[STORY], [OTHER], [NOTHING], ["no such file"]],
    "3.1": [["142800"]],
    "3.2": [["3", "2144"], ["3"]],
    "3.3": [[STORY], [OTHER]],
    "4.1": [["domain", "queue", "region", "pair", "manager"], ["domain"]],
    "4.2": [["192"]],
    "5.1": [["3", "8"], ["8"]],
    "5.2": [["1", "2", "3", "4", "5", "6"]],
    "5.3": [[STORY], [OTHER]],
    "5.4": [["send", "read", "write", "read"], ["read", "send", "write", "atomic"]],
    "5.5": [["abde"], ["bd"], ["b", "d", "e"]],
    "6.1": [["64", "8"], ["64"]],
    "6.2": [[STORY], [OTHER]],
    "6.3": [["239"]],
    "7.1": [[NOT_A_GET], [NOTHING]],
    "7.2": [[NOT_A_GET, "1"], [NOTHING, "1"]],
    "7.3": [["TORN-NOT"], ["no such file"]],
    "7.4": [["LAB/store_test"], ["no such file"], ["/bin/true"]],
    "7.5": [["LAB/store_test"], ["no such file"], ["/bin/true"]],
}


def ask(exercise, words):
    return subprocess.run([sys.executable, "-B", COURSE / "check.py", exercise, *words], capture_output=True, text=True, check=False)


class Exercises(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.files = {name: str(Path(folder.name, name)) for name in ("ON", "OFF", "TORN", "TORN-NOT", "ALL", "REPORT")}
        self.files |= {"LAB/store_test": f"{LAB}/store_test", "STORE/store_test": f"{STORE}/store_test"}
        Path(self.files["ON"]).write_text(json.dumps({"weft": 6000.0, "crc": True}))
        Path(self.files["OFF"]).write_text(json.dumps({"weft": 7500.0, "crc": False}))
        Path(self.files["TORN"]).write_text("aaaa\nbbbb\naabb\n")
        Path(self.files["TORN-NOT"]).write_text("aaaa\nbbbb\nabc\n")

    def told(self, exercise, words):
        """Whether the answer is taken."""
        return check.verdict(exercise, [self.files.get(word, word) for word in words])[0]

    def test_refuse_wrong_answers(self):
        self.assertEqual(set(WRONG), set(exercises.EXERCISES))
        for exercise, answers in WRONG.items():
            for words in answers:
                with self.subTest(exercise=exercise, words=words):
                    self.assertFalse(self.told(exercise, words))

    def test_take_right_answers_that_a_run_decides(self):
        self.assertTrue(self.told("1.2", ["ON", "OFF", "0.2"]))
        self.assertTrue(self.told("7.3", ["TORN"]))
        self.assertTrue(self.told("7.4", ["STORE/store_test"]))
        self.assertTrue(self.told("7.5", ["STORE/store_test"]))

    def test_are_checked_one_at_a_time(self):
        for words, code, said in ((["5"], 0, "1.1: right.\n"), (["4"], 1, "1.1: no.\n")):
            answer = ask("1.1", words)
            self.assertEqual((answer.returncode, answer.stdout, answer.stderr), (code, said, ""))

    def all_of(self, text):
        """(exit code, lines, report) of --all for a file with this text."""
        Path(self.files["ALL"]).write_text(text)
        run = ask("--all", [self.files["ALL"], "--report", self.files["REPORT"]])
        report = Path(self.files["REPORT"])
        return run.returncode, run.stdout.splitlines(), json.loads(report.read_text()) if report.exists() else run.stderr

    def test_are_graded_together(self):
        code, lines, report = self.all_of("# mine\n1.1 5\n2.1 28 1\n\n3.1\n1.3 'a' b  # a guess\n")
        self.assertEqual((code, len(lines)), (1, len(exercises.EXERCISES) + 1))
        self.assertEqual([line for line in lines if not line.endswith("no answer.")],
                         ["1.1: right.", "1.3: a is no number.", "2.1: no.", f"1 of {len(exercises.EXERCISES)} exercises are right"])
        self.assertEqual((report["right"], report["of"]), (1, len(exercises.EXERCISES)))
        self.assertEqual(report["exercises"]["2.1"], {"right": False, "said": "no."})
        self.assertEqual(set(report["exercises"]), set(exercises.EXERCISES))

    def test_are_all_right_with_exit_code_0(self):
        """The answers of docs/course/answers/README.md that no earlier command makes, as far as they go: with all of them nothing is wrong."""
        given = dict(re.findall(r"^\$ docs/course/check\.py (\S+) (.*)$", (COURSE / "answers/README.md").read_text(), re.M))
        given |= {"1.2": f"{self.files['ON']} {self.files['OFF']} 0.2", "7.3": self.files["TORN"],
                  **{number: self.files["STORE/store_test"] for number in ("7.4", "7.5")}}
        made = {exercise for exercise, words in given.items() if ".pcap" in words}  # lessons.py makes these captures
        code, lines, _ = self.all_of("\n".join(f"{exercise} {words}" for exercise, words in given.items() if exercise not in made))
        self.assertEqual((code, {line.split(":")[0] for line in lines[:-1] if not line.endswith(": right.")}), (1, made))

    def test_refuse_files_of_answers(self):
        for text in ("9.9 1", "1.1 5\n1.1 4", "1.1 'open"):
            code, lines, why = self.all_of(text)
            self.assertEqual((code, lines), (2, []))
            self.assertIn("check.py: ", why)
        self.assertEqual(ask("--all", ["no such file"]).returncode, 2)

    def test_are_listed(self):
        listed = ask("--list", []).stdout.splitlines()
        self.assertEqual(listed[1:], list(exercises.EXERCISES))

    def test_are_asked_and_answered(self):
        lessons = "\n".join(page.read_text() for page in COURSE.glob("[0-9]-*.md"))
        answers = (COURSE / "answers/README.md").read_text()
        for exercise in exercises.EXERCISES:
            self.assertEqual(len(re.findall(rf"^\*\*{re.escape(exercise)}\*\* ", lessons, re.M)), 1, exercise)
            self.assertIn(f"docs/course/check.py {exercise} ", lessons)
            self.assertIn(f"\n**{exercise}** ", answers)
            if exercise != "7.3":  # which chance decides
                self.assertIn(f"\n$ docs/course/check.py {exercise} ", answers)

    def test_say_how_they_are_used(self):
        for words in ([], ["9.9", "1"], ["1.1"], ["1.1", "5", "--report", "scores.json"]):
            answer = subprocess.run([sys.executable, "-B", COURSE / "check.py", *words], capture_output=True, text=True, check=False)
            self.assertEqual((answer.returncode, answer.stdout), (2, ""))
            self.assertIn("usage:", answer.stderr)

    def test_stand_beside_rows_of_the_tour(self):
        """Each lesson types `weft explain` once, and names a row of its page with the row's words after it."""
        tour = json.loads(subprocess.run([WEFT, "explain", "--demo", "--json"], capture_output=True, text=True, check=True).stdout)
        rows = [row["words"] for row in tour["connections"][0]["rows"]]
        for lesson in COURSE.glob("[0-9]-*.md"):
            text = " ".join(lesson.read_text().split())
            self.assertEqual(text.count("$ weft explain "), 1, lesson.name)
            named = re.findall(r"`weft-tour\.html#row=(\d+)&tab=(\w+)` \(", text)
            self.assertTrue(named, lesson.name)
            for row, tab in named:
                self.assertIn(tab, ("octets", "memory"))
                self.assertIn(f"`weft-tour.html#row={row}&tab={tab}` ({rows[int(row) - 1]})", text, lesson.name)

    def test_are_in_lessons_that_lead_to_their_neighbors(self):
        lessons = sorted(COURSE.glob("[0-9]-*.md"))
        title = {lesson: lesson.read_text().split("\n", 1)[0].removeprefix("# ") for lesson in lessons}
        for before, lesson, after in zip([None, *lessons], lessons, [*lessons[1:], None]):
            parts = [f"[Previous: {title[before]}]({before.name})"] if before else []
            parts += ["[Contents](../course/README.md)", *([f"[Next: {title[after]}]({after.name})"] if after else [])]
            self.assertEqual(lesson.read_text().splitlines()[-3:], ["---", "", " · ".join(parts)], lesson.name)

    def test_know_the_size_of_an_entry(self):
        self.assertIn(f"An entry has {exercises.ENTRY:,} octets", (COURSE / "7-store.md").read_text())


if __name__ == "__main__":
    WEFT, STORE, LAB = (Path(sys.argv.pop(1)).resolve() for _ in range(3))
    os.environ["PATH"] = f"{WEFT.parent}:{os.environ['PATH']}"
    unittest.main()
