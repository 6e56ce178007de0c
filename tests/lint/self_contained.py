#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each source and each header of each module compiles on its own, which a build that joins files does not show. A header that a
source includes before anything else is shown with that source.

    self_contained.py BUILD-FOLDER    (its compile_commands.json says with which definitions)

The C++ standard library's headers are read once, for all files: most of the time would go into them. So a standard header that a
file lacks is found by the debug preset alone."""

import json
import re
import shlex
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from modules import MAY_INCLUDE, ROOT, sources

CLANG = ["clang++-19", "-std=c++23", "-Wall", "-Wextra", "-Werror", "-I."]
STANDARD = ["algorithm", "array", "atomic", "bit", "charconv", "chrono", "concepts", "condition_variable", "deque", "expected",
            "filesystem", "fstream", "functional", "future", "iostream", "iterator", "limits", "list", "map", "memory", "mutex",
            "numeric", "optional", "ostream", "queue", "random", "ranges", "set", "shared_mutex", "span", "sstream", "stdexcept",
            "string", "string_view", "system_error", "thread", "tuple", "unordered_map", "unordered_set", "utility", "variant", "vector"]
FIRST_INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.M)
AT_ONCE = 1


def to_compile():
    """(module, file) of all sources, and of the headers that none of them includes first."""
    files = [(module, path) for module in MAY_INCLUDE for path in sources(module)]
    alone = [(module, path) for module, path in files if path.suffix == ".cpp"]
    firsts = (FIRST_INCLUDE.search(path.read_text()) for _, path in alone)
    shown = {first[1] for first in firsts if first}
    return alone + [(module, path) for module, path in files if path.suffix == ".hpp" and str(path.relative_to(ROOT)) not in shown]


def words_of(build):
    """Module -> the definitions and folders that its targets are compiled with."""
    words = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        command = shlex.split(entry["command"])
        module = Path(command[command.index("-o") + 1]).parts[0]
        for word in command:
            if word.startswith(("-D", "-I")) and word not in words.setdefault(module, []):
                words[module].append(word)
    return words


def precompiled(folder):
    header = folder / "standard.hpp"
    header.write_text("".join(f"#include <{name}>\n" for name in STANDARD))
    made = folder / "standard.pch"
    subprocess.run([*CLANG, "-x", "c++-header", header, "-o", made], cwd=ROOT, check=True)
    return made


def main():
    words = words_of(Path(sys.argv[1]))
    files = to_compile()

    def compiles(file):
        """What the compiler says against it, or nothing."""
        module, path = file
        language = ["-x", "c++-header"] if path.suffix == ".hpp" else []
        done = subprocess.run([*CLANG, "-fsyntax-only", "-include-pch", pch, *words.get(module, []), *language, path], cwd=ROOT,
                              capture_output=True, text=True, check=False)
        return done.stderr or ("" if done.returncode == 0 else f"{path}: exit code {done.returncode}\n")

    with tempfile.TemporaryDirectory() as folder:
        pch = precompiled(Path(folder))
        with ThreadPoolExecutor(AT_ONCE) as pool:
            faults = "".join(pool.map(compiles, files))
    print(faults or f"{len(files)} files compile on their own")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
