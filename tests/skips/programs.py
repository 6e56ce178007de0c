#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""programs.py TREE CTEST-ARGUMENTS: prints what ninja has to build for the chosen entries, one target per line."""
import json
import pathlib
import re
import subprocess
import sys

TREE = pathlib.Path(sys.argv[1]).absolute()
# ctest itself does not show the command of an entry whose program is not there yet.
ENTRY = re.compile(r"^add_test\(\[=\[(.+?)\]=\] (.*)\)$", re.MULTILINE)


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main():
    targets = {line.partition(":")[0] for line in output("ninja", "-C", TREE, "-t", "targets", "all").splitlines()}
    chosen = {test["name"] for test in json.loads(output("ctest", "--test-dir", TREE, *sys.argv[2:], "--show-only=json-v1"))["tests"]}
    found = set()
    for file in TREE.rglob("CTestTestfile.cmake"):
        for name, command in ENTRY.findall(file.read_text()):
            if name in chosen:
                found.update(word.removeprefix(f"{TREE}/") for word in re.findall(r'"([^"]*)"', command))
    print("".join(f"{target}\n" for target in sorted(found & targets)), end="")


main()
