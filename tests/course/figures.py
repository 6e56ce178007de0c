#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The figures of docs/course/, and the tables of policy keys in other pages, are those of the code: figures.py PROGRAM, where PROGRAM
(figures.cpp) prints them. With --write they are put into the pages. A figure stands between `<!-- figure NAME -->` and
`<!-- end of the figure -->`; on a manual page between comments of roff with the same words. The same of the drawn figures (drawings.py): each
lesson shows one at least."""

import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from drawings import drawings  # noqa: E402

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = [*sorted((DOCS / "course").glob("*.md")), DOCS / "drop-in.md", DOCS / "man/weft-run.1"]
MARK = r'(?:<!--|\.\\")'
FIGURE = re.compile(rf"^({MARK} figure ([\w-]+)[^\n]*\n)(.*?)(?=^{MARK} end of the figure)", re.M | re.S)


def figures(text):
    """name -> what stands between its marks."""
    return {name: body for _, name, body in FIGURE.findall(text)}


def faults(name, text, now):
    """A sentence for each figure of a page that is not as it is now."""
    if len(re.findall(rf"^{MARK} (?:figure|end of the figure)\b", text, re.M)) != 2 * len(FIGURE.findall(text)):
        yield f"{name}: the marks of its figures are not in pairs"
    for figure, table in figures(text).items():
        if figure not in now:
            yield f"{name}: there is no figure {figure}"
        elif table != now[figure]:
            yield f"{name}: the figure {figure} has to be\n{now[figure]}"


def with_figures(text, now):
    return FIGURE.sub(lambda match: match[1] + now.get(match[2], match[3]), text)


def drawing_faults(now, write):
    """A sentence for each drawn figure that is not as it is now, or that no page shows, and for each lesson without one."""
    course = DOCS / "course"
    shown = {f"../{name}" for name in re.findall(r"\]\(([\w-]+\.svg)\)", (DOCS / "front-page.md").read_text())}
    for lesson in sorted(course.glob("[0-9]-*.md")):
        names = set(re.findall(r"!\[[^\]]+\]\(([\w-]+\.svg)\)", lesson.read_text()))
        shown |= names
        if not names:
            yield f"{lesson.name}: it shows no drawn figure"
    for name, svg in drawings(now).items():
        path = course / name
        if write:
            path.write_text(svg)
        if not path.exists() or path.read_text() != svg:
            yield f"{name}: it is not as drawings.py makes it: --write"
    if shown != set(drawings(now)):
        yield f"shown, or made, but not both: {', '.join(sorted(shown ^ set(drawings(now))))}"


def main():
    words = [word for word in sys.argv[1:] if word != "--write"]
    now = figures(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
    found, used = [], set()
    for page in PAGES:
        if "--write" in sys.argv:
            page.write_text(with_figures(page.read_text(), now))
        found += faults(page.name, page.read_text(), now)
        used |= set(figures(page.read_text()))
    found += drawing_faults(now, "--write" in sys.argv)
    found += [f"no page shows the figure {name}" for name in sorted(set(now) - used)]
    print("\n".join(found) or f"{len(used)} figures have the numbers of the code")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
