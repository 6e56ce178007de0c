#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`weft audit` of several captures, some of them compressed: a report each, one over all, and one document for programs.

    several_captures.py WEFT
"""

import gzip
import json
import lzma
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
from pathlib import Path

from command import (CLEAN, NO_IWARP, NO_VIOLATION, ROOT, SAMPLES, UNREADABLE, VIOLATION, VIOLATIONS, WARNING, WRONG,
                     audit, check, fits)

OTHER = SAMPLES / "32-refused-no-mpa.pcap"


def exit_codes(weft, folder):
    missing = folder / "missing.pcap"
    for captures, code in (((CLEAN, WARNING), NO_VIOLATION), ((CLEAN, OTHER), NO_VIOLATION), ((OTHER, OTHER), NO_IWARP),
                           ((OTHER, VIOLATION), VIOLATIONS), ((VIOLATION, CLEAN), VIOLATIONS), ((CLEAN, missing), UNREADABLE),
                           ((missing, OTHER), UNREADABLE), ((VIOLATION, missing), UNREADABLE), ((missing, missing), UNREADABLE)):
        check(f"{[path.name for path in captures]} is {code}", audit(weft, *captures)[0] == code)
    check("--strict counts warnings of any", audit(weft, "--strict", CLEAN, WARNING)[0] == VIOLATIONS)
    status, _, complaint = audit(weft, "-", "-", stdin=CLEAN.read_bytes())
    check("the standard input can be named once", status == UNREADABLE and "once" in complaint)
    status, _, complaint = audit(weft, "-i", "lo", CLEAN)
    check("an interface excludes files, by name", status == UNREADABLE and "-i lo" in complaint and str(CLEAN) in complaint)


def text(weft, folder):
    missing = folder / "missing.pcap"
    status, shown, complaint = audit(weft, CLEAN, missing, "-", stdin=VIOLATION.read_bytes())
    lines = shown.splitlines()
    check("each capture has its report", all(f"\n{name}: " in "\n" + shown for name in (CLEAN, "-")) and "MPA-4.1-03" in shown)
    check("the end has a line for each, in their order", [line.split(": ")[0] for line in lines[-4:-1]] == [str(CLEAN), str(missing), "-"])
    check("the last line is the verdict over all", lines[-1].startswith("NOT READ TO ITS END: 1 violation") and lines[-1].endswith("in 3 captures"))
    check("the one that cannot be read is named on stderr", complaint.count("\n") == 1 and str(missing) in complaint and status == UNREADABLE)
    shown = audit(weft, "--summary", CLEAN, VIOLATION)[1]
    check("--summary: names before the lines", shown.startswith(f"{CLEAN}: NO VIOLATION: ") and f"\n{VIOLATION}: VIOLATIONS: " in shown)
    check("--quiet is quiet", audit(weft, "--quiet", CLEAN, VIOLATION)[1] == "")


def documents(weft, folder):
    schema = json.loads((ROOT / "docs/audit.schema.json").read_text())
    written, xml_written, alone = folder / "all.json", folder / "all.xml", folder / "one.json"
    missing = folder / "missing<&.pcap"
    audit(weft, "--quiet", "--json", written, "--junit", xml_written, VIOLATION, missing, CLEAN)
    document = json.loads(written.read_text())
    WRONG.extend(fits(document, schema, schema["$defs"]))
    check("JSON: the captures in their order", [one["file"] for one in document["captures"]] == [str(VIOLATION), str(missing), str(CLEAN)])
    check("JSON: why one was not read", "No such file" in document["captures"][1]["damage"] and "damage" not in document["captures"][0])
    for number, capture in ((0, VIOLATION), (2, CLEAN)):
        audit(weft, "--quiet", "--json", alone, capture)
        check("JSON: a capture among others reads as it does alone", json.loads(alone.read_text()) == document["captures"][number])
    suites = xml.etree.ElementTree.parse(xml_written).getroot()
    names = [suite.get("name") for suite in suites]
    check("JUnit: suites have the names of their captures", names[0].startswith(f"{VIOLATION}: connection") and str(missing) in names[1])
    check("JUnit: the failures and the error", len(suites.findall(".//failure")) == 1 and len(suites.findall(".//error")) == 1)


def compressed(weft, folder):
    packed = {"gz": gzip.compress(VIOLATION.read_bytes()), "xz": lzma.compress(VIOLATION.read_bytes())}
    if shutil.which("zstd"):
        packed["zst"] = subprocess.run(["zstd", "-q", "-c", VIOLATION], capture_output=True, check=True).stdout
    else:
        print("SKIPPED captures packed by zstd: it is not installed (Debian package zstd)")
    for kind, octets in packed.items():
        file = folder / f"no-ending-{kind}"
        file.write_bytes(octets)
        plain = audit(weft, "--summary", VIOLATION)[1]
        check(f"{kind}: from a file", audit(weft, "--summary", file)[:2] == (VIOLATIONS, plain))
        check(f"{kind}: from a pipe", audit(weft, "--summary", "-", stdin=octets)[:2] == (VIOLATIONS, plain))
        shown = [subprocess.run([weft, "dissect", one], capture_output=True, check=False).stdout for one in (file, VIOLATION)]
        check(f"{kind}: dissect", shown[0] == shown[1] and shown[0])
        file.write_bytes(octets[:-1])
        status, text_of_cut, complaint = audit(weft, file)
        check(f"{kind}: what was read before a cut is judged", status == UNREADABLE and "MPA-4.1-03" in text_of_cut and "cut short" in complaint)


def main():
    weft = sys.argv[1]
    with tempfile.TemporaryDirectory() as name:
        exit_codes(weft, Path(name))
        text(weft, Path(name))
        documents(weft, Path(name))
        compressed(weft, Path(name))
    for line in WRONG:
        print(line, file=sys.stderr)
    return 1 if WRONG else 0


if __name__ == "__main__":
    sys.exit(main())
