#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks handover.pml exhaustively with Spin (Debian: spin): no order of events loses a wake-up. Each fault that the model can be
given must lose one, or the model would prove nothing."""

import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

MODEL = Path(__file__).resolve().parent / "handover.pml"
SIZE = {"ARRIVALS": 2, "POLLS": 2, "WAITS": 1}
MEMORY = 4000  # MiB at most; the largest run takes a tenth


def run(*command, cwd):
    done = subprocess.run([str(part) for part in command], cwd=cwd, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def number(pattern, text):
    found = re.search(pattern, text)
    if not found:
        sys.exit(f"Spin did not say what it found:\n{text}")
    return int(found[1])


def check(fault):
    """(fault, errors, states) of the model, with this fault or with none."""
    with tempfile.TemporaryDirectory() as folder:
        defines = [f"-D{name}={value}" for name, value in SIZE.items()] + ([f"-D{fault}"] if fault else [])
        run("spin", *defines, "-a", MODEL, cwd=folder)
        run("gcc", "-O2", "-w", "-DCOLLAPSE", "-DSAFETY", f"-DMEMLIM={MEMORY}", "-o", "pan", "pan.c", cwd=folder)
        said = run("./pan", "-m1000000", cwd=folder)
    if "Search not completed" in said and not fault or "max search depth too small" in said or "out of memory" in said:
        sys.exit(f"{fault or 'the model'}: the search was not exhaustive\n{said}")
    return fault, number(r"errors: (\d+)", said), number(r"(\d+) states, stored", said)


def main():
    faults = sorted(set(re.findall(r"\bFAULT_\w+", MODEL.read_text())) - {"FAULT_"})
    wrong = not faults
    with ThreadPoolExecutor(max_workers=2) as pool:
        for fault, errors, states in pool.map(check, [None, *faults]):
            expected = errors != 0 if fault else errors == 0
            wrong |= not expected
            what = "loses a wake-up" if errors else "loses no wake-up"
            print(f"{fault or 'the hand-over'}: {what}, {states} states{'' if expected else ' (NOT EXPECTED)'}")
    return 1 if wrong else 0


sys.exit(main())
