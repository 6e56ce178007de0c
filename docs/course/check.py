#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks answers to the exercises of the course:

  check.py EXERCISE ANSWER...                      one answer
  check.py --all [FILE] [--report scores.json]     those in a file (answers.txt): the number of an exercise and its answer on each line
  check.py --list                                  an empty file of answers

Exit codes: 0 right (with --all: every exercise), 1 not right, 2 wrong command line or no weft in the PATH."""

import argparse
import json
import shlex
import shutil
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from exercises import EXERCISES, Wrong  # noqa: E402


def verdict(exercise, given):
    """(is it right, a sentence)"""
    try:
        EXERCISES[exercise](given)
    except Wrong as why:
        return False, f"{why}."
    except (OSError, ValueError, KeyError, IndexError, TypeError) as why:
        return False, f"the answer cannot be read: {why}."
    return True, "right."


def answers_in(path):
    """exercise -> words of its answer. Empty lines, and those after #, are the student's own."""
    found = {}
    for line in path.read_text().splitlines():
        exercise, *given = shlex.split(line, comments=True) or [""]
        if exercise and exercise not in EXERCISES:
            raise ValueError(f"there is no exercise {exercise}")
        if exercise in found:
            raise ValueError(f"exercise {exercise} is there twice")
        if exercise:
            found[exercise] = given
    return found


def check_all(path, report):
    found = answers_in(path)
    results = {exercise: verdict(exercise, found[exercise]) if found.get(exercise) else (False, "no answer.") for exercise in EXERCISES}
    for exercise, (_, sentence) in results.items():
        print(f"{exercise}: {sentence}")
    count = sum(right for right, _ in results.values())
    print(f"{count} of {len(results)} exercises are right")
    if report:
        exercises = {exercise: {"right": right, "said": sentence} for exercise, (right, sentence) in results.items()}
        report.write_text(json.dumps({"right": count, "of": len(results), "exercises": exercises}, indent=2) + "\n")
    return 0 if count == len(results) else 1


def parser_of():
    parser = argparse.ArgumentParser(prog="check.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     usage="check.py EXERCISE ANSWER... | --all [FILE] [--report FILE] | --list")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--all", nargs="?", type=Path, const=Path("answers.txt"), metavar="FILE")
    what.add_argument("--list", action="store_true")
    parser.add_argument("--report", type=Path, metavar="FILE")
    parser.add_argument("answer", nargs="*")
    return parser


def run(parser):
    options, more = parser.parse_known_args()  # an answer may begin with a minus
    given = [*options.answer, *more]
    if options.list:
        print("# The number of an exercise, and your answer, on each line. To check all: docs/course/check.py --all")
        print("\n".join(EXERCISES))
        return 0
    if options.all:
        return check_all(options.all, options.report)
    if len(given) < 2 or given[0] not in EXERCISES or options.report:
        parser.error(f"exercises: {', '.join(EXERCISES)}")
    right, sentence = verdict(given[0], given[1:])
    print(f"{given[0]}: {sentence}")
    return 0 if right else 1


def main():
    if not shutil.which("weft"):
        print("check.py: there is no weft in your PATH: . docs/course/lab.sh", file=sys.stderr)
        return 2
    try:
        return run(parser_of())
    except (OSError, ValueError) as error:
        print(f"check.py: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
