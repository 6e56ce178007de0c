#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The figures of docs/course/ have the numbers of the code: figures.py PROGRAM, where PROGRAM (figures.cpp) prints them. With --write
they are put into the lessons. A figure of a lesson stands between `<!-- figure NAME -->` and `<!-- end of the figure -->`."""

import re
import subprocess
import sys
from pathlib import Path

COURSE = Path(__file__).resolve().parents[2] / "docs/course"
FIGURE = re.compile(r"^<!-- figure ([\w-]+) -->\n(.*?)^<!-- end of the figure -->$", re.M | re.S)


def figures(text):
    """name -> what stands between its marks."""
    return dict(FIGURE.findall(text))


def faults(name, text, now):
    """A sentence for each figure of a page that is not as it is now."""
    if len(re.findall(r"<!-- (?:figure|end of the figure)\b", text)) != 2 * len(FIGURE.findall(text)):
        yield f"{name}: the marks of its figures are not in pairs"
    for figure, table in FIGURE.findall(text):
        if figure not in now:
            yield f"{name}: there is no figure {figure}"
        elif table != now[figure]:
            yield f"{name}: the figure {figure} has to be\n{now[figure]}"


def with_figures(text, now):
    return FIGURE.sub(lambda match: f"<!-- figure {match[1]} -->\n{now.get(match[1], match[2])}<!-- end of the figure -->", text)


def main():
    words = [word for word in sys.argv[1:] if word != "--write"]
    now = figures(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
    found, used = [], set()
    for page in sorted(COURSE.glob("*.md")):
        if "--write" in sys.argv:
            page.write_text(with_figures(page.read_text(), now))
        found += faults(page.name, page.read_text(), now)
        used |= set(figures(page.read_text()))
    found += [f"no lesson shows the figure {name}" for name in sorted(set(now) - used)]
    print("\n".join(found) or f"{len(used)} figures have the numbers of the code")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
