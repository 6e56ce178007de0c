# SPDX-License-Identifier: Apache-2.0
"""A C++ file as tokens and brackets: as much of the language as one needs to put a fault into formatted code."""

import re

TOKEN = re.compile(r"""
    (?P<skip>\s+|//[^\n]*|/\*.*?\*/)
  | (?P<pre>^[ \t]*\#(?:[^\n\\]|\\.|\\\n)*)
  | (?P<str>(?:u8|[uUL])?R"(?P<d>[^(]*)\(.*?\)(?P=d)"|(?:u8|[uUL])?"(?:[^"\\\n]|\\.)*")
  | (?P<char>'(?:[^'\\\n]|\\.)+')
  | (?P<num>\.?\d(?:[eEpP][+-]|'[0-9a-fA-F]|[\w.])*)
  | (?P<id>[A-Za-z_]\w*)
  | (?P<op><<=|<=>|->\*|\.\.\.|::|->|\+\+|--|<<|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|.)
""", re.X | re.S | re.M)
OPENS, CLOSES = "([{", ")]}"
BEFORE_BODY = {")", "const", "noexcept", "override", "final", "mutable", "else", "do", "try", "]"}
TYPE_WORDS = {"class", "struct", "union", "enum"}


class Token:
    def __init__(self, kind, text, start):
        self.kind, self.text, self.start, self.end = kind, text, start, start + len(text)


class Source:
    """tokens; pair[i]: the other bracket of token i; scope[i]: what the brace i opens ("names", "type", "body", "list")."""

    def __init__(self, path, text):
        self.path, self.text = path, text
        self.tokens = [Token(m.lastgroup if m.lastgroup != "d" else "str", m.group(), m.start())
                       for m in TOKEN.finditer(text) if m.lastgroup not in ("skip", "pre")]
        self.pair, self.scope, self.parent = {}, {}, []
        self._match()

    def _match(self):
        stack = []
        for i, token in enumerate(self.tokens):
            if token.text in CLOSES and token.kind == "op":
                while stack and self.tokens[stack[-1]].text == "<":
                    stack.pop()
                if stack:
                    self._join(stack.pop(), i)
            elif token.text == ">" and stack and self.tokens[stack[-1]].text == "<" and not self._spaced(i):
                self._join(stack.pop(), i)
            self.parent.append(stack[-1] if stack else None)
            if token.kind != "op":
                continue
            if token.text in OPENS:
                if token.text == "{":
                    self.scope[i] = self._scope_of(i)
                stack.append(i)
            elif token.text == "<" and self._opens_angle(i):
                stack.append(i)

    def _join(self, opening, closing):
        self.pair[opening], self.pair[closing] = closing, opening

    def _spaced(self, i):
        """Blanks on both sides: what the formatter leaves around binary operators."""
        token = self.tokens[i]
        return self.text[token.start - 1].isspace() and self.text[token.end:token.end + 1].isspace()

    def _opens_angle(self, i):
        before = self.tokens[i - 1] if i else None
        return before is not None and before.kind == "id" and before.text != "operator" and not self._spaced(i)

    def _scope_of(self, i):
        head = self.head(i)
        words = [self.tokens[k].text for k in head]
        if "namespace" in words or "extern" in words:
            return "names"
        if words and any(word in TYPE_WORDS for word in words) and "(" not in words and "=" not in words:
            return "type"
        before = self.tokens[i - 1].text if i else ""
        if before in BEFORE_BODY:
            return "body"
        if "->" in words and ")" in words and words.index("->") > words.index(")") and "=" not in words:
            return "body"  # a trailing return type
        if ":" in words and "(" in words and before == "}":
            return "body"  # behind a constructor's list of members
        if before in ("{", "}", ";", ""):  # a block of statements, or what lies in another list
            up = self.parent_of_next(i)
            return "list" if up is not None and self.scope.get(up) == "list" else "body"
        return "list"

    def parent_of_next(self, i):
        """The bracket around token i, whose own place is not in `parent` yet."""
        k = i - 1
        while k >= 0 and (k in self.pair or self.tokens[k].text not in "([{"):
            k = self.pair[k] - 1 if k in self.pair else k - 1
        return k if k >= 0 else None

    def head(self, i):
        """The tokens of the statement or declaration before token i, brackets within it by their opening one alone."""
        found, k = [], i - 1
        while k >= 0:
            text = self.tokens[k].text
            if text == ";" or (text in "{([" and k not in self.pair) or (text == "<" and k not in self.pair and self._opens_angle(k)):
                break
            if text == "}" and self.scope.get(self.pair.get(k)) != "list":
                break
            if k in self.pair and self.pair[k] < k:
                found.append(k)
                k = self.pair[k]
            found.append(k)
            k -= 1
        return found[::-1]

    def statement_words(self, i):
        """All words from the beginning of the statement that token i is in, the brackets around it included."""
        words, k = [], i
        while k is not None:
            words += [self.tokens[j].text for j in self._head_within(k)]
            up = self.parent[k]
            if up is None or self.scope.get(up) in ("body", "names", "type"):
                if up is not None and self.scope[up] == "type":
                    words += [t for t in (self.tokens[j].text for j in self._head_within(up)) if t == "enum"]
                break
            k = up
        return words

    def _head_within(self, i):
        up, found, k = self.parent[i], [], i - 1
        while k >= 0 and k != up:
            text = self.tokens[k].text
            if text == ";" or (text == "}" and self.scope.get(self.pair.get(k)) != "list"):
                break
            if k in self.pair and self.pair[k] < k:
                k = self.pair[k]
            found.append(k)
            k -= 1
        return found

    def in_code(self, i):
        """Within the body of a function."""
        while (up := self.parent[i]) is not None:
            if self.scope.get(up) == "body":
                return True
            i = up
        return False

    def in_angles(self, i):
        while (up := self.parent[i]) is not None:
            if self.tokens[up].text == "<":
                return True
            if self.scope.get(up) == "body":
                return False
            i = up
        return False

    def line_of(self, offset):
        return self.text.count("\n", 0, offset) + 1

    def line_text(self, offset):
        begin = self.text.rfind("\n", 0, offset) + 1
        end = self.text.find("\n", offset)
        return self.text[begin:end if end >= 0 else None].strip()
