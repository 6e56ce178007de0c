# SPDX-License-Identifier: Apache-2.0
"""Entities without documentation that Doxygen 1.9.4 lets pass: enumerators, and classes without members."""

import re

EMPTY_CLASS = re.compile(r"\s*(?:class|struct) [\w ]+\{\};$")
ENUM = re.compile(r"(?:\s|/\*\*.*\*/)*enum (?:class )?\w+[^{;]*\{")
ENUMERATOR = re.compile(r"\s*(\w+)\s*(?:=[^,]*)?(?:,|$)")


def of_header(text):
    """(line, what) of each, in a header as comments.py gives it."""
    inside, documented = False, False
    for number, line in enumerate(text.splitlines(), 1):
        code = re.sub(r"\s*///.*", "", line)
        if EMPTY_CLASS.match(line) and not documented:
            yield number, line.strip()
        if ENUM.match(line):
            inside = True
            if code.rstrip().endswith("};"):
                yield number, line.strip()  # all in one line
        elif inside and (match := ENUMERATOR.match(code)) and not documented and "///<" not in line:
            yield number, match[1]
        inside = inside and "}" not in code
        documented = line.lstrip().startswith("///")


def beyond_doxygen(folder):
    """As Doxygen would say it, of all headers in a folder."""
    for header in sorted(folder.rglob("*.hpp")):
        for number, what in of_header(header.read_text()):
            yield f"{header.relative_to(folder / 'weft')}:{number}: error: {what} is not documented."
