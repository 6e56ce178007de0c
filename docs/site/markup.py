# SPDX-License-Identifier: Apache-2.0
"""Words as Doxygen should print them: it takes @, <, #, --, quotes and more for commands of its own. `code` stays code."""

import re

CODE = re.compile(r"(?<!`)(?P<ticks>`+)(?!`)(?P<code>.+?)(?<!`)(?P=ticks)(?!`)", re.S)
SPECIAL = re.compile(r"--+|[\\@<>#%&\"*~|]|\b_(?=\W)|(?<!\w)_|(?<!\w)::")
# A quotation mark would keep the words behind it from being read at all.
INSTEAD = {'"': "&quot;", "<": "&lt;", ">": "&gt;", "&": "&amp;"}


def escape(text):
    """`text` has no markup at all."""
    return SPECIAL.sub(lambda match: INSTEAD.get(match[0], "\\" + match[0]), text)


def code_span(match):
    """Doxygen ends a `span' at an apostrophe, but not one in double backticks; it keeps the backslash of a | in a
    table, and loses a %."""
    if "\\|" in match["code"] or "%" in match["code"]:
        return "<code>" + "\\|".join(map(escape, match["code"].split("\\|"))) + "</code>"
    return f"``{match['code']}``" if "'" in match["code"] else f"`{match['code']}`"


def plain_text(text, others=escape):
    """`text` has `code` in it; all besides goes through `others`."""
    out, at = [], 0
    for match in CODE.finditer(text):
        out += [others(text[at:match.start()]), code_span(match)]
        at = match.end()
    return "".join(out) + others(text[at:])
