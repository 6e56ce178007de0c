#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The site as a reader meets it: its front page, the lessons of the course, and the buttons that copy commands. site_test.py SITE"""

import html
import json
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LESSONS = sorted((ROOT / "docs/course").glob("[0-9]-*.md"))
BLOCKS = [("$ weft demo\nline\n$ weft audit \\\n    x.pcap\nmore\n", "weft demo\nweft audit \\\n    x.pcap\n"), ("int main() {}  \n", "int main() {}\n"),
          ("$\u00a0weft\u00a0info\n", "weft info\n")]


def page_of(lesson):
    return SITE / f"md_docs_course_{lesson.stem.replace('-', '_')}.html"


def links(page):
    """What a page links to, or shows, without what is on the network."""
    return {html.unescape(name) for name in re.findall(r'(?:href|src)="([^"#?]+)', page.read_text()) if "://" not in name and not name.startswith(("mailto:", "javascript:"))}


class Site(unittest.TestCase):
    def test_begins_with_four_doors(self):
        text = (SITE / "index.html").read_text()
        self.assertEqual(re.findall(r"<h1><a[^>]*></a>\s*([^<]*)</h1>", text), ["Use", "Test", "Learn", "Contribute"])
        self.assertIn("front-page.svg", text)
        self.assertIn(page_of(LESSONS[0]).name, (SITE / "md_docs_course_README.html").read_text())
        self.assertIn("md_docs_course_README.html", text)

    def test_has_what_its_pages_link_to(self):
        for page in [SITE / "index.html", *map(page_of, LESSONS)]:
            with self.subTest(page=page.name):
                self.assertEqual([name for name in links(page) if not (SITE / name).exists()], [])

    def test_has_no_page_with_markup_that_is_not_taken(self):
        """As by a link whose text goes on in the next line."""
        for page in SITE.glob("md_*.html"):
            self.assertNotRegex(page.read_text(), r"@ref |@verbatim|@section|&lt;strong&gt;", page.name)

    def test_has_lessons_with_their_numbers_neighbors_and_rows(self):
        for at, lesson in enumerate(LESSONS):
            text = page_of(lesson).read_text()
            title = html.unescape(re.search(r'<div class="title">(.*?)</div>', text, re.S)[1])
            self.assertEqual(f"# {title}".replace("\u00a0", " ").strip(), lesson.read_text().splitlines()[0])
            self.assertEqual({page_of(other).name for other in LESSONS if f'href="{page_of(other).name}"' in text} - {page_of(lesson).name} >= {
                page_of(other).name for other in [*LESSONS[at - 1:at], *LESSONS[at + 1:at + 2]]}, True, lesson.name)
            self.assertRegex(text, r'href="weft-tour\.html#row=\d+&amp;tab=\w+"')
            self.assertNotIn("\\.", title)
            self.assertIn('<script src="copy.js"></script>', text)
            self.assertIn('href="md_docs_course_README.html">Contents', text)

    def test_shows_one_slide_at_a_time(self):
        if not shutil.which("chromium"):
            print("SKIPPED slides: chromium is not installed (Debian package chromium)")
            return
        slides = (ROOT / "docs/course/slides.md").read_text().split("\n---\n")[1:]  # without what is for Marp
        for number in (1, len(slides)):
            with tempfile.TemporaryDirectory() as profile:
                page = subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}", "--virtual-time-budget=2000",
                                       "--dump-dom", f"file://{SITE.resolve()}/md_docs_course_slides.html#slide={number}"],
                                      capture_output=True, text=True, check=True, timeout=50).stdout
            stage = page[page.index('<div class="stage">'):]
            heading = re.search(r"^# (.*)", slides[number - 1], re.M)[1]
            self.assertEqual(re.findall(r"<h1>(?:<a[^>]*></a>)?\s*([^<]*)</h1>", stage), [heading])
            self.assertIn(f"<small>{number} / {len(slides)}</small>", stage)

    def test_copies_commands_without_the_prompt(self):
        if not shutil.which("node"):
            print("SKIPPED copying: node is not installed (Debian package nodejs)")
            return
        script = f"globalThis.document = {{querySelectorAll: () => []}};\n{(SITE / 'copy.js').read_text()}\nconsole.log(JSON.stringify({json.dumps([text for text, _ in BLOCKS])}.map(to_copy)))"
        said = subprocess.run(["node", "-e", script], capture_output=True, text=True, check=True).stdout
        self.assertEqual(json.loads(said), [copied for _, copied in BLOCKS])


if __name__ == "__main__":
    SITE = Path(sys.argv.pop(1))
    unittest.main()
