# SPDX-License-Identifier: Apache-2.0
"""The pages as they are read: what Doxygen writes goes into page.html, its headings become one order, tables may scroll, and words
that name a clause or a document lead there."""

import html
import re
from pathlib import Path

import plan
import reference

TEMPLATE = (Path(__file__).parent / "page.html").read_text()
NAVIGATION = (("contents.html", "Contents"), ("course.html", "Course"), ("tour.html", "Tour"), ("drop-in.html", "Programs"),
              ("contents.html#contents--api-reference", "API"), ("rfc-map.html", "Clauses"), ("decisions.html", "Decisions"))
CLAUSE = re.compile(r"\b(?:MPA2?|DDP|RDMAPX?|SEC)-\d[\d.]*-\d\d\b")
DOCUMENT = re.compile(r"\b(?:docs|tests|bench|pcap-samples)/[\w/-]+\.md\b|\b[A-Z]+\.md\b")
TAG = re.compile(r"(<[^>]*>)")
NOT_IN = {"a", "h1", "h2", "h3", "h4", "script", "style"}  # where no link is put


class Names:
    """Where clauses and documents are."""

    def __init__(self):
        self.clauses = set(re.findall(rf"^\| ({CLAUSE.pattern}) \|", (plan.ROOT / "docs/rfc-map.md").read_text(), re.M))
        self.documents = set(plan.documents())

    def link(self, match):
        word = match[0]
        if word in self.clauses:
            return f'<a class="clause" href="rfc-map.html#{word}">{word}</a>'
        return f'<a href="{plan.page_of(word)}">{word}</a>' if word in self.documents else word

    def linked(self, text, page):
        out, open_tags = [], []
        for piece in TAG.split(text):
            if name := re.match(r"<(/?)(\w+)", piece):
                if name[1] and name[2] in open_tags:
                    open_tags.remove(name[2])
                elif not name[1] and name[2] in NOT_IN:
                    open_tags.append(name[2])
            elif not open_tags:
                piece = DOCUMENT.sub(self.link, piece if page == "rfc-map.html" else CLAUSE.sub(self.link, piece))
            out.append(piece)
        return "".join(out)


def heading_levels(body):
    """Doxygen makes the sections of a document h1, like its title."""
    return re.sub(r"(</?h)([1-4])\b", lambda match: match[1] + str(int(match[2]) + 1), body)


def with_anchors(body):
    """The heading has the anchor itself, so that a link shows it."""
    return re.sub(r'(<h[2-5])([^>]*)><a class="anchor" id="([^"]*)"></a>\s*', r'\1 id="\3"\2>', body)


def sections(body):
    """A list of the page's sections, where it has more than one."""
    found = re.findall(r'<h2 id="([^"]*)"[^>]*>(.*?)</h2>', body, re.S)
    if len(found) < 2:
        return ""
    items = "".join(f'<li><a href="#{anchor}">{re.sub("<[^>]*>", "", text).strip()}</a></li>' for anchor, text in found)
    return (f'<aside class="wide" aria-label="On this page"><ul>{items}</ul></aside>\n'
            f'<details class="narrow"><summary>On this page</summary><ul>{items}</ul></details>\n')


def page(heading, body, name, here=(), root=""):
    """`heading` is HTML. `here`: the pages that there are, for the bar above."""
    nav = "".join(f'<a href="{root}{target}"{" aria-current=page" if target == name else ""}>{words}</a>'
                  for target, words in NAVIGATION if target.split("#")[0] in here)
    title = html.unescape(re.sub(r"<[^>]*>", "", heading)).strip()
    aside = sections(body)
    parts = {"title": html.escape(title if title == "weft" else f"{title} - weft"), "root": root, "nav": nav, "aside": aside,
             "heading": heading, "body": body.strip()}
    text = re.sub(r"@(\w+)@", lambda match: parts[match[1]], TEMPLATE)
    return text.replace('<div class="page">', '<div class="page with-aside">') if aside else text


def of_doxygen(text, name, names, here):
    """A page of Doxygen's, whose header and footer are marks (build.py)."""
    heading = re.search(r'<div class="title">(.*?)</div>', text, re.S)
    heading = heading[1] if heading else ""
    body = re.search(r'<div class="contents">\n?(.*)</div><!-- contents -->', text, re.S)[1]
    if reference.is_one(heading):
        heading, body = reference.heading(heading, text), reference.body(body)
    else:
        body = with_anchors(heading_levels(body))
    # What is wider than a phone scrolls by itself, by keyboard, too.
    body = re.sub(r'(<table class="(?:markdownTable|doxtable)">.*?</table>)', r'<div class="scroll" tabindex="0">\1</div>', body, flags=re.S)
    body = re.sub(r"<th([^>]*)>\s*</th>", r"<td\1></td>", body)
    body = body.replace('<div class="fragment">', '<div class="fragment" tabindex="0">')
    if name == "rfc-map.html":
        body = re.sub(rf"<td([^>]*)>({CLAUSE.pattern})", r'<td id="\2"\1>\2', body)
    return page(heading, names.linked(body, name), name, here)
