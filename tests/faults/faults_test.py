#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The table against today's sources, and the tool on peers and probers of a few lines."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import faulty  # noqa: E402
import prober  # noqa: E402
import results  # noqa: E402
import tree  # noqa: E402
from fault import GROUPS, Table, complaints  # noqa: E402
from table import FAULTS  # noqa: E402

# `weft probe-peer` and `weft probe` in one: the peer tells which fault it has, the prober writes what it hears of it.
STAND_IN = """#!/usr/bin/env python3
import json, os, socket, sys, time
words = sys.argv[1:]
if words[0] == "probe-peer":
    fault = os.environ.get("WEFT_FAULT", "none")
    if fault == "7":
        sys.exit("it dies")
    if "-c" in words:
        with socket.create_connection(("127.0.0.1", int(words[words.index("-p") + 1]))) as to:
            to.sendall(fault.encode())
        sys.exit()
    server = socket.create_server(("127.0.0.1", 0))
    print("listening on 127.0.0.1:%d" % server.getsockname()[1], flush=True)
    while True:
        with server.accept()[0] as client:
            client.sendall(fault.encode())
elif "--listen" in words:
    with socket.create_server(("127.0.0.1", 0)) as server:
        command = words[words.index("--run") + 1]
        os.system(command.replace("{host}", "127.0.0.1").replace("{port}", str(server.getsockname()[1])))
        heard = server.accept()[0].recv(9).decode()
else:
    host, port = words[1].rsplit(":", 1)
    heard = socket.create_connection((host, int(port))).recv(9).decode()
if heard == "6":
    time.sleep(60)
only = words[words.index("--only") + 1] if "--only" in words else "all"
cases = [{"clause": "MPA-4.4-18", "also": ["MPA-6-03"], "verdict": "fail" if heard == "1" else "pass"},
         {"clause": "DDP-3-04", "verdict": "not_applicable"}]
rules = [{"clause": "MPA-8-09", "verdict": "warn" if heard in ("2", "none") else "pass"}]
json.dump({"only": only, "cases": cases, "rules": rules}, open(words[words.index("--json") + 1], "w"))
"""


class Sources(unittest.TestCase):
    def test_are_found_where_git_knows_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("mpa/crc.cpp", "CMakeLists.txt", "build/rules.ninja", "build-asan/x.cpp", "tests/__pycache__/x.pyc"):
                path = Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.touch()
            self.assertEqual(sorted(tree.sources(Path(folder))), ["CMakeLists.txt", "mpa/crc.cpp"])


class TheTable(unittest.TestCase):
    def test_fits_todays_sources_and_clauses(self):
        self.assertEqual(complaints(FAULTS, faulty.ROOT), [])

    def test_is_as_long_as_it_is_to_be(self):
        self.assertGreaterEqual(len(FAULTS), 120)
        self.assertLessEqual(sum(bool(row.hidden) for row in FAULTS), len(FAULTS) // 20)
        self.assertGreater({row.peer for row in FAULTS}, {"listens"})

    def test_every_switch_is_woven_once(self):
        for path in {row.path for row in FAULTS}:
            text = faulty.woven(path, FAULTS)
            for row in FAULTS:
                self.assertEqual(text.count(f"weft_fault({row.number})"), row.path == path, row.id)


class Complaints(unittest.TestCase):
    def of(self, *rows, text="int a() { return 1 + 1; }\nint b() { return 2; }\n"):
        table = Table()
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            (root / "a.cpp").write_text(text)
            (root / "docs").symlink_to(faulty.ROOT / "docs")
            for row in rows:
                table.file("a.cpp")(*row)
            return [c for c in complaints(table.rows, root) if "fewer than two" not in c]

    def test_a_row_that_fits_has_none(self):
        self.assertEqual(self.of(("x", GROUPS[0], "MPA-4.4-18 DDP-7.2-*", "It is wrong.", "return 2;", "return 3;")), [])

    def test_each_has_its_words(self):
        good = ("x", GROUPS[0], "MPA-4.4-18", "It is wrong.", "return 2;", "return 3;")
        for expected, rows in (
                ("two rows", [good, good]), ("stands 0 times", [good[:4] + ("return 4;", "")]), ("stands 2 times", [good[:4] + ("return", "throw")]),
                ("no such group", [("x", "tea") + good[2:]]), ("no such clause", [good[:2] + ("MPA-99-*",) + good[3:]]),
                ("no sentence", [good[:3] + ("wrong",) + good[4:]]), ("are the same", [good[:5] + ("return 2;",)]),
                ("overlaps", [good[:4] + ("b() { return", "c"), ("y",) + good[1:]])):
            self.assertTrue(any(expected in c for c in self.of(*rows)), expected)


class Weaving(unittest.TestCase):
    def test_expressions_and_statements(self):
        table = Table()
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "a.cpp").write_text("int a(int x) {\n  if (x > 0) return x + 1;\n  return 0;\n}\n")
            add = table.file("a.cpp")
            add("x", "g", "C", "S.", "x > 0", "x >= 0")
            add("y", "g", "C", "S.", "if (x > 0) return x + 1;", "return -1;")
            for number, row in enumerate(table.rows, 1):
                row.number = number
            self.assertEqual(faulty.woven("a.cpp", table.rows, Path(folder)),
                             "int a(int x) {\n  { if (weft_fault(2)) { return -1; } else { if ((weft_fault(1) ? (x >= 0) : (x > 0))) return x + 1; } }\n"
                             "  return 0;\n}\n")


class Trying(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.weft = Path(folder.name) / "weft"
        self.weft.write_text(STAND_IN)
        self.weft.chmod(0o755)

    def row(self, number, clauses="MPA-4.4-18", peer="listens"):
        table = Table()
        table.file("a.cpp")("x", GROUPS[3], clauses, "It is wrong.", "a", "b", peer=peer)
        table.rows[0].number = number
        return table.rows[0]

    def outcome(self, row, seconds=20.0):
        sound = prober.try_peer(self.weft, self.weft, None, row.peer, "", [], 20.0)
        return results.verdict_of(row, prober.try_peer(self.weft, self.weft, row.number, row.peer, "", row.clauses, seconds), sound.clauses)

    def test_what_fits_is_found_in_both_roles(self):
        for peer in ("listens", "connects"):
            self.assertEqual(self.outcome(self.row(1, peer=peer))[:2], (True, ["MPA-4.4-18"]))
        self.assertEqual(self.outcome(self.row(1, "MPA-6-*"))[:2], (True, ["MPA-6-03"]))

    def test_what_does_not_fit_is_missed(self):
        self.assertEqual(self.outcome(self.row(1, "MPA-8-02")), (False, ["MPA-4.4-18", "MPA-6-03"], "nothing that fits was named"))

    def test_what_is_named_without_a_fault_counts_for_none(self):
        self.assertEqual(self.outcome(self.row(2, "MPA-8-09"))[:2], (False, []))

    def test_a_peer_that_dies_and_a_prober_that_hangs_are_told(self):
        self.assertIn("does not come to listen", self.outcome(self.row(7))[2])
        self.assertIn("was not done after", self.outcome(self.row(6), 1.0)[2])

    def test_the_page_has_every_fault(self):
        rows, outcomes = FAULTS, {row.id: (row.number % 2 == 0, [row.clauses[0]], "because") for row in FAULTS}
        page = results.markdown(rows, outcomes)
        for row in rows:
            self.assertEqual(page.count(f"| {row.id} |"), 1)
        self.assertAlmostEqual(results.share(outcomes), sum(row.number % 2 == 0 for row in rows) / len(rows))


if __name__ == "__main__":
    unittest.main()
