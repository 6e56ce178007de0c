#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A header of the house as Doxygen reads it: the // comments before and behind an entity become /// and ///<, and nothing in
them is markup but `code`, lists and indented blocks. Every line stays the line that it was, so that warnings name the right one.

    comments.py HEADER      prints it: what Doxygen calls an INPUT_FILTER"""

import re
import sys
from pathlib import Path

from markup import escape, plain_text

COMMENT = re.compile(r"^(?P<indent>\s*)//(?!/) ?(?P<text>.*)$")
LITERAL = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])\'')
# What opens a scope whose members are documented; the { of anything else opens a body or a value.
SCOPE = re.compile(r"^(?:template\s*<.*?>\s*)?(?:inline\s+)?(?:namespace|class|struct|union|enum)\b(?!.*\()", re.S)
# Several names in one declaration: what is said behind it is said of each.
SEVERAL = re.compile(r"^\s*(?P<type>[\w:]+(?:<.*>)?) (?P<names>\w+(?:\{[^{}]*\})?(?:, \w+(?:\{[^{}]*\})?)+);$")
# Of a member all of a paragraph is shown in the list of members, of a class or a header its first sentence.
BRIEF, DETAILS = "\\brief ", "\\details "
# A comment at one of these is no entity's.
NO_ENTITY = re.compile(r"^\s*(?:#|\}|friend\b|static_assert\b|(?:public|private|protected)\s*:|$)")
ACCESS = re.compile(r"\s*(?:public|private|protected):")
SPECIAL_MEMBER = re.compile(r"= (default|delete);$")


def prose_of(text):
    """A word with a capital at the beginning of a sentence is a word, and no link to the class `Where`."""
    return plain_text(text, lambda plain: re.sub(r"(?:(?<=[.:]\s)|\A)([A-Z][a-z]+)(?=[\s,.])", r"%\1", escape(plain)))


def without_literals(line):
    """The same length, with nothing in quotes that looks like code."""
    return LITERAL.sub(lambda match: '"' * len(match[0]), line)


class Scopes:
    """Which braces are open, from the code read up to now."""

    def __init__(self):
        self.open, self.statement = [], ""

    def documented(self):
        return all(self.open)

    def read(self, code):
        for character in "" if code.lstrip().startswith("#") else code + "\n":
            if character == "{":
                self.open.append(bool(SCOPE.match(self.statement.strip())))
            elif character == "}" and self.open:
                self.open.pop()
            self.statement += character
            if character in "{};" or ACCESS.fullmatch(self.statement):
                self.statement = ""


def indented_block(texts, begin):
    """Where the block ends that is indented behind the empty line at `begin`; `begin` when there is none."""
    end = begin + 1
    while end < len(texts) and re.match(r" {2,}(?!- |\d\. )", texts[end]):
        end += 1
    return end if end > begin + 1 and not texts[begin].strip() else begin


def of_comment(texts):
    """The lines of a comment. What is indented becomes code, and the empty lines around it Doxygen's commands."""
    out, prose, index = [], 0, 0

    def take_prose(end):
        if end > prose:
            out.extend(prose_of("\n".join(texts[prose:end])).split("\n"))

    while index < len(texts):
        end = indented_block(texts, index)
        if end == index:
            index += 1
            continue
        take_prose(index)
        code = texts[index + 1:end]
        kind = "cpp" if any(line.rstrip().endswith((";", "{")) for line in code) else "unparsed"
        out.extend(["@code{." + kind + "}", *code])
        if end < len(texts):  # an empty line, or the end of the comment
            out.append("@endcode")
            end += 1
        else:
            out[-1] += " @endcode"
        prose = index = end
    take_prose(len(texts))
    return out


class Reader:
    def __init__(self, source):
        self.lines, self.out, self.at = source.splitlines(), [], 0
        self.scopes = Scopes()
        self.told = False   # a comment stands before the line that comes

    def read(self):
        self.out, self.at = ["/// @file"], 1  # in the place of the licence
        self.take_run("///", self.run(1))
        while self.at < len(self.lines):
            run = self.run(self.at)
            if not run and self.lines[self.at] == "template <>":  # of a name in std, which Doxygen takes for weft's
                self.out += ["//", "//"]
                self.at += 2
            elif not run:
                self.take_line(self.lines[self.at])
            else:
                self.take_before(run)
        return "\n".join(self.out) + "\n"

    def run(self, at):
        matches = []
        while at < len(self.lines) and (match := COMMENT.match(self.lines[at])):
            matches.append(match)
            at += 1
        return matches

    def take_run(self, mark, run, whole=False):
        texts = of_comment([match["text"] for match in run])
        if not whole:
            text = "\n".join(texts)
            first = re.match(r"(?:`[^`]*`|(?!@code).)*?(?<!\.)[.?!]\s(?=\S)", text, re.S)
            texts = (first[0] + DETAILS + text[first.end():] if first else text).split("\n")
        texts[0] = BRIEF + texts[0]
        self.out += [f"{match['indent']}{mark} {text}".rstrip() for match, text in zip(run, texts)]
        self.at += len(run)

    def take_before(self, run):
        behind = self.at + len(run)
        following = self.lines[behind] if behind < len(self.lines) else ""
        if self.scopes.documented() and not NO_ENTITY.match(following):
            self.take_run("///", run, whole=not SCOPE.match(following.strip()))
            self.told = True
        else:
            self.out += [match[0] for match in run]
            self.at = behind

    def take_line(self, line):
        plain = without_literals(line)
        begin = plain.find("//")
        code = line if begin < 0 else line[:begin].rstrip()
        inside = self.scopes.documented() and not NO_ENTITY.match(line)
        self.scopes.read(plain if begin < 0 else plain[:begin])
        if inside and begin >= 0:
            self.take_behind(line, code, begin)
            return
        elif inside and not self.told and (match := SPECIAL_MEMBER.search(line)):
            line += "  ///< Member by member." if match[1] == "default" else "  ///< Deleted."
        self.told = False
        self.out.append(line)
        self.at += 1

    def take_behind(self, line, code, begin):
        run = [match for match in self.run(self.at + 1) if len(match["indent"]) == begin]
        texts = [line[begin + 2:].strip(), *(match["text"] for match in run)]
        front = f"/** {prose_of(' '.join(texts))} */"
        if code.endswith("{") or SCOPE.match(code):  # of what is opened here: Doxygen would take it for the first member's
            self.out += [f"{front} {code}", *("" for _ in run)]
        elif several := SEVERAL.match(code):
            names = several["names"].split(", ")
            self.out += [" ".join(f"{front} {several['type']} {name};" for name in names), *("" for _ in run)]
        else:
            texts = prose_of("\n".join(texts)).split("\n")
            self.out += [f"{line[:begin]}///< {BRIEF}{texts[0]}", *(f"{' ' * begin}///< {text}" for text in texts[1:])]
        self.told = False
        self.at += 1 + len(run)


def as_doxygen_reads(source):
    return Reader(source).read()


if __name__ == "__main__":
    print(as_doxygen_reads(Path(sys.argv[1]).read_text()), end="")
