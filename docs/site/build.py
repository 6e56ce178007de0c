#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the site: the documents and the API reference by Doxygen, and in front of them the page of `weft explain --demo`.

    build.py SITE [--weft PROGRAM]     writes the folder SITE anew; exit code 1 where a public entity has no documentation or a
                                       link leads nowhere, 77 without doxygen"""

import argparse
import html
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import check
import dress
import plan
from comments import as_doxygen_reads
from missing import beyond_doxygen
from pages import Page

HERE = Path(__file__).resolve().parent
SHOWN = 200_000  # octets of a file of the tree that has a page of its own


class Files:
    """Files and folders of the tree that documents link to. Text gets a page, the rest is copied."""

    def __init__(self):
        self.wanted = {}

    def add(self, path):
        """Where the site has it."""
        source = plan.ROOT / path
        as_page = source.is_dir() or (source.suffix != ".svg" and source.stat().st_size < SHOWN and is_text(source))
        self.wanted[path] = f"files/{path}.html" if as_page else f"files/{path}"
        return self.wanted[path]

    def write(self, site, here):
        for path, target in sorted(self.wanted.items()):
            source, out = plan.ROOT / path, site / target
            out.parent.mkdir(parents=True, exist_ok=True)
            root = "../" * target.count("/")
            if source.is_dir():
                names = "".join(f"<li><code>{html.escape(entry.name)}</code></li>" for entry in sorted(source.iterdir()))
                out.write_text(dress.page(f"<code>{path}/</code>", f"<ul>{names}</ul>", target, here, root))
            elif target.endswith(".html"):
                text = html.escape(source.read_text(errors="replace"))
                out.write_text(dress.page(f"<code>{path}</code>", f'<pre class="source" tabindex="0">{text}</pre>', target, here, root))
            else:
                shutil.copy(source, out)


def is_text(path):
    try:
        return bool(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        return False


def contents_of_api():
    """A list for each room: its headers, and what each says of itself."""
    rows = []
    for room in [*plan.PUBLIC, *sorted({path.split("/")[0] for path in plan.SHOWN_THROUGH})]:
        rows += ["", f"### `weft/{room}`", ""]
        for header in plan.headers():
            if header.startswith(room + "/"):
                words = re.match(r"[^.:]*(?:\.(?=\S)[^.:]*)*", file_comment(header))[0]  # up to the end of the clause
                words = words if re.match(r"[A-Z]{2}", words) else words[0].lower() + words[1:]
                rows.append(f"- [`{header.split('/')[1]}`](../../{header}): {words}.")
    return "\n".join(rows) + "\n"


def file_comment(header):
    lines = (plan.ROOT / header).read_text().splitlines()[1:]
    comment = [line[2:].strip() for line in lines[:next(i for i, line in enumerate(lines) if not line.startswith("//"))]]
    return " ".join(comment)


def with_more(text):
    """The contents with what they do not name, nor the list of a folder does that has one."""
    named = {(HERE / target).resolve().relative_to(plan.ROOT).as_posix() for target in re.findall(r"\]\(([^)#]+\.md)", text)}
    listed = {document for document in plan.documents()
              if not document.endswith("/README.md") and (plan.ROOT / document).with_name("README.md").exists()}
    others = [document for document in plan.documents()
              if document.startswith("docs/") and document not in named | listed | {plan.CONTENTS}]
    lines = "".join(f"- [{title(document)}](../../{document})\n" for document in others)
    return text.replace("\n## Use it", f"\n## Learn\n\n{lines}\n## Use it") if lines else text


def title(document):
    return re.search(r"^# (.*)$", (plan.ROOT / document).read_text(), re.M)[1]


def stage(work, files):
    """What Doxygen reads: documents and headers, filtered. Returns where each comes from."""
    origin = {}
    for document in plan.documents():
        text = (plan.ROOT / document).read_text()
        if document == plan.CONTENTS:
            text = with_more(text) + contents_of_api()
        out = work / "in" / f"{plan.label(document)}.md"
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(Page(document, files).convert(text))
        origin[str(out)] = document
    for header in plan.headers():
        out = work / "in/weft" / header
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(as_doxygen_reads((plan.ROOT / header).read_text()))
        origin[str(out)] = header
    return origin


def run_doxygen(work, origin):
    (work / "header.html").write_text('<div id="top">\n')
    (work / "footer.html").write_text("<!--end-->\n")
    (work / "Doxyfile").write_text((HERE / "Doxyfile").read_text() + f"""
