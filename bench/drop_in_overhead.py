#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the drop-in libraries cost: perftest's ib_write_lat and ib_write_bw, as the distribution has them, under `weft run`,
and `weft bench --pattern perftest`, which does the same over the C++ API. Both run between two processes on 127.0.0.1, in
turns, with the same sizes, iterations, depth, reported completions, inline limit, CRC and policy. With two processors or more
each process, with all of its threads, stays on one of its own: left alone, a scheduler with fewer processors than spinning
threads makes of each run what it likes, 15 to 70 us for the same 64 octets. --free leaves them alone.

Prints the median of each and how much worse the drop-in is, and with --json writes every figure. The figures of one pair
stand side by side there: a busy moment of the machine meets one of the two, many pairs meet it evenly. Exit codes: 0
measured (however it came out), 1 a run failed, 2 wrong usage, 77 perftest is not installed."""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys

from machine import machine
from perftest import TIME_LIMIT, Failed, Perftest, numbers_behind, patiently

PROJECT = pathlib.Path(__file__).resolve().parent.parent
DEPTH, SIGNAL_EVERY = 128, 100  # perftest's defaults, but that it reports every completion of messages over 8 KiB: here both alike


class DropIn(Perftest):
    def latency(self, size, iterations):
        said = self.pair(["ib_write_lat", "-F", "-s", str(size), "-n", str(iterations)])
        return numbers_behind(said, "#bytes")[4]  # t_typical: the median of half the round trips

    def bandwidth(self, size, iterations):
        said = self.pair(["ib_write_bw", "-F", "-s", str(size), "-n", str(iterations), "-t", str(DEPTH), "-Q", str(SIGNAL_EVERY)])
        return numbers_behind(said, "#bytes")[3] * 2**20 / 1e6  # its MB are 2^20 octets


class WeftBench:
    """The same over the C++ API."""

    def __init__(self, arguments):
        self.command = [arguments.weft, "bench"]
        self.common = ["--op", "write", "--pattern", "perftest", "--inline", "0", "--crc", arguments.crc, "--repetitions", "1", "--json"]
        if arguments.pinned:
            self.common.append("--pinned")

    def figure(self, words, size, iterations):
        command = [*self.command, *words, *self.common, "--size", str(size), "--iters", str(iterations)]
        try:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIME_LIMIT)
        except subprocess.TimeoutExpired as late:
            raise Failed(f"{' '.join(command)}: does not end") from late
        if done.returncode != 0:
            raise Failed(f"{' '.join(command)}: exit code {done.returncode}:\n{done.stderr}")
        return json.loads(done.stdout)["weft"]

    def latency(self, size, iterations):
        return self.figure(["lat"], size, iterations)

    def bandwidth(self, size, iterations):
        return self.figure(["bw", "--depth", str(DEPTH), "--signal-every", str(SIGNAL_EVERY)], size, iterations)


def compare(kind, size, iterations, repetitions, contestants):
    """Each repetition takes one figure of both; who goes first changes from one to the next."""
    figures = {name: [] for name in contestants}
    for repetition in range(repetitions):
        order = list(contestants) if repetition % 2 == 0 else list(reversed(contestants))
        for name in order:
            measure = getattr(contestants[name], kind)
            figures[name].append(patiently(lambda: measure(size, iterations)))
    drop_in, cpp = (statistics.median(figures[name]) for name in ("drop_in", "cpp"))
    pairs = [d / c for d, c in zip(figures["drop_in"], figures["cpp"])]
    ratio = statistics.median(pairs)
    worse = ratio - 1 if kind == "latency" else 1 / ratio - 1
    return {"kind": kind, "size": size, "iterations": iterations, "unit": "us" if kind == "latency" else "MB/s", "drop_in": drop_in,
            "cpp": cpp, "ratio_of_medians": drop_in / cpp, "median_of_ratios": ratio, "overhead_percent": 100 * worse,
            "drop_in_runs": figures["drop_in"], "cpp_runs": figures["cpp"]}


def sizes(text):
    return [int(word) for word in text.split(",") if word]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weft", default=str(PROJECT / "build/tools/weft"), help="the command")
    parser.add_argument("--libraries", default=str(PROJECT / "build/compat/lib"), help="the folder of the drop-in libraries")
    parser.add_argument("--repetitions", type=int, default=15, help="pairs of runs for each size")
    parser.add_argument("--latency-sizes", type=sizes, default=[2, 64, 4096], metavar="N,N,...")
    parser.add_argument("--latency-iterations", type=int, default=2000, metavar="N")
    parser.add_argument("--bandwidth-sizes", type=sizes, default=[64, 4096, 65536, 1048576], metavar="N,N,...")
    parser.add_argument("--bandwidth-octets", type=int, default=2**29, metavar="N", help="of one run, and 500 to 50000 messages")
    parser.add_argument("--crc", choices=("on", "off"), default="on")
    parser.add_argument("--free", action="store_true", help="do not pin the ends to processors")
    parser.add_argument("--json", metavar="FILE", help="where all figures go")
    arguments = parser.parse_args()
    arguments.pinned = not arguments.free and len(os.sched_getaffinity(0)) > 1
    return arguments


def main():
    arguments = parse_arguments()
    if not all(shutil.which(name) for name in ("ib_write_lat", "ib_write_bw")):
        print("SKIPPED: perftest is not installed (Debian package perftest)")
        return 77
    contestants = {"drop_in": DropIn(arguments.weft, arguments.libraries, arguments.crc, arguments.pinned), "cpp": WeftBench(arguments)}
    wanted = [("latency", size, arguments.latency_iterations) for size in arguments.latency_sizes]
    wanted += [("bandwidth", size, max(500, min(50000, arguments.bandwidth_octets // size))) for size in arguments.bandwidth_sizes]
    result = {"machine": machine(), "repetitions": arguments.repetitions, "depth": DEPTH, "signal_every": SIGNAL_EVERY,
              "crc": arguments.crc, "pinned": arguments.pinned, "results": []}
    print(f"{'':9} {'octets':>8} {'drop-in':>10} {'C++ API':>10} unit   overhead (median of {arguments.repetitions} pairs)")
    for kind, size, iterations in wanted:
        try:
            one = compare(kind, size, iterations, arguments.repetitions, contestants)
        except Failed as failed:
            print(failed, file=sys.stderr)
            return 1
        result["results"].append(one)
        print(f"{kind:9} {size:8} {one['drop_in']:10.2f} {one['cpp']:10.2f} {one['unit']:5} {one['overhead_percent']:+7.1f} %", flush=True)
        if arguments.json:  # what was measured is kept when the rest is not
            pathlib.Path(arguments.json).write_text(json.dumps(result, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
