#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Instructions per operation, compared with the committed baseline (baseline.json).

Plays each case of main.cpp under valgrind's callgrind, once for some rounds and once for more, and takes the difference:
what startup takes is in both. The count does not know how busy the machine is, so it is the same each time. It holds the
instructions of weft's own functions only (of weft/ only, where a case says so: what the C++ interface adds to verbs). Those
of shared libraries are left out: glibc's copies and ISA-L's CRC differ from processor to processor. So are those of the program that drives the engines (weft::bench, main) and of its memory
(rdmap::RegionTable).

A case fails that takes more than 3 % over its baseline. A small update of the same compiler moves some inlining or the
registers of a function, by tenths of a percent here; a loop, a copy of a work request or one more check of every FPDU is
beyond 3 % in some case. Another compiler, or another processor's architecture, makes other code: then nothing is compared.

Exit codes: 0 as good as the baseline or better, 1 worse or a run failed, 2 wrong usage, 77 nothing to compare with (no
valgrind, other compiler)."""
import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

BASELINE = pathlib.Path(__file__).resolve().parent / "baseline.json"
WORSE = 1.03  # times the baseline: more is a fault
BETTER = 0.97  # below, the baseline no longer guards what was won
TIME_LIMIT = 120  # seconds, of one run
DRIVER = ("weft::bench::", "main", "(anonymous namespace)::play")
MEMORY = "RegionTable"  # in the name of each of its functions, and of the templates that are made for it


def counted(profile, program, functions):
    """The instructions of the program's own functions in callgrind's file, or of those that begin so."""
    total, own, driver, inclusive = 0, False, False, False
    for line in profile.splitlines():
        if line.startswith("ob="):
            own = line[3:] == program
        elif line.startswith("fn="):
            driver = not line[3:].startswith(functions) if functions else line[3:].startswith(DRIVER) or MEMORY in line
        elif line.startswith("calls="):
            inclusive = True  # the next line has the cost of what was called, which has lines of its own
        elif line[:1].isdigit():
            if own and not driver and not inclusive:
                total += int(line.split()[1])
            inclusive = False
    return total


def run(program, case, rounds, functions, folder):
    out = folder / f"{case}.{rounds}"
    command = ["valgrind", "--tool=callgrind", "--quiet", "--compress-strings=no", "--compress-pos=no",
               f"--callgrind-out-file={out}", program, case, str(rounds)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIME_LIMIT, check=False)
    if done.returncode != 0:
        sys.exit(f"instructions: {' '.join(command)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    instructions = counted(out.read_text(), program, functions)
    if instructions == 0:
        sys.exit(f"instructions: callgrind names no function of {program}")
    return instructions


def measure(program, case, operations, rounds, functions, folder):
    few = run(program, case, rounds, functions, folder)
    return (run(program, case, 2 * rounds, functions, folder) - few) / (operations * rounds)


def cases_of(program):
    listed = subprocess.run([program, "--list"], capture_output=True, text=True, check=True).stdout
    return [(name, int(operations), int(rounds), tuple(",".join(functions).split(",")) if functions else ())
            for name, operations, rounds, *functions in map(str.split, listed.splitlines())]


def verdict(figure, before):
    if before is None:
        return "NOT IN THE BASELINE"
    if figure > before * WORSE:
        return "WORSE"
    return "much better" if figure < before * BETTER else ""


def report(figures, baseline):
    """Prints the table, and returns the verdicts."""
    print(f"{'instructions per operation':30} {'baseline':>10} {'now':>10} {'ratio':>7}")
    verdicts = set()
    for case, figure in figures.items():
        before = baseline.get(case)
        word = verdict(figure, before)
        verdicts.add(word)
        ratio = f"{figure / before:7.3f}" if before else " " * 7
        print(f"{case:30} {before or 0:10.0f} {figure:10.0f} {ratio}  {word}".rstrip())
    return verdicts


def skip(why):
    print(f"SKIPPED: instructions are not compared: {why}")
    sys.exit(77)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="build/tests/instructions/instructions")
    parser.add_argument("--compiler", default="GNU 12 x86_64", help="what made the program: name, major version, architecture")
    parser.add_argument("--write", action="store_true", help="take what is measured for the new baseline")
    parser.add_argument("--only", metavar="CASE", action="append", help="this case, compared but not written; may be repeated")
    parser.add_argument("--keep", metavar="FOLDER", help="leave callgrind's files there, for callgrind_annotate")
    arguments = parser.parse_args()
    if arguments.only and arguments.write:
        parser.error("--write takes all cases")
    if not shutil.which("valgrind"):
        skip("there is no valgrind (Debian package valgrind)")
    baseline = json.loads(BASELINE.read_text()) if BASELINE.exists() else {}
    if not arguments.write and arguments.compiler != baseline.get("compiler"):
        skip(f"the baseline is of {baseline.get('compiler')}, this program of {arguments.compiler}")

    program = str(pathlib.Path(arguments.program).resolve())
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(arguments.keep or scratch)
        folder.mkdir(parents=True, exist_ok=True)
        figures = {case: measure(program, case, operations, rounds, functions, folder)
                   for case, operations, rounds, functions in cases_of(program)
                   if not arguments.only or case in arguments.only}
    verdicts = report(figures, baseline.get("instructions", {}))
    if arguments.write:
        rounded = {case: round(figure, 1) for case, figure in figures.items()}
        BASELINE.write_text(json.dumps({"compiler": arguments.compiler, "instructions": rounded}, indent=2) + "\n")
        print(f"written: {BASELINE}")
        return 0
    again = f"run: {sys.argv[0]} --write {arguments.program}"
    if "much better" in verdicts:
        print(f"BASELINE IS OUT OF DATE: what was won is not guarded before the baseline has it; {again}")
    if verdicts & {"WORSE", "NOT IN THE BASELINE"}:
        print(f"More instructions than {WORSE:.0%} of the baseline, or a new case. If that is meant to be so, {again}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
