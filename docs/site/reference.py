# SPDX-License-Identifier: Apache-2.0
"""The page of a header or a class: what it is comes first, in full, then its members; Doxygen has them the other way round."""

import re

TITLE = re.compile(r"^(.*?) (Class|Struct|Union|File|Namespace) (?:Template )?Reference(?:<.*)?$", re.S)
DETAILS = re.compile(r'<a name="details" id="details"></a><h2 class="groupheader">Detailed Description</h2>\n'
                     r'(<div class="textblock">.*?</div>)(?=<hr/>|<h2 class="groupheader"|\s*\Z)', re.S)
ORIGIN = re.compile(r"<hr/>The documentation for this .*?<ul>\s*<li>(weft/\w+/)<a ([^>]*)>([\w.]+)</a></li>\s*</ul>", re.S)


def is_one(heading):
    return bool(TITLE.match(heading))


def heading(title, page):
    """With what it is inside of: the folders of a header, the namespaces of a class."""
    name, kind = TITLE.match(title).groups()
    inside = re.findall(r'<li class="navelem">(?:<b>|<a [^>]*>)(.*?)(?:</b>|</a>)</li>', page)
    if kind == "File":
        return f'<span class="kind">&lt;{"/".join(inside)}/</span>{name}<span class="kind">&gt;</span>'
    return f'<span class="kind">{kind.lower()} {"".join(part + "::" for part in inside[:-1])}</span>{name}'


def body(text):
    text = re.sub(r'\s*<a href="[^"]*#details">More\.\.\.</a>', "", text)
    text = re.sub(r"(</b>|</a>) \{\}</td>", r"\1</td>", text)
    if details := DETAILS.search(text):  # what stands first is the first sentence of it
        text = details[1] + "\n" + re.sub(r"\A\s*<p>.*?</p>\n", "", DETAILS.sub("", text), flags=re.S)
    if origin := ORIGIN.search(text):
        include = f'<p class="include"><code>#include &lt;{origin[1]}<a {origin[2]}>{origin[3]}</a>&gt;</code></p>\n'
        text = include + ORIGIN.sub("", text)
    text = re.sub(r'<h2 class="memtitle"><span class="permalink">(<a [^>]*>)[^<]*</a></span>(.*?)</h2>',
                  r'<h3 class="memtitle">\1\2</a></h3>', text, flags=re.S)
    return re.sub(r'<h2 class="groupheader"><a id="([^"]*)" name="[^"]*"></a>\s*', r'<h2 id="\1" class="groupheader">', text)
