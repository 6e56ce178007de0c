#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Are commands found in documents, does a document that changes make lint_commands fail, and is a build that warns a dead end?"""

import subprocess
import tempfile
import unittest

import picture
import plan
import recording
import terminal
import walk
from commands import of_document

TEXT = """# A page

Type

    first --option     # why
    second \\
        --continued

- an item

and a figure

```
in a fence
```

    #!/bin/sh
    third
"""
SESSION = """Type

```console
$ first | \\
    second
one
$ third
```

```text
a figure
```
"""
MANUAL = '.SH EXAMPLES\n.nf\nweft run \\-\\- rping\n.fi\n.SH "SEE ALSO"\n'


def row(begins, **values):
    return plan.Row("page.md", begins, values, "how" in values)


def faults(*table, names=()):
    return list(plan.faults(of_document("page.md", TEXT), table, names))


class Commands(unittest.TestCase):
    def test_are_taken_from_text(self):
        found = [(command.line, command.text) for command in of_document("page.md", TEXT)]
        self.assertEqual(found, [(5, "first --option     # why"), (6, "second \\\n    --continued"), (14, "in a fence"), (17, "#!/bin/sh"), (18, "third")])

    def test_are_taken_from_sessions(self):
        found = [(command.line, command.text) for command in of_document("page.md", SESSION)]
        self.assertEqual(found, [(4, "first | \\\n    second"), (7, "third")])

    def test_are_taken_from_manual_pages(self):
        self.assertEqual([(command.line, command.text) for command in of_document("weft.1", MANUAL)], [(3, "weft run -- rping")])


class Tables(unittest.TestCase):
    all_rows = (row("first", how="run"), row("second", how="run"), row("in a fence", scope="command", where="a figure"), row("#!/bin/sh", how="file a"))

    def test_that_have_everything_are_right(self):
        self.assertEqual(faults(*self.all_rows), [])

    def test_that_lack_a_command_are_wrong(self):
        self.assertEqual(faults(*self.all_rows[:2], self.all_rows[3]), ["page.md:14: neither in_root.csv nor elsewhere.csv has \"in a fence\""])

    def test_that_name_what_is_gone_are_wrong(self):
        self.assertEqual(faults(*self.all_rows, row("fourth", scope="block", where="nowhere")), ['elsewhere.csv: page.md has no command that begins with "fourth"'])
        gone = row("in a fence", scope="command", where="ctest gone: it was")
        self.assertEqual(faults(*self.all_rows[:2], gone, self.all_rows[3], names={"here"}), ['elsewhere.csv: page.md, "in a fence": there is no ctest entry gone'])

    def test_that_replace_what_is_not_there_are_wrong(self):
        wrong = row("first", how="run", **{"with": "--option=--other; file=a"})
        self.assertEqual(faults(wrong, *self.all_rows[1:]), ['in_root.csv: "file" is not in "first --option     # why" (page.md:5)'])

    def test_more_words_win(self):
        table = (row("first", how="run"), row("first --option", how="install"))
        self.assertEqual(plan.row_of(next(of_document("page.md", TEXT)), table), table[1])


class SaysAlways:
    """A shell that says the same whatever is typed."""

    def __init__(self, words):
        self.words = words

    def start(self, text, keep, inside):
        log = tempfile.TemporaryFile()
        process = subprocess.Popen(["printf", "%s\\n", self.words], stdin=subprocess.DEVNULL, stdout=log, start_new_session=True)
        process.log = log
        return process


class Typed(unittest.TestCase):
    warning = "[3/9] Linking CXX executable tools/weft\nengine/a.cpp:7:3: warning: 'x' may be used uninitialized\n" + "[4/9] Building\n" * 1000

    @staticmethod
    def fault(text, words):
        return walk.Walk(SaysAlways(words)).run(text, 0, "", False)

    def test_a_build_that_warns_is_a_dead_end(self):
        for text in ("./demo      # builds", "cmake --preset release && cmake --build build", "c++ -std=c++23 a.cpp"):
            self.assertEqual(self.fault(text, self.warning), "it warns:\nengine/a.cpp:7:3: warning: 'x' may be used uninitialized")
            self.assertIsNotNone(self.fault(text, "/usr/bin/ld: warning: liba.so needs libb.so"))

    def test_a_build_that_does_not_is_none(self):
        self.assertIsNone(self.fault("./demo", "[3/9] Linking CXX executable tools/weft\n0 warnings"))
        self.assertIsNone(self.fault("weft audit a.pcap", "warning: of an audit"))


class Terminal(unittest.TestCase):
    def test_has_what_stands_there_at_the_end(self):
        lines = terminal.lines_of("[1/2] long\r[2/2]\x1b[K\r\n\x1b[1;31mbad\x1b[0m good\r\n")
        self.assertEqual(lines, [[((), "[2/2]")], [(("1", "31"), "bad"), ((), " good")]])

    def test_breaks_long_lines(self):
        self.assertEqual([len(terminal.plain(line)) for line in terminal.lines_of("x" * (terminal.COLUMNS + 1))], [terminal.COLUMNS, 1])

    def test_picture_has_its_text(self):
        lines = terminal.lines_of("a <b> & \x1b[31mc\x1b[0m\r\n\r\n  d")
        self.assertEqual(picture.text_of(picture.svg(lines, 80, "t")), ["a <b> & c", "", "  d"])


class Recording(unittest.TestCase):
    def test_forgives_what_varies_and_no_more(self):
        self.assertEqual(recording.normal(["127.0.0.1:4711 in 3.2 ms"]), recording.normal(["127.0.0.1:4712 in 12 ms", ""]))
        self.assertNotEqual(recording.normal(["3 violations"]), recording.normal(["2 violations"]))

    def test_leaves_out_the_middle(self):
        lines = terminal.lines_of("[1/2] cc\r\nping data: 0\r\nping data: 1\r\nping data: 2\r\nping data: 3\r\nping data: 4\r\nend\r\n")
        self.assertEqual([terminal.plain(line) for line in recording.shortened(lines)],
                         ["[...]", "ping data: 0", "ping data: 1", "ping data: 2", "[...]", "end"])


if __name__ == "__main__":
    unittest.main()
