#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No class has more than 20 direct, non-static data members: an object with more has parts without names. Tests count, too. ctags reads the
C++ (Debian package universal-ctags). With --widest: shows the widest ten."""

import collections
import re
import subprocess
import sys

from modules import MAY_INCLUDE, ROOT

MOST = 20
STATIC = re.compile(r"\bstatic\b")

tags = subprocess.run(["ctags", "-f", "-", "--languages=C,C++", "--map-C++=+.h", "--map-C=-.h", "--kinds-C++=m", "--kinds-C=m", "--fields=s", "--sort=no", "-R",
                       *MAY_INCLUDE, "tests", "examples", "docs"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
found = collections.Counter()
for line in tags.splitlines():
    _, path, pattern, *fields = line.split("\t")
    scope = next((field.split(":", 1)[1] for field in fields if field.startswith(("class:", "struct:"))), None)
    if scope and not STATIC.search(pattern):
        found[f"{path}: {scope}"] += 1
wide = {name for name, count in found.items() if count > MOST}
if "--widest" in sys.argv:
    print("\n".join(f"{count:4} {name}" for name, count in found.most_common(10)))
for name in sorted(wide):
    print(f"{name}: {found[name]} direct members")
print(f"{len(found)} classes, {MOST} members at most")
sys.exit(not found or bool(wide))
