#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks each model of this folder exhaustively with Spin (Debian: spin): no order of events loses a wake-up. Each
fault that a model names must lose one, or the model would prove nothing. The functions that the models name must
exist."""

import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
MEMORY = 4000  # MiB at most; the largest run takes a fifth


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


def check(case):
    """(model, fault, errors, states) of a model with this fault or with none."""
    model, fault = case
    with tempfile.TemporaryDirectory() as folder:
        run("spin", *([f"-D{fault}"] if fault else []), "-a", model, cwd=folder)
        run("gcc", "-O1", "-w", "-DCOLLAPSE", "-DSAFETY", f"-DMEMLIM={MEMORY}", "-o", "pan", "pan.c", cwd=folder)
        said = run("./pan", "-m1000000", cwd=folder)
    if "Search not completed" in said and not fault or "max search depth too small" in said or "out of memory" in said:
        sys.exit(f"{model.stem} {fault or ''}: the search was not exhaustive\n{said}")
    return model, fault, number(r"errors: (\d+)", said), number(r"(\d+) states, stored", said)


def unknown_functions(models):
    """What the models call `Class::function` and the sources do not have."""
    files = [p.read_text() for folder in ("verbs", "transport") for p in (ROOT / folder).rglob("*.[ch]pp")]
    for path in models:
        for owner, function in sorted(set(re.findall(r"\b([A-Z]\w+)::(\w+)", path.read_text()))):
            within = re.compile(rf"\b(?:class|struct) {owner}\b(?! *;).*(?<![.>:])\b{function}\b *[({{;]", re.S)
            if not any(within.search(text) or re.search(rf"\b{owner}::{function}\(", text) for text in files):
                yield f"{path.name}: {owner}::{function} is not in the sources"


def main():
    models = sorted(HERE.glob("*.pml"))
    wrong = list(unknown_functions([*models, *HERE.glob("*.pmh")]))
    print("\n".join(wrong) or "every function that a model names exists")
    faults = {model: sorted(set(re.findall(r"\bFAULT_\w*[A-Z]\b", model.read_text()))) for model in models}
    cases = [(model, fault) for model in models for fault in (None, *faults[model])]
    with ThreadPoolExecutor(max_workers=2) as pool:
        for model, fault, errors, states in pool.map(check, cases):
            expected = (errors != 0) == (fault is not None) and len(faults[model]) >= 3
            wrong += [] if expected else [model]
            what = "loses a wake-up" if errors else "loses no wake-up"
            remark = "" if expected else " (NOT EXPECTED)"
            print(f"{model.stem} {fault or '(no fault)'}: {what}, {states} states{remark}")
    return 1 if wrong else 0


sys.exit(main())
