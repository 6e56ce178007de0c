#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Do built files have what cmake/WeftHardening.cmake asks for? hardening.py FILE..., programs, shared libraries and archives.

Of a linked file: what the linker writes (PIE, RELRO, immediate binding, a stack that holds no code), and on x86-64 that the functions
which others may jump to begin with endbr64. The note "IBT, SHSTK" is looked for in objects only: the linker leaves it out of a file
when one object lacks it, and crti.o of Debian 12 does. Of what has code of its own: a call to what a broken canary calls, and
calls to glibc's functions that know the size of their destination."""

import platform
import re
import subprocess
import sys
from pathlib import Path

X86 = platform.machine() == "x86_64"
# glibc's, as memcpy_chk; not the canary's
FORTIFIED = re.compile(r"\b__(?!stack)\w+_chk\b")
# Facades of a line a function: they have no array, and copy nothing.
THIN = ("libibverbs.so", "librdmacm.so", "librspreload.so", "libweftpaths.so")


def said(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True, errors="replace").stdout


def of_linking(path):
    """A sentence for each thing that the linker was not told, or did not do."""
    segments, dynamic = said("readelf", "-lW", path), said("readelf", "-dW", path)
    if not re.search(r"^Elf file type is DYN", segments, re.M):
        yield "it is not position-independent"
    if "GNU_RELRO" not in segments:
        yield "no RELRO: what the loader has written stays writable"
    if not re.search(r"\(FLAGS\).*\bBIND_NOW\b|\(FLAGS_1\).*\bNOW\b|\(BIND_NOW\)", dynamic):
        yield "addresses are bound late (no BIND_NOW)"
    if re.search(r"GNU_STACK.* RWE ", segments) or "GNU_STACK" not in segments:
        yield "its stack may hold code"


def of_code(path):
    """The same of the compiler."""
    names = said("nm", "-D", "--undefined-only", path) if is_linked(path) else said("nm", "--undefined-only", path)
    if "__stack_chk_fail" not in names:
        yield "no canary is looked at (-fstack-protector-strong)"
    if not FORTIFIED.search(names):
        yield "no call knows the size of its destination (_FORTIFY_SOURCE)"


def of_jumps(path):
    """Of the functions that others may jump to; in a program main() alone has a name for that."""
    names = said("nm", "-D", "--defined-only", path).split("\n")
    wanted = {line.split()[2].split("@")[0] for line in names if re.match(r"\w+ [TW] ", line)} | {"main"}
    heads = re.findall(r"^\w+ <(\w+)(?!@plt)(?:@[^>]*)?>:\n +\w+:\s+(\S+)", said("objdump", "-d", "--no-show-raw-insn", path), re.M)
    found = [(name, first) for name, first in heads if name in wanted]
    if not found:
        yield "none of its functions is found"
    if any(first != "endbr64" for _, first in found):
        yield f"{next(name for name, first in found if first != 'endbr64')} may not be jumped to (-fcf-protection)"


def of_stack_clash(path):
    """A frame of more than a page touches each page: `or` of 0 to the new end of the stack."""
    if not re.search(r"\bor[bql] +\$0x0,(0x[0-9a-f]+)?\(%[re]sp\)", said("objdump", "-d", "--no-show-raw-insn", path)):
        yield "no large frame is probed (-fstack-clash-protection)"


def of_objects(path):
    """Of an archive: each object says itself what it is ready for."""
    for part in re.split(r"^File: ", said("readelf", "-nW", path), flags=re.M)[1:]:
        name = part.split("\n", 1)[0]
        if not re.search(r"x86 feature: .*\bIBT\b.*\bSHSTK\b", part):
            yield f"{name} has no note IBT, SHSTK (-fcf-protection)"


def is_linked(path):
    return Path(path).read_bytes()[:4] == b"\x7fELF"


def faults(path):
    if not is_linked(path):
        yield from of_objects(path) if X86 else ()
        return
    yield from of_linking(path)
    if X86:
        yield from of_jumps(path)
    if not Path(path).name.startswith(THIN):
        yield from of_code(path)
        yield from of_stack_clash(path) if X86 else ()


def main():
    found = [f"{path}: {fault}" for path in sys.argv[1:] for fault in faults(path)]
    print("\n".join(found) or f"{len(sys.argv) - 1} files have what WeftHardening.cmake asks for")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
