# SPDX-License-Identifier: Apache-2.0
"""Lines of a terminal as a static SVG: text that can be selected, the reader's own fixed-width font, its own dark ground."""

import html
import re

WIDTH, HEIGHT, MARGIN = 8.43, 19, 16  # of a character at 14 pixels; a line; around it all
# The colours of SGR, bright enough on the ground; 1 is bold, 2 faint.
COLOURS = {"31": "#ff7b72", "32": "#56d364", "33": "#e3b341", "34": "#79c0ff", "35": "#d2a8ff", "36": "#56d4dd", "37": "#e6edf3", "90": "#8b949e"}
HEAD = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">
<title>{title}</title>
<style>
text {{ font: 14px ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #e6edf3; white-space: pre }}
.s1 {{ font-weight: bold }} .s2 {{ fill: #8b949e }} {colours}
</style>
<rect width="100%" height="100%" rx="8" fill="#0d1117"/>
"""


def run(style, text):
    classes = " ".join(f"s{word if word not in ('91', '92', '93', '94', '95', '96') else '3' + word[1]}" for word in style)
    return f'<tspan class="{classes}">{html.escape(text)}</tspan>' if classes else html.escape(text)


def svg(lines, columns, title):
    head = HEAD.format(width=round(columns * WIDTH) + 2 * MARGIN, height=len(lines) * HEIGHT + 2 * MARGIN, title=html.escape(title),
                       colours=" ".join(f".s{word} {{ fill: {colour} }}" for word, colour in COLOURS.items()))
    rows = (f'<text x="{MARGIN}" y="{MARGIN + 14 + number * HEIGHT}" xml:space="preserve">{"".join(run(*part) for part in line)}</text>\n'
            for number, line in enumerate(lines))
    return head + "".join(rows) + "</svg>\n"


def text_of(picture):
    """The lines of such a picture, without colours."""
    return [html.unescape(re.sub(r"<[^>]*>", "", row)).rstrip() for row in re.findall(r"<text [^>]*>(.*)</text>", picture)]
