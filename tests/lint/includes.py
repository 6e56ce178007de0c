#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks every #include of the modules against the table in modules.py."""

import re
import sys

from modules import CORE, DIRECTORIES, FOR_USERS_OF, LIBRARIES, MAY_INCLUDE, NOT_IN_CORE, NOT_REACHED, PUBLIC, ROOT, sources

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.M)


def includes(path):
    """(line, is our own, name) of each #include."""
    text = path.read_text()
    for match in INCLUDE.finditer(text):
        yield text.count("\n", 0, match.start(2)) + 1, match[1] == '"', match[2]


def allowed_own(module, name):
    return any(name == entry or name.startswith(entry + "/") for entry in [module] + MAY_INCLUDE[module])


def directory_of(name):
    directory = "/".join(name.split("/")[:2])
    return directory if directory in DIRECTORIES else None


def allowed_directory(path, name):
    """Of a module with directories that are restricted: from one to another."""
    own, other = directory_of(str(path.relative_to(ROOT))), directory_of(name)
    if own is None or other is None or own == other:
        return True
    in_headers, in_sources = DIRECTORIES[own]
    return bool({other, name} & {*in_headers, *(in_sources if path.suffix == ".cpp" else [])})


def library_of(name):
    """The library an <include> belongs to, or None for the C++ standard library."""
    head = name.split("/")[0]
    if head in LIBRARIES:
        return head
    return "system" if name.endswith(".h") or "/" in name else None


def within(path, folders):
    return any((ROOT / folder) in path.parents for folder in folders)


def wrong(module, path, own, name):
    """Why this include breaks the architecture, or None."""
    if own:
        if not (ROOT / name).is_file():
            return "own headers are named from the root of the tree, and this names none"
        if not allowed_own(module, name):
            return f"{module}/ may not use it"
        return None if allowed_directory(path, name) else f"{directory_of(str(path.relative_to(ROOT)))}/ may not use it here"
    library = library_of(name)
    if library is None:
        return "the core has no I/O, clock, thread or randomness" if module in CORE and name in NOT_IN_CORE else None
    rule = LIBRARIES[library]
    if not within(path, rule["modules"]):
        return f"{library} belongs to {', '.join(rule['modules'])}"
    if path.suffix == ".hpp" and not rule["in_headers"]:
        return f"{library} stays out of headers"
    return None


def closure(start):
    """All headers of this tree that these files reach."""
    seen, todo = set(), list(start)
    while todo:
        path = todo.pop()
        if path in seen or not path.is_file():
            continue
        seen.add(path)
        todo += [ROOT / name for _, own, name in includes(path) if own]
    return sorted(seen)


def main():
    faults = []
    for module in MAY_INCLUDE:
        for path in sources(module):
            for line, own, name in includes(path):
                reason = wrong(module, path, own, name)
                if reason:
                    faults.append(f"{path.relative_to(ROOT)}:{line}: {name}: {reason}")
    # A user of weft must not pay for, or need, the libraries it is built with.
    public = closure(p for module in PUBLIC for p in (ROOT / module).glob("*.hpp"))
    for path in public:
        if path.parent.parent != ROOT:
            faults.append(f"{path.relative_to(ROOT)}: reached from a public header, and not installed")
        for line, own, name in includes(path):
            own_library = FOR_USERS_OF.get(path.relative_to(ROOT).as_posix())
            if not own and library_of(name) not in (None, "system", own_library):
                faults.append(f"{path.relative_to(ROOT)}:{line}: {name}: reached from the public headers of {', '.join(PUBLIC)}")
    for module, layers in NOT_REACHED.items():
        for path in closure((ROOT / module).glob("*.hpp")):
            if within(path, layers):
                faults.append(f"{path.relative_to(ROOT)}: reached from the headers of {module}/")
    print("\n".join(faults) or f"includes of {len(MAY_INCLUDE)} modules follow the table; {len(public)} public headers are clean")
    return 1 if faults else 0


sys.exit(main())
