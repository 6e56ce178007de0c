# SPDX-License-Identifier: Apache-2.0
"""The commands that the documents tell a reader to type: taken from the documents themselves, so that a changed document changes what is tried."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CONSOLE = "```console"
# Figures of octets, and pages that a program writes.
WITHOUT_COMMANDS = {"CHANGELOG.md", "docs/applications.md"}


@dataclass(frozen=True)
class Command:
    document: str
    line: int
    text: str
    block: tuple[str, ...]  # the texts of all commands of its block, this one included

    @property
    def place(self):
        return f"{self.document}:{self.line}"


def documents(root=ROOT):
    """Names of all documents, relative to the root."""
    found = [*root.glob("*.md"), *root.glob("docs/man/*.1")]
    for folder in ("docs", "pcap-samples", "bench", "examples", "tests"):
        found += (root / folder).rglob("*.md")
    names = sorted({path.relative_to(root).as_posix() for path in found})
    return [name for name in names if name not in WITHOUT_COMMANDS and not name.startswith("docs/decisions/")]


def of_document(name, text):
    """Each command of a document, in the order of the text."""
    blocks = manual_blocks(text) if name.endswith(".1") else markdown_blocks(text)
    for first_line, lines in blocks:
        found = [(at, command) for at, command, _ in exchanges(lines[1:])] if lines[:1] == [CONSOLE] else list(split(lines))
        block = tuple(text for _, text in found)
        for offset, text in found:
            yield Command(name, first_line + offset, text, block)


def markdown_blocks(text):
    """(number of the first line, lines without their indentation) of each block of code: indented by four or more, or fenced. Of a
    fence that says `console` the opening line comes along; one that says `text` or `cpp` has no commands."""
    lines, at, before = text.split("\n"), 0, ""
    while at < len(lines):
        begin = at
        if lines[at].startswith("```"):
            at += 1
            while at < len(lines) and not lines[at].startswith("```"):
                at += 1
            if lines[begin] == CONSOLE:
                yield begin + 2, lines[begin:at]
            elif lines[begin] not in ("```text", "```cpp"):
                yield begin + 2, lines[begin + 1:at]
        elif lines[at].startswith("    ") and not before:
            while at < len(lines) and (lines[at].startswith("    ") or (not lines[at] and lines[at + 1:at + 2] and lines[at + 1].startswith("    "))):
                at += 1
            yield begin + 1, [line[4:] for line in lines[begin:at]]
            continue
        before = lines[at] if at < len(lines) else ""
        at += 1


def exchanges(lines):
    """(offset of the line, text, lines that it prints) of each command of a `console` block: a line that begins with "$ ", and those after a
    backslash."""
    found, continued = [], False
    for offset, line in enumerate(lines):
        if continued or line.startswith("$ "):
            if continued:
                found[-1][1] += "\n" + line
            else:
                found.append([offset, line[2:], []])
            continued = line.endswith("\\")
        elif found:
            found[-1][2].append(line)
    return [tuple(exchange) for exchange in found]


def manual_blocks(text):
    """The same of the examples of a manual page."""
    match = re.search(r'^\.SH "?EXAMPLES?"?\n\.nf\n(.*?)^\.fi$', text, re.M | re.S)
    if match:
        yield text.count("\n", 0, match.start(1)) + 1, match[1].replace("\\-", "-").replace("\\e", "\\").rstrip("\n").split("\n")


def split(lines):
    """(offset of the line, text) of each command: a line and what belongs to it, which is indented further or comes after a backslash."""
    begin, kept = 0, []
    for offset, line in enumerate(lines):
        if kept and not (line.startswith(" ") or not line or kept[-1].endswith("\\")):
            yield begin, "\n".join(kept).rstrip()
            kept = []
        if not kept:
            begin = offset
        if kept or line.strip():
            kept.append(line)
    if kept:
        yield begin, "\n".join(kept).rstrip()


def all_commands(root=ROOT):
    for name in documents(root):
        yield from of_document(name, (root / name).read_text())
