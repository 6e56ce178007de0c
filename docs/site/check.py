#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Is a folder of HTML whole? Every link inside it leads to a file and an anchor that are there, no page loads anything from
elsewhere, and no anchor is there twice.

    check.py FOLDER     prints what is wrong; exit code 1 when anything is"""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADS = {("link", "href"), ("object", "data"), ("form", "action"), ("use", "href"), ("base", "href")}  # and all src
IN_STYLE = re.compile(r"@import\s+(?:url\()?[\"']?([^\"')\s;]+)|url\(\s*[\"']?([^\"')]+)")


class Links(HTMLParser):
    """Of one page: its anchors, where its links lead, and what it loads."""

    def __init__(self, text):
        super().__init__()
        self.anchors, self.twice, self.links, self.loads, self.in_style = set(), set(), [], [], False
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.in_style = tag == "style"
        if anchor := attributes.get("id"):
            (self.twice if anchor in self.anchors else self.anchors).add(anchor)
        if tag == "a" and (name := attributes.get("name")):
            self.anchors.add(name)
        if tag in ("a", "area") and attributes.get("href") is not None:
            self.links.append(attributes["href"])
        for name, value in attributes.items():
            if value and (name in ("src", "poster", "xlink:href") or (tag, name) in LOADS):
                self.loads.append(value)
            if value and name == "srcset":
                self.loads += [part.split()[0] for part in value.split(",")]
            if value and name == "style":
                self.loads += in_style(value)

    def handle_endtag(self, _tag):
        self.in_style = False

    def handle_data(self, data):
        if self.in_style:
            self.loads += in_style(data)


def in_style(text):
    return [first or second for first, second in IN_STYLE.findall(text)]


def is_elsewhere(url):
    return bool(urlsplit(url).netloc or urlsplit(url).scheme)


def is_loaded_wrongly(url, folder):
    """`folder`: of the file that names it. What is inside the file itself is no fault."""
    inside = url.startswith(("data:", "#"))
    return not inside and (is_elsewhere(url) or not (folder / unquote(urlsplit(url).path)).is_file())


def faults(folder):
    pages = {path: Links(path.read_text(errors="replace")) for path in sorted(folder.rglob("*.html"))}
    for sheet in sorted(folder.rglob("*.css")):
        for url in in_style(sheet.read_text()):
            if is_loaded_wrongly(url, sheet.parent):
                yield f"{sheet.relative_to(folder)}: loads {url}"
    for path, page in pages.items():
        name = path.relative_to(folder)
        for anchor in sorted(page.twice):
            yield f"{name}: the anchor {anchor} is there twice"
        for url in page.loads:
            if is_loaded_wrongly(url, path.parent):
                yield f"{name}: loads {url}"
        for url in page.links:
            parts = urlsplit(url)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.is_file() or not target.is_relative_to(folder):
                yield f"{name}: {url}: there is no such file"
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
                yield f"{name}: {url}: there is no such anchor"


def main():
    folder = Path(sys.argv[1]).resolve()
    found = list(faults(folder))
    count = len(list(folder.rglob("*.html")))
    print("\n".join(found) or f"{count} pages: every link leads somewhere, and nothing is loaded from elsewhere")
    return 1 if found or not count else 0


if __name__ == "__main__":
    sys.exit(main())
