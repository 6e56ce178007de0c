#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Do the drop-in libraries (arguments) export each name with each version that rdma-core 44 to 65 do (symbols.csv)? And,
where the distribution's own libraries are installed, each that those do? One missing name keeps a program from loading."""

import csv
import subprocess
import sys
from pathlib import Path

SYSTEM = ("/usr/lib/*/", "/usr/lib64/", "/usr/lib/", "/lib64/")
MINIMUM = 350  # fewer names than this in the list: it is not the list


def exported(library):
    """{(name, version, is the default)} of a shared library."""
    out = subprocess.run(["nm", "-D", "--defined-only", "--with-symbol-versions", library], check=True, capture_output=True, text=True)
    found = set()
    for line in out.stdout.splitlines():
        kind, name = line.split()[-2:]
        if kind != "A" and "@" in name:  # A: a node itself
            base, _, version = name.partition("@")
            found.add((base, version.lstrip("@"), version.startswith("@")))
    return found


def wanted(soname):
    with open(Path(__file__).with_name("symbols.csv"), newline="") as file:
        rows = list(csv.DictReader(file))
    if len(rows) < MINIMUM:
        sys.exit(f"symbols.csv has only {len(rows)} rows")
    return {(row["symbol"], row["version"], row["binding"] == "default") for row in rows if row["library"] == soname}


def of_system(soname):
    return next((path for folder in SYSTEM for path in sorted(Path("/").glob(folder.lstrip("/") + soname))), None)


def private_nodes(symbols):
    return {version for _, version, _ in symbols if "PRIVATE" in version}


def either(name, version, symbols):
    """Whichever version is the default one: the loader does not ask."""
    return (name, version, True) in symbols or (name, version, False) in symbols


def text(symbols):
    return "".join(f"  {name}{'@@' if default else '@'}{version}\n" for name, version, default in sorted(symbols))


def check(soname, ours):
    """Prints what differs; True when nothing is missing."""
    listed, system = wanted(soname), of_system(soname)
    missing = listed - ours
    print(f"{soname}: {len(ours)} names with a version, {len(listed)} listed")
    if system:
        installed = exported(system)
        if private_nodes(installed) <= private_nodes(listed):
            missing |= {(name, version, default) for name, version, default in installed if not either(name, version, ours)}
            print(f"  compared with {system} ({len(installed)})")
        else:
            print(f"  {system} is of another rdma-core: not compared")
    if missing:
        print(f"missing:\n{text(missing)}", end="")
    if ours - listed:
        print(f"more than listed:\n{text(ours - listed)}", end="")
    return not missing


def main():
    good = [check(Path(library).name, exported(library)) for library in sys.argv[1:]]
    return 0 if good and all(good) else 1


sys.exit(main())
