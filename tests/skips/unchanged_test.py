#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""unchanged.py leaves out what passed, and nothing whose program, data or arguments have changed since."""
import pathlib
import shutil
import subprocess
import sys
import tempfile

SCRIPT = pathlib.Path(__file__).with_name("unchanged.py")


class Project:
    def __init__(self, root):
        self.root, self.tree = root, root / "build"
        self.tree.mkdir()
        subprocess.run(["git", "init", "-q", root], check=True)
        (root / ".gitignore").write_text("/build\n")
        (root / "data.txt").write_text("1")
        (self.tree / "helper").write_text("1")
        self.program("passes", "true")
        self.program("fails", "false")
        (self.tree / "script").write_text("#!/bin/sh\n")
        (self.tree / "script").chmod(0o755)
        self.entries("passes fails script")

    def program(self, name, of):
        path = self.tree / name
        shutil.copy(shutil.which(of), path)
        with path.open("ab") as file:
            file.write(f"\0{self.tree}/helper\0".encode())

    def entries(self, names, arguments=""):
        lines = [f'add_test({name} "{self.tree}/{name}" {arguments})\n' for name in names.split()]
        (self.tree / "CTestTestfile.cmake").write_text("".join(lines))

    def run(self):
        subprocess.run(["ctest", "--test-dir", self.tree, "--output-junit", "results.xml"], capture_output=True)
        self.call("record")

    def call(self, what):
        run = subprocess.run([sys.executable, "-B", SCRIPT, what, self.tree], check=True, capture_output=True, text=True)
        return run.stdout.strip()

    def expect(self, left_out, why):
        found = self.call("list")
        if found != left_out:
            sys.exit(f"{why}: leaves out '{found}', and should leave out '{left_out}'")


with tempfile.TemporaryDirectory() as folder:
    project = Project(pathlib.Path(folder).resolve())
    project.expect("", "nothing ran yet")
    project.run()
    project.expect("passes", "what passed; no script, and nothing that failed")
    (project.root / "new.cpp").write_text("int x;")
    project.expect("passes", "a source that no program was built from")
    changes = {
        "data": lambda: (project.root / "data.txt").write_text("22"),
        "a new file": lambda: (project.root / "more.txt").write_text("1"),
        "the program": lambda: project.program("passes", "true"),
        "a built file that it names": lambda: (project.tree / "helper").write_text("22"),
        "an argument": lambda: project.entries("passes fails script", "--more"),
    }
    for what, change in changes.items():
        change()
        project.expect("", f"{what} has changed")
        project.run()
        project.expect("passes", f"it passed with {what} changed")
