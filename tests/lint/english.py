#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Words that make a reader stumble are neither in the documents nor in comments: "nobody", "somebody", "anybody", "whoever",
"so many", "so long", and a relative clause without a head at the start of a sentence ("Who polls ..."). What stands in quotes or
backticks is let pass: it names something."""

import io
import re
import subprocess
import sys
import tokenize

from rooms import ROOT

WORDS = re.compile(r"\b(?:nobody|somebody|anybody|whoever|whomever|so (?:many|few|long)(?! as\b))\b", re.I)
OPENER = re.compile(r"(?:\A|\n\n|[.?!:]\s|\n[-*] )\s*(Who\s[^.?!]*)(?=[.!]|\Z)")  # a question ends with "?"

QUOTES_OTHERS = ("CHANGELOG.md", "docs/rfc-map.md")  # old entries; names of tests
C_LIKE, SHELL_LIKE = {".hpp", ".cpp", ".h", ".c"}, {".sh", ".cmake", ".txt"}


def blank(match):
    return re.sub(r"[^\n]", " ", match[0])


def document(text):
    """Without code, of the same number of lines."""
    text = re.sub(r"^```.*?^```", blank, text, flags=re.M | re.S)
    return re.sub(r"^    .*$", blank, text, flags=re.M)


def line_comments(text, mark):
    return "\n".join((re.search(rf"(?:^|\s){mark}+(?!!)(.*)", line) or ["", ""])[1] for line in text.split("\n"))


def python_comments(text):
    """What stands behind a # or in a string that is a statement of its own."""
    lines = [""] * (text.count("\n") + 1)
    before = tokenize.NEWLINE
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        begins = before in (tokenize.NEWLINE, tokenize.INDENT, tokenize.NL)
        if token.type == tokenize.COMMENT or (token.type == tokenize.STRING and begins):
            for number, line in enumerate(token.string.strip("#'\"").split("\n"), token.start[0] - 1):
                lines[number] = line
        if token.type != tokenize.COMMENT:
            before = token.type
    return "\n".join(lines)


def prose(name, text):
    """Of a file what is written for a reader, of the same number of lines; None for a file that has nothing of it."""
    suffix = re.search(r"(\.\w+)?$", name)[0]
    if name.endswith(".md") or re.fullmatch(r"docs/man/.*\.1", name):
        return document(text)
    if suffix in C_LIKE:
        return line_comments(text, "//")
    if suffix == ".py" or text.startswith("#!/usr/bin/env python3"):
        return python_comments(text)
    if suffix == ".csv":  # reasons, which the generators of pages take from there
        return text.replace('"', " ")
    if suffix in SHELL_LIKE or re.match(r"#!.*sh\b", text):
        return line_comments(text, "#")
    return None


def uses(text):
    """(line, words) of each use."""
    text = re.sub(r"`[^`\n]*`|\"[^\"\n]*\"", blank, text)
    for pattern, group in ((WORDS, 0), (OPENER, 1)):
        for match in pattern.finditer(text):
            yield text.count("\n", 0, match.start(group)) + 1, " ".join(match[group].split()[:4])


def files():
    """(name, text) of what git has, or of the whole folder where git is not installed or has nothing (a release's archive)."""
    try:
        names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    except (FileNotFoundError, subprocess.CalledProcessError):
        names = (path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*"))
    for name in sorted(names):
        if (ROOT / name).is_file() and not name.startswith(("build", ".git/", "tests/fuzz/corpus/")):
            yield name, (ROOT / name).read_bytes().decode(errors="replace")


def main():
    looked_at = faults = 0
    for name, text in files():
        written = prose(name, text) if name not in QUOTES_OTHERS else None
        looked_at += written is not None
        for line, words in sorted(uses(written or "")):
            faults += 1
            print(f"{name}:{line}: '{words}'")
    print(f"{looked_at} files, {faults} of these words")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
