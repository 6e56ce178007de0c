#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every source file begins with its licence (SPDX), and no C++ file forgets #pragma once where it is a header."""

import sys

from modules import MAY_INCLUDE, ROOT

FOLDERS = [*MAY_INCLUDE, "tests", "examples", "docs", "cmake", ".ci"]
SUFFIXES = {".hpp", ".cpp", ".h", ".c", ".py", ".sh"}
LICENCE = "SPDX-License-Identifier: Apache-2.0"


def files():
    yield from (ROOT / "demo", ROOT / "check", ROOT / ".ci/run")
    for folder in FOLDERS:
        yield from sorted(p for p in (ROOT / folder).rglob("*") if p.suffix in SUFFIXES and p.is_file())


def main():
    faults, count = [], 0
    for path in files():
        count += 1
        text = path.read_text()
        lines = text.splitlines()
        first = lines[1] if lines and lines[0].startswith("#!") else (lines or [""])[0]
        if LICENCE not in first:
            faults.append(f"{path.relative_to(ROOT)}: the first line is not the licence ({LICENCE})")
        if path.suffix == ".hpp" and "\n#pragma once\n" not in text:
            faults.append(f"{path.relative_to(ROOT)}: no #pragma once")
    print("\n".join(faults) or f"{count} files carry their licence")
    return 1 if faults else 0


sys.exit(main())
