# SPDX-License-Identifier: Apache-2.0
"""A document as Doxygen's Markdown reads it: headings have the anchors that GitHub gives them, links lead to pages of the site,
indented code is fenced, and no word of the text is taken for a command."""

import posixpath
import re

import plan
from markup import CODE, INSTEAD, code_span, escape

# Within a paragraph.
STRONG = re.compile(r"\*\*(?=\S)((?:(?!\n\n).)+?)(?<=\S)\*\*", re.S)
EMPHASIS = re.compile(r"(?<![\w*\\])\*(?=\S)((?:(?!\n\n)[^*])+?)(?<=\S)\*(?![\w*])")
HEADING = re.compile(r"(#+) +(.*?) *$")
TOKEN = re.compile(
    r"\]\((?P<target>[^)#\s]*)(?:#(?P<fragment>[^)\s]*))?\)|(?P<kept><https?://[^>]*>|</?(?:br|sub|sup|kbd)>|\\.|^\|[-:| ]+\|$|^-{3,}$|^> )"
    r"|(?P<comment><!--.*?-->)|(?P<special>--+|[\\@<>#%&\"]|~~|(?<!\w)::)", re.M | re.S)


class Page:
    """`files` gathers what it links to that is no page: the tree's own files and folders."""

    def __init__(self, document, files):
        self.document, self.files, self.slugs = document, files, {}
        self.titled = False

    def convert(self, text):
        return "\n".join(self.block(kind, lines) for kind, lines in blocks(text.split("\n")))

    def block(self, kind, lines):
        if kind == "fence":
            return "\n".join(["~~~" + (f"{{.{lines[0].strip('` ')}}}" if lines[0].strip("` ") else ""), *lines[1:-1], "~~~"])
        if kind == "code":
            return "\n".join(["~~~", *(line[4:] for line in lines), "~~~"])
        return "\n".join(map(self.heading, without_false_items(self.emphasised("\n".join(lines)).split("\n"))))

    def emphasised(self, text):
        """Doxygen overlooks emphasis around code. So `code` stands aside until that is found."""
        codes = []

        def aside(match):
            codes.append(code_span(match))
            return f"\0{len(codes) - 1}\0"

        text = self.text(CODE.sub(aside, text))
        text = STRONG.sub(r"<b>\1</b>", text)
        text = EMPHASIS.sub(r"<em>\1</em>", text)
        return re.sub("\0(\\d+)\0", lambda match: codes[int(match[1])], text)

    def heading(self, line):
        """The first is the page's title. Doxygen takes # for a section of the page, so the others move up by one."""
        match = HEADING.match(line)
        if not match:
            return line
        words = CODE.sub(lambda code: escape(code["code"]), match[2])  # Doxygen would show the markup
        if not self.titled:
            self.titled = True
            words = re.sub(r"^(\d+)\. ", r"\1\\. ", words)  # or it would be the first item of a list
            return f"# {words} {{#{plan.label(self.document)}}}"
        slug = plan.slug(as_written(match[2]))
        self.slugs[slug] = self.slugs.get(slug, -1) + 1
        if self.slugs[slug]:
            slug += f"-{self.slugs[slug]}"
        return f"{match[1][1:] or '#'} {words} {{#{plan.anchor(self.document, slug)}}}"

    def text(self, text):
        return TOKEN.sub(self.token, text)

    def token(self, match):
        if match["target"] is not None:
            return f"]({self.link(match['target'], match['fragment'])})"
        if match["comment"]:
            return ""
        if match["kept"]:
            return match["kept"]
        at_line = match.string[match.string.rfind("\n", 0, match.start()) + 1:match.end()]
        if match["special"] == "#" and re.fullmatch("#+", at_line):  # of a heading
            return "#"
        return INSTEAD.get(match["special"], "\\" + match["special"])

    def link(self, target, fragment):
        if re.match(r"[a-z]+:", target):
            return target + (f"#{fragment}" if fragment else "")
        folder = posixpath.dirname(self.document)
        path = posixpath.normpath(posixpath.join(folder, target)) if target else self.document
        page = posixpath.join(path, "README.md") if (plan.ROOT / path / "README.md").exists() else path
        if page.endswith(".md"):
            return plan.page_of(page) + (f"#{plan.anchor(page, fragment)}" if fragment else "")
        if path in plan.headers():
            return plan.page_of_header(path)
        return self.files.add(path)


def without_false_items(lines):
    """A line in mid-sentence that begins with "14. " is no item of a list: those of a list stand below one another."""
    places = set()
    for before, line in zip(["", *lines], lines):
        match = re.match(r"( *)(\d+)\. ", line)
        if match and before.strip() and match[2] != "1" and match[1] not in places:
            line = line.replace(". ", "\\. ", 1)
        elif match:
            places.add(match[1])
        yield line


def as_written(heading):
    """A heading without what this module has put into it."""
    for character, entity in INSTEAD.items():
        heading = heading.replace(entity, character)
    return re.sub(r"\\(--+|[\\@#%]|~~|::)", r"\1", heading)


def blocks(lines):
    """(kind, lines): "fence", "code" (indented) and "text"."""
    out, at = [], 0
    while at < len(lines):
        end = at + 1
        if lines[at].startswith("```"):
            while end < len(lines) and not lines[end].startswith("```"):
                end += 1
            out.append(("fence", lines[at:end + 1]))
            at = end + 1
            continue
        if lines[at].startswith("    ") and (at == 0 or not lines[at - 1].strip()):
            while end < len(lines) and (lines[end].startswith("    ") or (not lines[end].strip() and end + 1 < len(lines)
                                                                           and lines[end + 1].startswith("    "))):
                end += 1
            out.append(("code", lines[at:end]))
        elif out and out[-1][0] == "text":
            out[-1][1].append(lines[at])
        else:
            out.append(("text", [lines[at]]))
        at = end
    return out
