# SPDX-License-Identifier: Apache-2.0
"""An SVG picture of boxes, words and arrows, for drawings.py."""

from html import escape

COLORS = {"program": "#fff4d6", "kernel": "#e3e6ea", "tcp": "#e3e6ea", "mpa": "#cdeef2", "ddp": "#d6e4ff", "rdmap": "#f2dcf7", "payload": "#d9f2dc",
          "memory": "#d9f2dc", "verbs": "#fff4d6", "ib": "#ffe1d1", "wire": "#f3f4f6", "bad": "#ffd9d6", "none": "#ffffff"}
HEAD = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" aria-label="{title}">
<title>{title}</title>
<style>
text {{ font: 14px system-ui, "DejaVu Sans", sans-serif; fill: #1f2328 }}
.small {{ font-size: 12px }} .strong {{ font-weight: bold }} .dim {{ fill: #57606a }}
rect, path, line {{ stroke: #57606a; stroke-width: 1.2 }} .sleeps {{ stroke-dasharray: 5 4 }}
</style>
<defs><marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" orient="auto-start-reverse"><path d="M0 0L10 5L0 10z" fill="#57606a"/></marker></defs>
<rect width="100%" height="100%" rx="8" fill="#ffffff" stroke="none"/>
"""


class Picture:
    def __init__(self, title, width, height):
        self.parts = [HEAD.format(title=escape(title, quote=True), width=width, height=height)]

    def text(self, x, y, words, style="", anchor="middle"):
        self.parts.append(f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}"{f" class={chr(34)}{style}{chr(34)}" if style else ""}>{escape(words)}</text>\n')

    def box(self, x, y, width, height, words="", color="none", style="", below=""):
        """A box with a line of words in the middle, and a second one below it."""
        self.parts.append(f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="3" fill="{COLORS[color]}"'
                          f'{f" class={chr(34)}{style}{chr(34)}" if style else ""}/>\n')
        middle = y + height / 2 + 5 - (8 if below else 0)
        if words:
            self.text(x + width / 2, middle, words)
        if below:
            self.text(x + width / 2, middle + 17, below, "small dim")

    def arrow(self, x1, y1, x2, y2, words="", above=True):
        self.parts.append(f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" marker-end="url(#head)"/>\n')
        if words:
            self.text((x1 + x2) / 2, (y1 + y2) / 2 + (-6 if above else 16), words, "small")

    def curve(self, x1, y1, x2, y2, height):
        """An arrow in an arc above its ends."""
        self.parts.append(f'<path d="M{x1:g} {y1:g}C{x1:g} {y1 - height:g} {x2:g} {y2 - height:g} {x2:g} {y2:g}" fill="none" marker-end="url(#head)"/>\n')

    def line(self, x1, y1, x2, y2, style=""):
        self.parts.append(f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}"{f" class={chr(34)}{style}{chr(34)}" if style else ""}/>\n')

    def __str__(self):
        return "".join(self.parts) + "</svg>\n"
