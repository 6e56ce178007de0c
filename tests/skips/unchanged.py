#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The compiled tests that passed before and that nothing has changed since: ./check without --all leaves them out.

An entry belongs to it if its command is a program that was built here. What it depends on: that program, the other built files whose
paths are in it, the `weft` that it is to start, its arguments, and every file of the repository that is no C++ source. Scripts always
run.

unchanged.py list FOLDER      prints them as a regular expression for ctest -E, or nothing
unchanged.py record FOLDER    keeps what ctest has written to FOLDER/results.xml (--output-junit)
"""
import functools
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree

WHAT, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2]).absolute()
ROOT = next((path for path in FOLDER.parents if (path / ".git").exists()), None)
if not ROOT or not shutil.which("git") or subprocess.run(["git", "-C", ROOT, "status", "--short"], capture_output=True).returncode != 0:
    sys.exit(0)  # no checkout: everything runs
BUILT = re.compile(re.escape(os.fsencode(ROOT)) + rb"/build[\w.+/-]*")


@functools.cache
def state(path):
    """Which version of a file it is: a program that is linked again counts as another one."""
    status = path.stat()
    return f"{path} {status.st_size} {status.st_mtime_ns}"


@functools.cache
def repository():
    names = subprocess.run(["git", "ls-files", "-coz", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True).stdout
    paths = (ROOT / os.fsdecode(name) for name in names.split(b"\0") if name and not name.endswith((b".cpp", b".hpp")))
    return "\n".join(state(path) for path in sorted(paths) if path.is_file())


def built_files(program, content):
    named = {pathlib.Path(os.fsdecode(path)) for path in BUILT.findall(content)}
    return sorted(path for path in named if path.is_file() and path != program and "CMakeFiles" not in path.parts)


def fingerprint(command):
    """Of an entry; None if it always runs."""
    program = pathlib.Path(command[0])
    if not program.is_file() or ROOT not in program.parents:
        return None
    content = program.read_bytes()
    if not content.startswith(b"\x7fELF"):
        return None
    files = [program, *built_files(program, content)]
    if os.environ.get("WEFT_COMMAND") and b"WEFT_COMMAND" in content:
        files.append(pathlib.Path(os.environ["WEFT_COMMAND"]))
    return hashlib.sha256("\n".join([*command, *map(state, files), repository()]).encode()).hexdigest()


def entries():
    """Names, and the fingerprints of all entries that have this name: each build folder may have one."""
    run = subprocess.run(["ctest", "--test-dir", FOLDER, "--show-only=json-v1"], check=True, capture_output=True)
    found = {}
    for test in json.loads(run.stdout)["tests"]:
        found.setdefault(test["name"], []).append(fingerprint(test.get("command") or [""]))
    return {name: fingerprints for name, fingerprints in found.items() if None not in fingerprints}


def main():
    kept = FOLDER / "unchanged.json"
    known = json.loads(kept.read_text()) if kept.exists() else {}
    found = entries()
    same = {name: now for name, now in found.items() if known.get(name) == now}
    if WHAT == "list":
        print("|".join(map(re.escape, same)))
        return
    results = FOLDER / "results.xml"
    if not results.exists():
        return  # ctest did not come that far
    ran = {}
    for case in xml.etree.ElementTree.parse(results).iter("testcase"):
        ran.setdefault(case.get("name"), set()).add(case.get("status"))
    results.unlink()  # an interrupted run leaves none, and is not to find these
    passed = {name: now for name, now in found.items() if ran.get(name) == {"run"}}
    kept.write_text(json.dumps(passed | {name: now for name, now in same.items() if name not in ran}, indent=0))


if __name__ == "__main__":
    main()
