#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes pcap-samples/broken/: for each rule of the auditor a small capture that breaks just that rule, beside it what an
auditor has to say about it. Also pcap-samples/forged/: conforming captures of what no capture of siw shows; and
pcap-samples/edited/: captures of siw in which one thing was changed.

    tools/forge/forge.py            write them
    tools/forge/forge.py --check    fail when one differs from what lies in the repository
    tools/forge/forge.py --list     clause, severity and what each shows
    tools/forge/forge.py edit ...   changes octets of a capture and repairs what is around them (forge.py edit --help)
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True  # it runs in checkouts of others
import edit_command
import samples_ddp  # noqa: F401  (each fills the table)
import samples_mpa  # noqa: F401
import samples_rdmap  # noqa: F401
import samples_forged  # isort: skip (after those whose order is the table's)
import samples_startup  # noqa: F401
import samples_unsolicited  # noqa: F401
from conversation import write_pcap
from samples import SAMPLES
from samples_edited import EDITED
from samples_startup import reply, request
from story import I, R, Story

ROOT = Path(__file__).resolve().parents[2]


def clean():
    """Conforming conversations: name -> (what it shows, story)."""
    yield "story", "every message of the story that the broken samples change in one place", Story().start().steps().close()
    yield "story-no-request-options", "the same with revision 1", \
        Story().start(request(s=0, rev=1), reply(s=0, rev=1)).steps().close()
    yield "story-markers", "the same with Markers in both directions", \
        Story(markers_to=(I, R)).start(request(m=1), reply(m=1)).steps().close()
    yield from samples_forged.more()


def expectation(sample):
    story, side, step = sample.tell()
    finding = {"clause": sample.clause, "severity": sample.severity}
    if side is not None:
        finding["direction"] = side
    if step is not None:
        finding["packet"] = story.at[step]
    return story, {"findings": [finding], "also": sample.also}


def write_edited(folder):
    folder.mkdir(parents=True)
    for sample in EDITED:
        sample.capture(ROOT / "pcap-samples").write(folder / f"{sample.name}.pcap")
        (folder / f"{sample.name}.expected.json").write_text(json.dumps(sample.expected, indent=2) + "\n")
    lines = ["# Captures of real siw with one thing broken", "",
             "Written by tools/forge/forge.py as `forge.py edit` does it: octets of a capture of the kernel's siw were changed,",
             "and the lengths, CRCs, sequence numbers and checksums around them made right. `NAME.expected.json` is what an auditor",
             "has to find.", "",
             "| capture | made of | what it shows |", "|---|---|---|"]
    lines += [f"| [{s.name}.pcap]({s.name}.pcap) | [{s.source}.pcap](../{s.source}.pcap) | {s.clause}: {s.shows} |"
              for s in EDITED]
    (folder / "README.md").write_text("\n".join(lines) + "\n")


def write(root):
    broken, forged = root / "broken", root / "forged"
    broken.mkdir(parents=True)
    forged.mkdir(parents=True)
    for sample in SAMPLES:
        story, expected = expectation(sample)
        write_pcap(broken / f"{sample.name}.pcap", story.packets)
        (broken / f"{sample.name}.expected.json").write_text(json.dumps(expected, indent=2) + "\n")
    for name, _, story in clean():
        write_pcap(forged / f"{name}.pcap", story.packets)
        (forged / f"{name}.expected.json").write_text(json.dumps({"findings": []}, indent=2) + "\n")
    write_edited(root / "edited")
    lines = ["# Captures that break one rule each", "",
             "Written by tools/forge/forge.py, which shares no code with weft. Each tells a short conforming conversation with one thing",
             "changed; lengths, CRCs and checksums around it are right. `NAME.expected.json` is what an auditor has to find.", "",
             "| capture | severity | what it shows |", "|---|---|---|"]
    lines += [f"| [{s.name}.pcap]({s.name}.pcap) | {s.severity} | {s.clause}: {s.shows} |" for s in SAMPLES]
    (broken / "README.md").write_text("\n".join(lines) + "\n")
    lines = ["# Conforming captures that the forge wrote", "", "| capture | what it shows |", "|---|---|"]
    lines += [f"| [{name}.pcap]({name}.pcap) | {shows} |" for name, shows, _ in clean()]
    (forged / "README.md").write_text("\n".join(lines) + "\n")


def files(root):
    folders = ("broken", "forged", "edited")
    return {path.relative_to(root): path.read_bytes() for folder in folders for path in (root / folder).glob("*")}


def main():
    if sys.argv[1:2] == ["edit"]:
        return edit_command.main(sys.argv[2:])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    if options.list:
        for sample in SAMPLES:
            print(f"{sample.clause:18} {sample.severity:10} {sample.shows}")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        fresh = Path(folder) / "samples"
        write(fresh)
        new, old = files(fresh), files(ROOT / "pcap-samples")
    differing = sorted(str(path) for path in new.keys() | old.keys() if new.get(path) != old.get(path))
    if options.check:
        for path in differing:
            print(f"pcap-samples/{path} is not what tools/forge/forge.py writes", file=sys.stderr)
        return 1 if differing else 0
    for path in old.keys() - new.keys():
        (ROOT / "pcap-samples" / path).unlink()
    for path, octets in new.items():
        (ROOT / "pcap-samples" / path).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / "pcap-samples" / path).write_bytes(octets)
    print(f"{len(SAMPLES)} broken samples, {len(EDITED)} edited ones, {len(differing)} files written or changed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