INPUT = {work / "in"}
STRIP_FROM_PATH = {work / "in"}
OUTPUT_DIRECTORY = {work}
HTML_HEADER = {work / "header.html"}
HTML_FOOTER = {work / "footer.html"}
HTML_STYLESHEET = {HERE / "weft.css"}
""")
    ran = subprocess.run(["doxygen", "Doxyfile"], cwd=work, capture_output=True, text=True)
    said = ran.stderr
    for staged, source in origin.items():
        said = said.replace(staged, source)
    lines = dict.fromkeys([*said.splitlines(), *beyond_doxygen(work / "in")])  # Doxygen says it twice of members of a namespace
    return ran.returncode or bool(lines), "\n".join(lines)


def write_site(site, work, files):
    shutil.rmtree(site, ignore_errors=True)
    site.mkdir(parents=True)
    made = {path.name: path.read_text() for path in sorted((work / "html").glob("*.html")) if path.name != "index.html"}
    names = dress.Names()
    for name, text in made.items():
        (site / name).write_text(dress.of_doxygen(text, name, names, made))
    files.write(site, made)
    shutil.copy(HERE / "weft.css", site)
    drop_what_is_not_linked(site)


def drop_what_is_not_linked(site):
    """Doxygen's many indexes: the table of contents leads to all that is worth reading."""
    reached, ahead = set(), ["contents.html"]
    while ahead:
        name = ahead.pop()
        if name not in reached and name.endswith(".html") and (site / name).is_file():
            reached.add(name)
            ahead += [link.split("#")[0] for link in check.Links((site / name).read_text()).links]
    for path in site.glob("*.html"):
        if path.name not in reached:
            path.unlink()


BAR = """<nav class="weft-site" aria-label="Documents" style="flex:none;padding:.4rem 1.1rem;font-size:.9rem">
<a style="color:inherit" href="contents.html">All documents</a> of weft: course, manuals, API</nav>"""


def write_front(site, weft):
    """The page of `weft explain --demo`, with a way to the documents; their contents where the command does not know it."""
    front = site / "index.html"
    if not weft or not re.search(r"^  explain\b", subprocess.run([weft, "--help"], capture_output=True, text=True).stdout, re.M):
        shutil.copy(site / "contents.html", front)
        return "the table of contents"
    subprocess.run([weft, "explain", "--demo", "-o", str(front)], check=True, stdout=subprocess.DEVNULL)
    text, places = re.subn(r"<body\b[^>]*>", lambda match: f"{match[0]}\n{BAR}", front.read_text(), count=1)
    if not places:
        sys.exit("the page of weft explain has no <body>, in which a link could lead to the documents")
    front.write_text(text)
    return "the page of weft explain --demo"


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("site", type=Path)
    arguments.add_argument("--weft")
    asked = arguments.parse_args()
    if not shutil.which("doxygen"):
        print("SKIPPED: no doxygen, which makes the site: apt-get install doxygen")
        return 77
    files, site = Files(), asked.site.resolve()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        code, said = run_doxygen(work, stage(work, files))
        if code or said:
            print(said or f"doxygen ended with {code}", file=sys.stderr)
            return 1
        write_site(site, work, files)
    front = write_front(site, asked.weft)
    found = list(check.faults(site))
    print("\n".join(found) or f"{site}/index.html is {front}; {len(list(site.rglob('*.html')))} pages, every link leads somewhere")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
