#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pcap-samples/weft/: what weft writes, recorded once. The test records every scene anew, in a folder of its own, and holds each
fresh capture against the NAME.expected.json of the one that lies there: so it is about what weft writes today. It also looks that
folder, its README.md and the scenes have the same names. (conformance_samples judges the captures that lie there.)

    recordings.py WEFT RECORDER                         the test
    recordings.py WEFT RECORDER --write [NAME...]       record pcap-samples/weft/ anew, or only those captures, expectations and
                                                        README.md too: read what changes

pcap-samples/weft/tcp-*.pcap have real TCP around them and are no scenes: on_the_wire.sh takes them. For them --write makes the
expectations alone.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "conformance"))
from samples import SAMPLES, check, expectation  # noqa: E402

FOLDER = SAMPLES / "weft"
INTRODUCTION = """# Captures that weft wrote

Real connections between two weft endpoints over 127.0.0.1 (`ipv6`: ::1), or between weft and a peer made by hand that breaks
one rule. `weft_record_samples` (tests/recordings/) makes them, one connection a file (`mpa-2-to-1`: two), with weft's own capture
tap (`--pcap`, `pcap =`), as the initiator sees it; where the initiator is the peer made by hand, as the responder does. The tap
sees octets, not packets: MPA, DDP and RDMAP are what passed through the sockets, in order; the Ethernet, IP and TCP headers
around them are composed, so ports are real, and sequence numbers, acknowledgements and segment limits are not.

`NAME.expected.json` has what `weft audit` finds (nothing, where both ends are weft; CRC off and an IRD that is too small are
warnings) and what it reports of the connections: startup, messages by operation, Terminates. In `terminate-L-T-CC-...` the
name has layer, type and code of weft's Terminate. Where a violation is expected, it is that of the peer made by hand.

`tests/recordings/recordings.py WEFT RECORDER --write` records them anew, as the test `recordings` does in a folder of its own.

| capture | what it shows |
|---|---|
"""
ON_THE_WIRE = """
## With real TCP

`weft rping` (client and server, two processes), captured by dumpcap on a loopback interface with an MTU of 1500 and without
segmentation offload: `tests/recordings/on_the_wire.sh` takes them. With Markers weft does not begin every TCP segment with an
FPDU, which RFC 5044 section 5.1 asks for where TCP allows it: a warning, and known (MPA-5.1-04 in
[docs/clauses/exceptions.csv](../../docs/clauses/exceptions.csv)).

| capture | what it shows |
|---|---|
"""


def listed(program):
    """What it can record: name -> what that shows."""
    lines = subprocess.run([program, "--list"], check=True, capture_output=True, text=True).stdout.splitlines()
    return dict(line.split("\t") for line in lines)


def table(shown):
    return "".join(f"| [{name}.pcap]({name}.pcap) | {shows} |\n" for name, shows in shown.items())


def readme(scenes, taken):
    return INTRODUCTION + table(scenes) + ON_THE_WIRE + table(taken)


def without_packets(expected):
    """A scene's octets are settled; which packets carry them is not: TCP and the threads decide."""
    findings = [{key: value for key, value in finding.items() if key != "packet"} for finding in expected["findings"]]
    return {**expected, "findings": findings}


def files(names):
    return {"README.md", *(f"{name}.{kind}" for name in names for kind in ("pcap", "expected.json"))}


def write(weft, recorder, scenes, taken, names):
    FOLDER.mkdir(exist_ok=True)
    for path in FOLDER.glob("*"):
        if path.name not in files([*scenes, *taken]):
            path.unlink()
    names = names or [*scenes, *taken]
    subprocess.run([recorder, FOLDER, *(name for name in names if name in scenes)], check=True)
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            expected = expectation(weft, FOLDER / f"{name}.pcap", folder)
            (FOLDER / f"{name}.expected.json").write_text(json.dumps(expected, indent=2) + "\n")
    (FOLDER / "README.md").write_text(readme(scenes, taken))


def check_folder(scenes, taken):
    problems, wanted = [], files([*scenes, *taken])
    for name in sorted(wanted ^ {path.name for path in FOLDER.glob("*")}):
        problems.append(f"pcap-samples/weft/{name}: {'missing' if name in wanted else 'nothing that is recorded has this name'}")
    if not problems and (FOLDER / "README.md").read_text() != readme(scenes, taken):
        problems.append("pcap-samples/weft/README.md is not what the scenes say of themselves")
    for problem in problems:
        print(problem, file=sys.stderr)
    return len(problems)


def check_fresh(weft, recorder, scenes):
    with tempfile.TemporaryDirectory() as folder:
        recorded = subprocess.run([recorder, folder], check=False).returncode
        wrong = 0 if recorded == 0 else 1
        for name in scenes:
            expected_file, capture = FOLDER / f"{name}.expected.json", Path(folder) / f"{name}.pcap"
            if expected_file.exists() and capture.exists():
                wrong += check(weft, capture, without_packets(json.loads(expected_file.read_text())), folder)
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weft")
    parser.add_argument("recorder")
    parser.add_argument("--write", nargs="*", metavar="NAME")
    options = parser.parse_args()
    scenes, taken = listed(options.recorder), listed(Path(__file__).with_name("on_the_wire.sh"))
    if options.write is not None:
        write(options.weft, options.recorder, scenes, taken, options.write)
    wrong = check_folder(scenes, taken) + check_fresh(options.weft, options.recorder, scenes)
    print(f"{len(scenes)} scenes, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
