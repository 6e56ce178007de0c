#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each header of each room compiles on its own. Where a source file includes it before anything else, the build has shown
that already; the rest is given to clang."""

import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from rooms import MAY_INCLUDE, ROOT, sources

FIRST_INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.M)
COMPILE = ["clang++-19", "-std=c++23", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-I.", "-x", "c++-header"]
AT_ONCE = 2


def included_first(path):
    match = FIRST_INCLUDE.search(path.read_text())
    return match and match[1]


def compiles(header):
    """What the compiler says against it, or nothing."""
    done = subprocess.run(COMPILE + [header], cwd=ROOT, capture_output=True, text=True)
    return done.stderr or ("" if done.returncode == 0 else f"{header}: exit code {done.returncode}\n")


def main():
    files = [path for room in MAY_INCLUDE for path in sources(room)]
    headers = [str(path.relative_to(ROOT)) for path in files if path.suffix == ".hpp"]
    shown = {included_first(path) for path in files if path.suffix == ".cpp"}
    left = [header for header in headers if header not in shown]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        faults = "".join(pool.map(compiles, left))
    print(faults or f"{len(headers)} headers compile on their own: {len(headers) - len(left)} in the build, {len(left)} here")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
