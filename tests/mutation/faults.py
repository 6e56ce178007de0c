# SPDX-License-Identifier: Apache-2.0
"""Where a file can have a fault of one token, and what it would be."""

import hashlib
import re
from dataclasses import dataclass

from source import Source

RELATION = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
EQUALITY = {"==": "!=", "!=": "=="}
LOGIC = {"&&": "||", "||": "&&"}
ARITHMETIC = {"+": "-", "-": "+", "*": "/", "/": "*", "%": "/", "&": "|", "|": "&", "^": "&", "<<": ">>",
              "+=": "-=", "-=": "+=", "|=": "&=", "&=": "|=", "++": "--", "--": "++"}
OPERATORS = {"relation": RELATION, "equality": EQUALITY, "logic": LOGIC, "arithmetic": ARITHMETIC}
KINDS = ("constant", "statement", "relation", "logic", "check", "code", "arithmetic", "equality")

INTEGER = re.compile(r"(0[xX][0-9a-fA-F']+|0[bB][01']+|[0-9][0-9']*)([uUlLzZ]*)$")
ENUM = re.compile(r"enum class (\w+)[^{;]*\{([^}]*)\}")
ERRORS = re.compile(r"(Error|Errc|Fault|Misuse|Status|Refusal)$")
STOP = {",", ";", "?", ":", "=", "return", "case", "throw", "else", "do", "co_return", "+=", "-=", "*=", "/=", "%=", "|=", "&=", "^=",
        "<<=", ">>="}
NO_STATEMENT = {"return", "if", "for", "while", "switch", "const", "auto", "using", "break", "continue", "static", "case", "default",
                "throw", "do", "try", "else", "constexpr", "typedef", "struct", "class", "enum", "template", "static_assert", "delete",
                "friend", "public", "private", "protected", "operator", "explicit", "virtual", "inline", "goto", "unsigned", "int",
                "bool", "char", "void", "double", "namespace", "extern", "assert", "catch", "mutable"}


@dataclass
class Fault:
    path: str
    kind: str
    start: int          # of the token, and behind it
    end: int
    before: str
    after: str
    region: tuple       # of the expression or statement that is chosen by the switch
    how: str            # "choose" between two expressions, "skip" a statement or put another "instead", "force" a condition, "name" a
                        # condition's variable
    switched: bool      # False: only to be had by compiling it in
    line: int = 0
    column: int = 0
    complaint: int = 0  # the line of the switch
    text: str = ""
    key: str = ""
    number: int = -1

    def describe(self):
        return f"{self.kind}: `{self.before}` -> `{self.after}`"


def enumerators(texts):
    """Names of errors, with what follows each in its enum."""
    found = {}
    for text in texts:
        for name, body in ENUM.findall(re.sub(r"//[^\n]*", "", text)):
            names = [part.split("=")[0].strip() for part in body.split(",") if part.strip()]
            names = [n for n in names if re.fullmatch(r"\w+", n)]
            if ERRORS.search(name) and len(names) > 1:
                found.setdefault(name, {}).update(zip(names, names[1:] + names[:1]))
    return found


def region_around(source, i):
    """The operands of the binary operator i and whatever is tied to them, as far as brackets, commas and assignments."""
    tokens, left = source.tokens, i
    while left > 0 and left - 1 != source.parent[i]:
        text = tokens[left - 1].text
        if text in STOP or (text == "}" and source.scope.get(source.pair.get(left - 1)) != "list"):
            break
        if text == ")" and _heads_statement(source, source.pair.get(left - 1)):
            break
        left = source.pair.get(left - 1, left - 1) if text in ")]}>" else left - 1
    right, closing = i, source.pair.get(source.parent[i], len(tokens)) if source.parent[i] is not None else len(tokens)
    while right + 1 < closing and tokens[right + 1].text not in STOP:
        right = source.pair.get(right + 1, right + 1) if tokens[right + 1].text in "([{<" else right + 1
    return tokens[left].start, tokens[right].end


def _heads_statement(source, opening):
    return opening is not None and opening > 0 and source.tokens[opening - 1].text in ("if", "for", "while", "switch")


def _constants(source, i, switched):
    token = source.tokens[i]
    match = INTEGER.match(token.text)
    if not match or source.in_angles(i):
        return
    digits = match.group(1).replace("'", "")
    value = int(digits, 0) if digits.lower().startswith(("0x", "0b")) else int(digits, 10)
    down = value > 0 and hashlib.sha256(f"{source.path}{source.line_text(token.start)}".encode()).digest()[0] % 2
    changed = value - 1 if down else value + 1
    text = (hex(changed) if digits.lower().startswith("0x") else str(changed)) + match.group(2)
    yield Fault(source.path, "constant", token.start, token.end, token.text, text, (token.start, token.end), "choose", switched)


