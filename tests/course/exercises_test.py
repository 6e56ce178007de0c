#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does docs/course/check.py refuse wrong answers, and has each exercise a question and an answer? exercises_test.py WEFT. That it takes the
right answers lessons.py sees, which types those of docs/course/answers.md."""

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

STORY = str(check.SAMPLES / "forged/story.pcap")
OTHER = str(check.SAMPLES / "broken/mpa-4.4-13.pcap")  # the same story, with something else wrong
NOT_A_GET = str(check.SAMPLES / "01-rping.pcap")
NOTHING = "/dev/null"
WRONG = {
    "1.1": [["4"], ["five"], ["5", "5"]],
    "1.2": [["FILE", "0.5"], ["FILE"], [NOTHING, "1"], ["no such file", "1"]],
    "1.3": [["1.25", "2"], ["1.11"]],
    "2.1": [["28", "1"], ["32", "0"]],
    "2.2": [["1024"], ["1536"]],
    "2.3": [[STORY], [OTHER], [NOTHING], ["no such file"]],
    "3.1": [["142800"]],
    "3.2": [["1448"]],
    "3.3": [[STORY], [OTHER]],
    "4.1": [["17"]],
    "4.2": [["1"]],
    "4.3": [[STORY], [OTHER]],
    "5.1": [["1", "1", "01"], ["0", "1"]],
    "5.2": [[STORY], [OTHER]],
    "5.3": [["239"]],
    "6.1": [[NOT_A_GET], [NOTHING]],
    "6.2": [[NOT_A_GET, "1"], [NOTHING, "1"]],
    "6.3": [["TORN-NOT"], ["no such file"]],
}


def ask(exercise, words):
    return subprocess.run([sys.executable, "-B", COURSE / "check.py", exercise, *words], capture_output=True, text=True, check=False)


class Exercises(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.files = {name: str(Path(folder.name, name)) for name in ("FILE", "TORN", "TORN-NOT")}
        Path(self.files["FILE"]).write_text(json.dumps({"weft": 8000.0, "tcp": 6000.0}))
        Path(self.files["TORN"]).write_text("aaaa\nbbbb\naabb\n")
        Path(self.files["TORN-NOT"]).write_text("aaaa\nbbbb\nabc\n")

    def told(self, exercise, words):
        answer = ask(exercise, [self.files.get(word, word) for word in words])
        self.assertEqual(answer.stderr, "")
        self.assertTrue(answer.stdout.startswith(f"{exercise}: "), answer.stdout)
        return answer.returncode

    def test_refuse_wrong_answers(self):
        self.assertEqual(set(WRONG), set(check.EXERCISES))
        for exercise, answers in WRONG.items():
            for words in answers:
                with self.subTest(exercise=exercise, words=words):
                    self.assertEqual(self.told(exercise, words), 1)

    def test_take_right_answers_that_a_run_decides(self):
        self.assertEqual(self.told("1.2", ["FILE", "0.75"]), 0)
        self.assertEqual(self.told("6.3", ["TORN"]), 0)

    def test_are_asked_and_answered(self):
        lessons = "\n".join(page.read_text() for page in COURSE.glob("[1-9]-*.md"))
        answers = (COURSE / "answers.md").read_text()
        for exercise in check.EXERCISES:
            self.assertEqual(len(re.findall(rf"^\*\*{re.escape(exercise)}\*\* ", lessons, re.M)), 1, exercise)
            self.assertIn(f"docs/course/check.py {exercise} ", lessons)
            self.assertIn(f"\n**{exercise}** ", answers)
            if exercise != "6.3":  # for which a program has to be changed
                self.assertIn(f"\n$ docs/course/check.py {exercise} ", answers)

    def test_say_how_they_are_used(self):
        for words in ([], ["9.9", "1"], ["1.1"]):
            answer = subprocess.run([sys.executable, "-B", COURSE / "check.py", *words], capture_output=True, text=True, check=False)
            self.assertEqual((answer.returncode, answer.stdout), (2, ""))
            self.assertIn("usage:", answer.stderr)

    def test_know_the_size_of_an_entry(self):
        self.assertIn(f"An entry has {check.ENTRY:,} octets", (COURSE / "6-store.md").read_text())


if __name__ == "__main__":
    os.environ["PATH"] = f"{Path(sys.argv.pop(1)).resolve().parent}:{os.environ['PATH']}"
    unittest.main()
