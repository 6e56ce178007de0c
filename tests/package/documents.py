#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No document of an installed weft leads nowhere: links and headings, files and pages that the manual names, and the documents that
the command's and the libraries' messages name. documents.py PREFIX"""

import json
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lint"))
from links import LINK, anchors  # noqa: E402

PREFIX = Path(sys.argv[1]).resolve()
DOCUMENTS = PREFIX / "share/doc/weft"
WANTED = ["drop-in.md", "ci.md", "applications.md", "probe.md", "siw.md", "tshark.md", "security.md", "performance.md", "CHANGELOG.md",
          "audit.schema.json", "probe.schema.json"]
MANUAL_FILE = re.compile(r"/usr/(share/[\w./-]*\w)")
MANUAL_PAGE = re.compile(r"\b(weft[\w-]*) ?\(1\)")
IN_MESSAGE = re.compile(rb"\bdocs/([\w.-]+\.(?:md|json))")


def of_document(path):
    """(what it names, whether that is there)"""
    for name, heading in LINK.findall(path.read_text()):
        if "://" in name:
            continue
        target = (path.parent / name).resolve() if name else path
        inside = target.is_file() and target.is_relative_to(PREFIX)
        yield name + (f"#{heading}" if heading else ""), inside and (not heading or heading in anchors(target))


def of_page(path):
    text = re.sub(r"\\f[BIR]", "", path.read_text()).replace("\\-", "-")
    for name in MANUAL_FILE.findall(text):
        yes = (PREFIX / name).exists() or name.startswith("share/doc/weft-dev/")  # which another package has
        yield f"/usr/{name}", yes
    for name in MANUAL_PAGE.findall(text):
        yield f"{name}(1)", (path.parent / f"{name}.1").is_file()
    for name in IN_MESSAGE.findall(text.encode()):
        yield f"docs/{name.decode()}: a reader of the manual has no docs/", False


def of_program(path):
    for name in sorted(set(IN_MESSAGE.findall(path.read_bytes()))):
        yield f"docs/{name.decode()}", (DOCUMENTS / name.decode()).is_file()


def named():
    for name in WANTED:
        yield "this test", name, (DOCUMENTS / name).is_file()
    for reads, files in (
        (of_document, [*DOCUMENTS.rglob("*.md")]),
        (of_page, [*(PREFIX / "share/man").rglob("*.1")]),
        (of_program, [PREFIX / "bin/weft", *(PREFIX / "lib").rglob("libweft.so.0")]),
    ):
        for path in sorted(files):
            yield from ((path.relative_to(PREFIX), *found) for found in reads(path))


def main():
    found = list(named())
    faults = [f"{path}: {name} is not there" for path, name, there in found if not there]
    for schema in ("audit.schema.json", "probe.schema.json"):
        json.loads((DOCUMENTS / schema).read_text())
    print("\n".join(faults) or f"{len(found)} links and names in documents, manual pages and programs lead somewhere")
    return 1 if faults else 0


sys.exit(main())