def _operators(source, i, switched):
    token = source.tokens[i]
    step = token.text in ("++", "--")
    if source.in_angles(i) or (not step and not source._spaced(i)) or source.tokens[i - 1].text == "operator":
        return
    if not step and (source.tokens[i - 1].kind not in ("id", "num", "char") and source.tokens[i - 1].text not in (")", "]", "}", ">")):
        return
    if i + 1 >= len(source.tokens) or any(source.tokens[k].kind == "str" for k in (i - 1, i + 1)):
        return
    for kind, table in OPERATORS.items():
        if token.text in table:
            yield Fault(source.path, kind, token.start, token.end, token.text, table[token.text], region_around(source, i), "choose",
                        switched)


def _codes(source, i, switched, enums):
    tokens = source.tokens
    if i < 2 or tokens[i - 1].text != "::" or tokens[i - 2].text not in enums or source.in_angles(i):
        return
    after = enums[tokens[i - 2].text].get(tokens[i].text)
    begin = i - 2
    while begin >= 2 and tokens[begin - 1].text == "::":
        begin -= 2
    if after and tokens[begin - 1].text not in ("case", "using"):
        yield Fault(source.path, "code", tokens[i].start, tokens[i].end, tokens[i].text, after, (tokens[begin].start, tokens[i].end),
                    "choose", switched)


def _checks(source, i):
    opening = i + 1
    if source.tokens[opening].text != "(" or opening not in source.pair:
        return
    first, last = opening + 1, source.pair[opening]
    inner = [k for k in range(first, last) if source.parent[k] == opening]
    semicolon = [k for k in inner if source.tokens[k].text == ";"]
    assign = [k for k in inner if source.tokens[k].text == "="]
    begin = semicolon[0] + 1 if semicolon else first
    start, end = source.tokens[begin].start, source.tokens[last - 1].end
    how = "force"
    if not semicolon and assign and source.tokens[first].text in ("const", "auto"):
        how, start = "name:" + source.tokens[assign[0] - 1].text, end
    elif assign and not semicolon:
        return
    shown = source.text[source.tokens[begin].start:end]
    forced = f"{shown}; false && {how[5:]}" if how.startswith("name:") else f"false && ({shown})"
    yield Fault(source.path, "check", start, end, shown, forced, (start, end), how, True)


def _statements(source, i):
    tokens, up = source.tokens, source.parent[i]
    if up is None or source.scope.get(up) != "body" or (tokens[i].kind != "id" and tokens[i].text not in ("*", "++", "--")):
        return
    if tokens[i].text in NO_STATEMENT or [t.text for t in tokens[i + 2:i + 3]] in (["unreachable"], ["abort"]):
        return
    before = tokens[i - 1].text
    begins = before in (";", "{", "else") or (before == "}" and source.scope.get(source.pair.get(i - 1)) != "list") \
        or (before == ")" and _heads_statement(source, source.pair.get(i - 1)))
    if before == ":" and "case" in [tokens[k].text for k in range(max(0, i - 6), i)]:
        begins = True
    if not begins:
        return
    k = i
    while tokens[k].kind == "id" or tokens[k].text in ("::", "*", "++", "--"):
        if tokens[k].kind == "id" and tokens[k + 1].kind == "id":
            return  # a declaration
        if tokens[k].text == "*" and k > i and tokens[k - 1].kind == "id":
            return
        k += 1
        if tokens[k].text == "<" and k in source.pair:
            k = source.pair[k] + 1
            if tokens[k].kind == "id" or tokens[k].text in ("&", "*"):
                return
    if tokens[k].text in ("&", "{", ":") or (tokens[k - 1].text == "*" and k - 1 > i):
        return
    end = k
    while tokens[end].text != ";":
        if tokens[end].text in "([{" and end in source.pair:
            end = source.pair[end]
        end += 1
        if end >= len(tokens) or tokens[end].text == "}":
            return
    region = tokens[i].start, tokens[end].end
    shown = source.text[region[0]:region[1]]
    yield Fault(source.path, "statement", region[0], region[1], shown, "(void)0;", region, "skip", True)


def faults_of(path, text, enums):
    """All of a file, in its order."""
    source, found = Source(path, text), []
    for i, token in enumerate(source.tokens):
        if token.kind == "str":
            continue
        words = source.statement_words(i)
        if {"static_assert", "using", "requires", "concept", "alignas", "virtual"} & set(words):
            continue
        switched = not ({"constexpr", "consteval", "enum", "case", "constinit"} & set(words))
        if token.kind == "num":
            found += _constants(source, i, switched)
        elif token.kind == "op":
            found += _operators(source, i, switched and source.in_code(i))
        elif token.text == "if" and source.in_code(i):
            found += _checks(source, i)
        elif token.kind == "id":
            found += _codes(source, i, switched, enums)
        found += _statements(source, i)
    seen = {}
    for fault in found:
        fault.complaint = source.line_of(fault.region[1 if fault.how.startswith("name:") else 0])
        fault.line, fault.text = source.line_of(fault.start), source.line_text(fault.start)
        fault.column = column = fault.start - source.text.rfind("\n", 0, fault.start)
        twin = (fault.text, column, fault.kind, fault.before)
        seen[twin] = seen.get(twin, 0) + 1
        fault.key = hashlib.sha256("\0".join([path, fault.text, str(column), fault.kind, fault.before, fault.after,
                                              str(seen[twin])]).encode()).hexdigest()[:16]
    return found
