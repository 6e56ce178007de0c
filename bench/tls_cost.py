#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What TLS costs: measures it, and writes the tables of docs/tls.md and docs/performance.md, between their two marks.

    bench/tls_cost.py                    five minutes: `weft bench suite --tls`, figures into bench/results/, then the tables
    bench/tls_cost.py --tables FILE      the tables of figures that are there

Exit codes: 0, 1 when the measurement failed, 2 wrong usage."""
import argparse
import json
import pathlib
import subprocess
import sys
import time

PROJECT = pathlib.Path(__file__).resolve().parent.parent
BEGIN, END = "<!-- bench/tls_cost.py writes this -->", "<!-- up to here -->"
PAGES = [PROJECT / "docs/tls.md", PROJECT / "docs/performance.md"]
DURATION, REPETITIONS = 30, 15  # seconds of each line, and turns of each transport within them
DIGITS = {"us": ".2f", "MB/s": ",.0f", "conn/s": ",.0f"}
WORDS = {"lat send 64": "latency, 64-octet Send, both ends polling", "bw send 1Mi": "bandwidth, 1 MiB Sends",
         "bw send 16384, 16 connections": "bandwidth, 16 KiB Sends, 16 connections",
         "setup, whole": "set-ups one after the other, whole handshakes", "setup, resumed": "the same, resumed"}


def rival(case, name):
    found = [one["figures"]["median"] for one in case["rivals"] if one["name"] == name and "figures" in one]
    return found[0] if found else None


def row(case):
    def figure(value):
        return format(value, DIGITS[case["unit"]]) if value else "-"
    weft, plain, openssl = case["weft"]["median"], rival(case, "weft without TLS"), rival(case, case["reference"])
    bound = "at most" if case["better"] == "lower" else "at least"
    verdict = "yes" if case["met"] else "**no**"
    return [f"{WORDS[case['name']]}, {case['unit']}", figure(weft), figure(plain), figure(case["tcp"]["median"]), figure(openssl),
            f"{weft / plain:.2f}", f"{case['ratio']:.2f}", f"{bound} {case['target']:.2f}", verdict]


def table(figures, name):
    heads = ["what", "weft, TLS", "weft, plain", "raw TCP", "OpenSSL on raw TCP", "TLS / plain", "weft / OpenSSL", "target", "met"]
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    lines += ["| " + " | ".join(row(case)) + " |" for case in figures["cases"]]
    machine = figures["machine"]
    about = (f"Medians of {figures['cases'][0]['weft']['repetitions']} turns, {figures['date'][:10]}, {machine['processors']} processors "
             f"({machine['processor']}): `bench/results/{name}`.")
    return "\n".join([*lines, "", about])


def with_table(page, text):
    before, rest = page.split(BEGIN, 1)
    behind = rest.split(END, 1)[1]
    return f"{before}{BEGIN}\n{text}\n{END}{behind}"


def write_tables(file):
    text = table(json.loads(file.read_text()), file.name)
    print(text)
    for page in PAGES:
        page.write_text(with_table(page.read_text(), text))


def measure(weft):
    file = PROJECT / f"bench/results/tls-{time.strftime('%Y-%m-%d')}.json"
    subprocess.run([weft, "bench", "suite", "--tls", "--duration", str(DURATION), "--repetitions", str(REPETITIONS), "--output", file],
                   check=True)
    return file


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weft", default=PROJECT / "build/tools/weft", help="the command that measures (default: that of build/)")
    parser.add_argument("--tables", type=pathlib.Path, metavar="FILE", help="measure nothing")
    arguments = parser.parse_args()
    try:
        write_tables(arguments.tables or measure(arguments.weft))
    except (OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"tls_cost.py: {error}")


if __name__ == "__main__":
    main()
