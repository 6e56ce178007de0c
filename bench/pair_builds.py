#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Did a change make weft slower? Measures two builds in turns on this machine: `weft bench suite` beside raw TCP, and perftest's
ib_send_lat, ib_read_lat and ib_write_bw -q 8 under `weft run`. A pair is one run of each build, one right after the other, and which
comes first changes from pair to pair: a busy moment of the machine meets one figure, many pairs meet both builds evenly.

A figure of the suite is divided by raw TCP's of the same run: where the processor's speed changes, it changes for both.

Prints, for each line, the median over all pairs of how much worse the second build is (latency: more, bandwidth and rate: less), the
least and the most, and the 99th percentiles of latency. Leave the machine at rest while it runs.
Exit codes: 0 measured, however it came out, 1 a run failed, 2 wrong usage."""
import argparse
import json
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

from machine import machine
from perftest import Failed, Perftest, numbers_behind, patiently

SUITE_LIMIT = 1800  # seconds, of one suite
PERFTEST = (  # name, command, column of the figure, whether less is better
    ("ib_send_lat 64", ["ib_send_lat", "-F", "-s", "64", "-n", "5000"], 4, True),
    ("ib_read_lat 64", ["ib_read_lat", "-F", "-s", "64", "-n", "5000"], 4, True),
    ("ib_write_bw -q 8 65536", ["ib_write_bw", "-F", "-q", "8", "-s", "65536", "-n", "5000"], 3, False))


class Build:
    """One build folder: its figures of one run, as {line: (figure, whether less is better)}; those of the suite by raw TCP's."""

    def __init__(self, folder, arguments):
        self.weft = folder / "tools/weft"
        self.suite = [str(self.weft), "bench", "suite", "--against", "tcp", *([] if arguments.long else ["--quick"])]
        self.perftest = Perftest(str(self.weft), str(folder / "compat/lib"))

    def figures(self):
        return self.of_suite() | self.of_perftest()

    def of_suite(self):
        with tempfile.TemporaryDirectory() as folder:
            report = pathlib.Path(folder) / "suite.json"
            done = subprocess.run([*self.suite, "--output", report], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                  timeout=SUITE_LIMIT, check=False)
            if done.returncode != 0:
                raise Failed(f"{' '.join(self.suite)}: exit code {done.returncode}:\n{done.stderr}")
            cases = json.loads(report.read_text())["cases"]
        lines = {}
        for case in cases:
            less = case["better"] == "lower"
            for figure, name in (("median", case["name"]), ("p99", case["name"] + ", p99")):
                if figure in case["weft"]:
                    lines[name] = (case["weft"][figure] / case["tcp"][figure], less)
        return lines

    def of_perftest(self):
        lines = {}
        for name, command, column, less in PERFTEST:
            if shutil.which(command[0]):
                lines[name] = (patiently(lambda command=command: numbers_behind(self.perftest.pair(command), "#bytes"))[column], less)
        return lines


def worse(before, after, less_is_better):
    """By how many per cent the second figure is worse than the first."""
    return 100 * ((after / before if less_is_better else before / after) - 1)


def compared(runs):
    """runs: [(figures before, figures after)] -> a row for each line."""
    rows = []
    for name, (_, less) in runs[0][0].items():
        pairs = [(before[name][0], after[name][0]) for before, after in runs]
        each = [worse(*pair, less) for pair in pairs]
        rows.append({"line": name, "worse_percent": round(statistics.median(each), 2), "least": round(min(each), 2), "most": round(max(each), 2),
                     "before": [pair[0] for pair in pairs], "after": [pair[1] for pair in pairs]})
    return rows


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=pathlib.Path, help="the build folder of the older build (it has tools/weft and compat/lib)")
    parser.add_argument("after", type=pathlib.Path, help="the build folder of the newer one")
    parser.add_argument("--pairs", type=int, default=5, metavar="N")
    parser.add_argument("--long", action="store_true", help="the whole suite instead of `--quick`")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="where all figures go; written after each pair")
    arguments = parser.parse_args()
    if arguments.pairs < 1:
        parser.error("--pairs wants a number from 1 on")
    for folder in (arguments.before, arguments.after):
        if not (folder / "tools/weft").exists():
            parser.error(f"{folder} has no tools/weft: it is no build folder, or nothing is built there")
    return arguments


def main():
    arguments = parse_arguments()
    builds = [Build(folder.resolve(), arguments) for folder in (arguments.before, arguments.after)]
    runs = []
    for number in range(arguments.pairs):
        print(f"pair {number + 1} of {arguments.pairs}", file=sys.stderr, flush=True)
        try:
            first, second = (0, 1) if number % 2 == 0 else (1, 0)
            figures = {first: builds[first].figures()}
            figures[second] = builds[second].figures()
        except (Failed, subprocess.TimeoutExpired) as failed:
            print(failed, file=sys.stderr)
            return 1
        runs.append((figures[0], figures[1]))
        if arguments.json:
            arguments.json.write_text(json.dumps({"machine": machine(), "pairs": len(runs), "lines": compared(runs)}, indent=1) + "\n")
    print(f"{'line':34} {'before':>10} {'after':>10}   worse by: median (least, most) of {len(runs)} pairs")
    for row in compared(runs):
        print(f"{row['line']:34} {statistics.median(row['before']):10.3f} {statistics.median(row['after']):10.3f}   "
              f"{row['worse_percent']:+6.1f} % ({row['least']:+.1f}, {row['most']:+.1f})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
