#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Do lessons.py and figures.py see that a page is wrong?"""

import re
import tempfile
import unittest
from pathlib import Path

import figures
import lessons
from plan import Row

FIGURE = "before\n<!-- figure sizes -->\n| 1 |\n<!-- end of the figure -->\nbehind\n"
PAGE = """# A page

<!-- varies: times -->
```console
$ echo "in 0.4 s"
in 0.2 s
$ export A=1; echo one; \\
    echo two
one
two
$ exit $((A + 2))
```

```text
$ exit 9
```
"""
TABLE = [Row("docs/course/page.md", "exit", {"how": "run 3"}, True)]


def walked(text, table=()):
    with tempfile.TemporaryDirectory() as folder:
        desk = lessons.Desk(folder, "/bin/true", folder)
        page = lessons.Page("page.md", text, desk, list(table))
        now = page.walk()
    return page, now


class Lessons(unittest.TestCase):
    def test_that_are_right(self):
        page, now = walked(PAGE, TABLE)
        self.assertEqual((page.faults, page.typed, now), ([], 3, PAGE))

    def test_a_line_that_differs_is_a_fault_and_is_mended(self):
        page, now = walked(PAGE.replace("\ntwo\n", "\nthree\n"), TABLE)
        self.assertEqual((len(page.faults), now), (1, PAGE))

    def test_a_line_too_many_or_missing_is_a_fault(self):
        for text in (PAGE.replace("\ntwo\n", "\n"), PAGE.replace("\ntwo\n", "\ntwo\ntwo\n")):
            self.assertEqual(len(walked(text, TABLE)[0].faults), 1)

    def test_an_exit_code_is_a_fault(self):
        self.assertIn("exit code 3 instead of 0", walked(PAGE)[0].faults[0])

    def test_what_is_not_said_to_vary_does_not(self):
        self.assertEqual(len(walked(PAGE.replace("varies: times", "varies: ports"), TABLE)[0].faults), 1)


class Masks(unittest.TestCase):
    def same(self, name, one, other):
        return lessons.masked([one], [name]) == lessons.masked([other], [name])

    def test_forgive_what_they_name_and_no_more(self):
        self.assertTrue(self.same("ports", "127.0.0.1:4711 and port 4711", "127.0.0.1:12 and port 9"))
        self.assertFalse(self.same("ports", "10.0.0.1:4711", "10.0.0.1:4712"))
        self.assertTrue(self.same("times", "in 0.02 s", "in 11 s"))
        self.assertFalse(self.same("times", "2 sheep", "3 sheep"))
        self.assertTrue(self.same("figures", "a 1,000.5 of 7", "a 2 of 8"))
        self.assertFalse(self.same("figures", "a crc32c of x86", "a crc32d of x87"))
        self.assertTrue(self.same("memory", "0x0123456789ab", "0x00112233"))
        self.assertFalse(self.same("memory", "0x12", "0x13"))

    def test_are_in_the_readme(self):
        text = (lessons.ROOT / "docs/course/README.md").read_text()
        self.assertEqual(set(lessons.MASKS), set(re.findall(r"`(\w+)`", "".join(re.findall(r"^\| (`.*?) \|", text, re.M)))))

    def test_that_pages_name_exist(self):
        for path in Path(lessons.ROOT, "docs/course").glob("*.md"):
            for names in re.findall(r"^<!-- varies: (.*) -->$", path.read_text(), re.M):
                self.assertLessEqual(set(names.split(", ")), set(lessons.MASKS), path.name)


class Figures(unittest.TestCase):
    now = {"sizes": "| 1 |\n"}

    def test_that_are_right(self):
        self.assertEqual(list(figures.faults("page.md", FIGURE, self.now)), [])

    def test_another_number_is_a_fault_and_is_mended(self):
        wrong = FIGURE.replace("| 1 |", "| 2 |")
        self.assertEqual(len(list(figures.faults("page.md", wrong, self.now))), 1)
        self.assertEqual(figures.with_figures(wrong, self.now), FIGURE)

    def test_an_unknown_figure_or_a_lost_mark_is_a_fault(self):
        self.assertEqual(len(list(figures.faults("page.md", FIGURE, {}))), 1)
        self.assertEqual(len(list(figures.faults("page.md", FIGURE.replace("end of the figure", "end"), self.now))), 1)


if __name__ == "__main__":
    unittest.main()
