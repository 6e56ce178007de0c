#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No class has more than 20 direct members: an object with more has parts without names.

Counted are the non-static data members that a class declares itself, those of an anonymous struct or union in it among them;
what a base class has, or a class inside it, is theirs. Tests are read as well: a fixture that knows everything is no better.

    members.py                check
    members.py --widest 10    and show the ten widest
    members.py <file> ...     show each class of these files
"""

import argparse
import pathlib
import re
import sys

from rooms import MAY_INCLUDE, ROOT

MOST = 20
FOLDERS = [*MAY_INCLUDE, "tests", "examples"]
SUFFIXES = {".hpp", ".cpp", ".h", ".c"}

# (file, class) -> why it may have more.
EXEMPT = {
    ("verbs/policy.hpp", "Policy"): "the public record of settings: a field for each key of the policy's text, in its order",
}

TOKEN = re.compile(r"""
    //[^\n]* | /\*.*?\*/ | ^[ \t]*\#(?:\\\n|[^\n])*              # comments, the preprocessor's lines
  | (?:u8|[uUL])?R"(?P<raw>[^(\s]*)\(.*?\)(?P=raw)"              # raw strings
  | (?:u8|[uUL])?"(?:\\.|[^"\\\n])*" | (?:u8|[uUL])?'(?:\\.|[^'\\\n])+'
  | [A-Za-z_]\w* | (?:\d|\.\d)(?:'?[\w.]|(?<=[eEpP])[+-])*
  | :: | -> | \.\.\. | << | [-+*/%&|^=!<>]= | && | \|\| | \S
""", re.X | re.S | re.M)
NO_TOKEN = ("//", "/*", "#")
CLOSING = {"(": ")", "{": "}", "[": "]"}
KEYS = {"class", "struct", "union"}
NO_MEMBER = {"using", "typedef", "friend", "static_assert", "static", "template", "public", "private", "protected"}
CALLED = {"alignas", "decltype", "noexcept", "explicit", "requires", "__attribute__"}
NAME = re.compile(r"[A-Za-z_]\w*")


def tokens(text):
    found = []
    for match in TOKEN.finditer(text):
        token = match[0]
        if not token.lstrip().startswith(NO_TOKEN):
            found.append((token, text.count("\n", 0, match.start()) + 1))
    return found


def plain(head):
    """A statement's tokens without template parameters, attributes and alignas(...)."""
    kept, at = [], 0
    while at < len(head):
        token = head[at]
        if token == "template" and head[at + 1:at + 2] == ["<"]:
            at = angle(head, at + 1)
        elif token == "[" and head[at + 1:at + 2] == ["["]:
            at = balanced(head, at)
        elif token in CALLED and head[at + 1:at + 2] == ["("]:
            at = balanced(head, at + 1)
            if token == "decltype":
                kept.append(token)
        else:
            kept.append(token)
            at += 1
    return kept


def balanced(head, at):
    """Behind the bracket that closes the one at `at`."""
    depth = 0
    while at < len(head):
        depth += (head[at] in CLOSING) - (head[at] in CLOSING.values())
        at += 1
        if depth == 0:
            break
    return at


def angle(head, at):
    """Behind the > that closes the < at `at`; `at` + 1 when it is a comparison."""
    depth, here = 0, at
    while here < len(head) and head[here] not in (";", "}", ")", "]"):
        if head[here] in CLOSING:
            here = balanced(head, here)
            continue
        depth += (head[here] == "<") - (head[here] == ">")
        here += 1
        if depth == 0:
            return here
    return at + 1


def class_name(head):
    """Of the class that begins with the brace behind this head; None when another thing does, "" when it has no name."""
    head = plain(head)
    while head and head[0] in ("typedef", "static", "const", "constexpr", "inline", "mutable", "extern"):
        head = head[1:]
    if not head or head[0] not in KEYS:
        return None
    names, at = [], 1
    while at < len(head) and head[at] != ":":
        if head[at] == "<":
            at = angle(head, at)
            continue
        if not NAME.fullmatch(head[at]) and head[at] != "::":
            return None  # struct A f() {, struct A a[] = {, struct A* a{
        names.append(head[at])
        at += 1
    if names[-1:] == ["final"]:
        names.pop()
    name = "".join(names)
    return name if all(a == "::" or b == "::" for a, b in zip(names, names[1:])) else None  # struct A a{


def declarators(head):
    """Of a declaration: how many names it declares; 0 of a function."""
    count, at, in_value = 1, 0, False
    while at < len(head):
        token = head[at]
        if token == "<":
            at = angle(head, at)
        elif token == "(" and head[at + 1:at + 2] == ["*"] and not in_value:
            at = balanced(head, balanced(head, at))  # a pointer to a function
        elif token == "operator" or (token == "(" and not in_value):
            return 0
        elif token in CLOSING:
            in_value = in_value or token == "{"
            at = balanced(head, at)
        else:
            in_value = token == "=" or (in_value and token != ",")
            count += token == ","
            at += 1
    return count


def declared(head):
    """How many members a declaration in a class declares: 0 for functions, types and what is static."""
    head = plain(head)
    if not head or head[0] in NO_MEMBER or "static" in head:
        return 0
    if head[0] in KEYS and len(head) == 2 or head[0] == "enum" and (len(head) == 2 or "class" in head or ":" in head):
        return 0  # a type, defined elsewhere
    return declarators(head)


def opens_value(head):
    """In a class: is the brace behind this head a value, and not the body of a function?"""
    head = plain(head)
    if not head or declarators(head) > 0:
        return bool(head)
    if "(" not in head:
        return False  # operator=... of which the parameters are still to come
    behind = head[balanced(head, head.index("(")):]  # of a constructor: the values of members
    return ":" in behind and (NAME.fullmatch(behind[-1]) is not None or behind[-1] == ">")


class Reader:
    """Walks through one file's tokens, scope by scope."""

    def __init__(self, text):
        found = tokens(text)
        self.text = [token for token, _ in found]
        self.lines = [line for _, line in found]
        self.at = 0
        self.classes = []  # (line, qualified name, members)

    def scope(self, outer, inside):
        """Up to the closing brace of a namespace, a function or, with `inside`, a class; the members declared in it."""
        count, head, begun = 0, [], self.at
        while self.at < len(self.text):
            token = self.text[self.at]
            if token == "}":
                self.at += 1
                return count
            if not head:
                begun = self.at
            self.at += 1
            if token == ";":
                count += declared(head) if inside else 0
                head = []
            elif token == ":" and inside and head[-1:] and head[-1] in ("public", "private", "protected"):
                head = []
            elif token in ("(", "["):
                end = balanced(self.text, self.at - 1)
                head += self.text[self.at - 1:end]
                self.at = end
            elif token == "{":
                more, head = self.braces(outer, inside, head, begun)
                count += more
            else:
                head.append(token)
        return count

    def braces(self, outer, inside, head, begun):
        """Behind a brace: (members that what it opened declares, the head that goes on behind it)."""
        name = class_name(head)
        if name is not None:
            mine = len(self.classes)
            whole = "::".join(part for part in (outer, name or f"(line {self.lines[begun]})") if part)
            self.classes.append(None)
            members = self.scope(whole, True)
            self.classes[mine] = (self.lines[begun], whole, members)
            behind = self.behind_type()
            return (members if inside and not name and not behind else 0), behind
        if "enum" in plain(head)[:1]:
            self.at = balanced(self.text, self.at - 1)
            return 0, self.behind_type()
        if inside and opens_value(head):
            end = balanced(self.text, self.at - 1)
            head = head + self.text[self.at - 1:end]
            self.at = end
            return 0, head
        self.scope(outer, False)  # a namespace, a function, or a value that is no member's
        return 0, []

    def behind_type(self):
        """The head of what is declared behind a type's closing brace."""
        return [] if self.text[self.at:self.at + 1] == [";"] else ["auto"]


def classes_of(text):
    reader = Reader(text)
    while reader.at < len(reader.text):
        reader.scope("", False)
    return reader.classes


def files():
    for folder in FOLDERS:
        yield from sorted(p for p in (ROOT / folder).rglob("*") if p.suffix in SUFFIXES and p.is_file())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--widest", type=int, default=0)
    parser.add_argument("file", nargs="*", type=pathlib.Path)
    wanted = parser.parse_args()
    found = []
    for path in wanted.file or files():
        name = path.resolve().relative_to(ROOT).as_posix()
        found += [(count, name, line, whole) for line, whole, count in classes_of(path.read_text())]
    found.sort(key=lambda entry: (-entry[0], entry[1:]))
    for count, name, line, whole in found[:None if wanted.file else wanted.widest]:
        print(f"{count:4} {name}:{line}: {whole}")
    if wanted.file:
        return 0
    faults = [f"{name}:{line}: {whole} has {count} direct members, and {MOST} is the most"
              for count, name, line, whole in found if count > MOST and (name, whole) not in EXEMPT]
    wide = {(name, whole) for count, name, _, whole in found if count > MOST}
    faults += [f"tests/lint/members.py: {name}: {whole} needs no exemption" for name, whole in sorted(EXEMPT.keys() - wide)]
    print("\n".join(faults) or f"{len(found)} classes have {MOST} direct members at most; exempt: {len(EXEMPT)}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
