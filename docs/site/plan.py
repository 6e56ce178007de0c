# SPDX-License-Identifier: Apache-2.0
"""What the site has: its pages, the headers of the API, and what each of them is called there."""

import re
import sys
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/lint"))
import links  # noqa: E402
from rooms import PUBLIC  # noqa: E402

CONTENTS = "docs/site/contents.md"
# Headers of other rooms, whose types the public ones give to their users.
SHOWN_THROUGH = ("common/crc32c_routine.hpp", "transport/endpoint.hpp", "transport/interfaces.hpp", "transport/peer_identity.hpp",
                 "transport/tls_facts.hpp")


def documents():
    """Each Markdown file, by its path from the root."""
    return [path.relative_to(ROOT).as_posix() for path in links.documents()]


def headers():
    """Those that users of weft include, by their path from the root."""
    return sorted([*(path.relative_to(ROOT).as_posix() for room in PUBLIC for path in (ROOT / room).glob("*.hpp")), *SHOWN_THROUGH])


def label(document):
    """docs/tour.md -> tour, docs/decisions/README.md -> decisions, SECURITY.md -> weft-security (docs/security.md has the name)"""
    if document == CONTENTS:
        return "contents"
    path = PurePosixPath(document)
    parts = [*path.parts[path.parts[0] == "docs":-1], *([] if path.stem == "README" and len(path.parts) > 1 else [path.stem])]
    name = re.sub(r"[^a-z0-9]+", "-", "-".join(parts).lower())
    return f"weft-{name}" if len(path.parts) == 1 and (ROOT / "docs" / f"{name}.md").exists() else name


def page_of(document):
    return label(document) + ".html"


def page_of_header(header):
    """As Doxygen names it: with its folder where another one has the same name."""
    path = PurePosixPath(header)
    alone = [PurePosixPath(other).name for other in headers()].count(path.name) == 1
    return "_2".join(part.replace("_", "__").replace(".", "_8") for part in (path.parts[-1:] if alone else path.parts)) + ".html"


def slug(heading):
    """What a link may name behind #, as GitHub makes it of a heading."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
    return re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")


def anchor(document, slugged):
    """Doxygen wants each anchor once in all pages, and only these letters in it."""
    return label(document) + "--" + re.sub(r"[^a-zA-Z0-9_-]", "_", slugged)
