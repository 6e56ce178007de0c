#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tables of what TLS costs: made of figures as `weft bench suite --tls` writes them, and those of the pages are of the committed
figures."""
import json
import pathlib
import re
import sys
import unittest

PROJECT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(PROJECT / "bench"))
import tls_cost  # noqa: E402


def series(median):
    return {"median": median, "repetitions": 15}


def case(name, unit, weft, plain, tcp, openssl, resumed=None, target=0.85):
    rivals = [{"name": "weft without TLS", "figures": series(plain)}, {"name": "openssl", "figures": series(openssl)}]
    if resumed:
        rivals.append({"name": "openssl, resumed", "figures": series(resumed)})
    lower = unit == "us"
    ratio = weft / (resumed or openssl)
    return {"name": name, "unit": unit, "better": "lower" if lower else "higher", "target": target, "ratio": ratio,
            "reference": "openssl, resumed" if resumed else "openssl",
            "met": ratio <= target if lower else ratio >= target, "weft": series(weft), "tcp": series(tcp), "rivals": rivals}


FIGURES = {"date": "2026-11-25T17:00:00Z", "machine": {"processors": 2, "processor": "P"},
           "cases": [case("lat send 64", "us", 6.0, 4.0, 3.5, 5.0, target=1.15),
                     case("setup, resumed", "conn/s", 1800.0, 4000.0, 20000.0, 1000.0, 2000.0)]}


class Table(unittest.TestCase):
    def test_rows(self):
        lines = tls_cost.table(FIGURES, "tls-x.json").splitlines()
        self.assertEqual(lines[2], "| latency, 64-octet Send, both ends polling, us | 6.00 | 4.00 | 3.50 | 5.00 | 1.50 | 1.20 | at most 1.15 | **no** |")
        self.assertEqual(lines[3], "| the same, resumed, conn/s | 1,800 | 4,000 | 20,000 | 2,000 | 0.45 | 0.90 | at least 0.85 | yes |")
        self.assertEqual(lines[5], "Medians of 15 turns, 2026-11-25, 2 processors (P): `bench/results/tls-x.json`.")

    def test_only_what_is_between_the_marks(self):
        page = f"before\n{tls_cost.BEGIN}\nold\n{tls_cost.END}\nbehind\n"
        self.assertEqual(tls_cost.with_table(page, "new"), page.replace("old", "new"))

    def test_pages_have_committed_figures(self):
        for page in tls_cost.PAGES:
            text = page.read_text()
            part = text.split(tls_cost.BEGIN, 1)[1].split(tls_cost.END, 1)[0].strip()
            names = re.findall(r"bench/results/(tls-[\d-]+\.json)", part)
            if names:
                figures = json.loads((PROJECT / "bench/results" / names[0]).read_text())
                self.assertEqual(part, tls_cost.table(figures, names[0]))


if __name__ == "__main__":
    unittest.main()
