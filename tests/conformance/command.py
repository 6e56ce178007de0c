#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`weft audit` as a command: exit codes, what is chosen, and that its reports are what they say they are.

    command.py WEFT
"""

import json
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "pcap-samples"
VIOLATION = SAMPLES / "broken/mpa-4.1-03.pcap"
WARNING = SAMPLES / "broken/mpa-4.4-05.pcap"
CLEAN = SAMPLES / "forged/story.pcap"
NO_REPLY = SAMPLES / "broken/mpa-7.1.2-13-no-reply.pcap"
OTHER_REPLY = SAMPLES / "broken/mpa-7.1.1-04-other-protocol.pcap"
NO_VIOLATION, VIOLATIONS, UNREADABLE, NO_IWARP = range(4)
WRONG = []


def audit(weft, *words, stdin=None):
    done = subprocess.run([weft, "audit", *map(str, words)], input=stdin, capture_output=True, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def check(what, right):
    if not right:
        WRONG.append(what)


def fits(value, schema, definitions, at="document"):
    """As much of JSON Schema as docs/audit.schema.json uses."""
    if "$ref" in schema:
        return fits(value, definitions[schema["$ref"].rpartition("/")[2]], definitions, at)
    if "oneOf" in schema:
        faults = [fits(value, one, definitions, at) for one in schema["oneOf"]]
        fitting = sum(not found for found in faults)
        return [] if fitting == 1 else [f"{at}: fits {fitting} of {len(faults)} forms", *sum(faults, [])]
    if "enum" in schema and value not in schema["enum"]:
        return [f"{at}: {value!r} is not one of {schema['enum']}"]
    kinds = {"object": dict, "array": list, "string": str, "integer": int, "boolean": bool}
    if "type" in schema and (not isinstance(value, kinds[schema["type"]]) or schema["type"] == "integer" and value is True):
        return [f"{at}: {value!r} is no {schema['type']}"]
    faults = []
    if isinstance(value, dict):
        known, other = schema.get("properties", {}), schema.get("additionalProperties", True)
        faults += [f"{at}: no {name}" for name in schema.get("required", []) if name not in value]
        for name, member in value.items():
            if name in known or isinstance(other, dict):
                faults += fits(member, known.get(name, other), definitions, f"{at}.{name}")
            elif other is False:
                faults.append(f"{at}: {name} is not in the schema")
    if isinstance(value, list) and "items" in schema:
        for number, item in enumerate(value):
            faults += fits(item, schema["items"], definitions, f"{at}[{number}]")
    if isinstance(value, str) and "pattern" in schema and not re.search(schema["pattern"], value):
        faults.append(f"{at}: {value!r} does not match")
    return faults


def exit_codes(weft, folder):
    check("a clean capture is 0", audit(weft, CLEAN)[0] == NO_VIOLATION)
    check("a violation is 1", audit(weft, VIOLATION)[0] == VIOLATIONS)
    check("a warning is 0", audit(weft, WARNING)[0] == NO_VIOLATION)
    check("with --strict a warning is 1", audit(weft, "--strict", WARNING)[0] == VIOLATIONS)
    check("no iWARP is 3", audit(weft, SAMPLES / "32-refused-no-mpa.pcap")[0] == NO_IWARP)
    check("standard input", audit(weft, "-", stdin=VIOLATION.read_bytes())[0] == VIOLATIONS)
    status, _, complaint = audit(weft, folder / "nothing.pcap")
    check("a file that is not there is 2, in one sentence", status == UNREADABLE and complaint.count("\n") == 1)
    noise = folder / "noise.pcap"
    noise.write_bytes(b"this is no capture, and never was")
    check("a file that is no capture is 2", audit(weft, noise)[0] == UNREADABLE)
    cut = folder / "cut.pcap"
    cut.write_bytes(VIOLATION.read_bytes()[:-10])
    status, text, complaint = audit(weft, cut)
    check("a capture that is cut short is 2, and what was read is reported", status == UNREADABLE and "MPA-4.1-03" in text and complaint)
    check("neither file nor interface is 2", audit(weft)[0] == UNREADABLE)
    check("an unknown clause is 2", audit(weft, "--only", "MPA-99", CLEAN)[0] == UNREADABLE)


def choices(weft):
    check("--skip", audit(weft, "--skip", "MPA-4.1", VIOLATION)[0] == NO_VIOLATION)
    check("--only another", audit(weft, "--only", "DDP,RDMAP", VIOLATION)[0] == NO_VIOLATION)
    check("--only it", audit(weft, "--only", "MPA-4.1-03", VIOLATION)[0] == VIOLATIONS)
    check("--quiet", audit(weft, "--quiet", VIOLATION)[1] == "")
    listed = {line.split()[0] for line in audit(weft, "--list")[1].splitlines()}
    broken = {json.loads(path.read_text())["findings"][0]["clause"] for path in (SAMPLES / "broken").glob("*.expected.json")}
    check("--list has each rule that a sample breaks, and no other", listed == broken)


def reports(weft, folder):
    schema = json.loads((ROOT / "docs/audit.schema.json").read_text())
    late = folder / "late.pcap"
    late.write_bytes(without_packets(CLEAN.read_bytes(), 5))
    for capture in (CLEAN, VIOLATION, WARNING, SAMPLES / "54-p2p-rtr-read.pcap", SAMPLES / "20-term-write-bad-stag.pcap",
                    SAMPLES / "31-privdata.pcap", late, NO_REPLY, OTHER_REPLY):
        written, xml_written = folder / "report.json", folder / "report.xml"
        audit(weft, "--quiet", "--json", written, "--junit", xml_written, capture)
        for fault in fits(json.loads(written.read_text()), schema, schema["$defs"]):
            WRONG.append(f"{capture.name}: {fault}")
        suites = xml.etree.ElementTree.parse(xml_written).getroot()
        failures = suites.findall(".//failure")
        check(f"{capture.name}: JUnit's failures are the violations",
              len(failures) == sum(f["severity"] == "violation" for f in json.loads(written.read_text())["findings"]))
    for option in ("--json", "--junit"):
        for place in (folder / "no/such/folder", "/dev/full"):
            status, shown, complaint = audit(weft, f"{option}={place}", VIOLATION)
            check(f"{option} {place} is 2, and says so", status == UNREADABLE and str(place) in complaint and shown)


def without_packets(capture, count):
    """A pcap file of little-endian order without its first packets."""
    at = 24
    for _ in range(count):
        at += 16 + int.from_bytes(capture[at + 8:at + 12], "little")
    return capture[:24] + capture[at:]


def missing_frames(weft, folder):
    """"not captured" is said of what the capture lacks, and of nothing else."""
    late = folder / "late.pcap"
    late.write_bytes(without_packets(CLEAN.read_bytes(), 5))
    cases = (("begins after the startup", late, "not captured", "not captured"),
             ("shows that no Reply was sent", NO_REPLY, None, "none sent"),
             ("shows another protocol's answer", OTHER_REPLY, None, "malformed"),
             ("shows a Request that was cut short", SAMPLES / "broken/mpa-7.1.1-23-cut-key.pcap", "not finished", "none sent"))
    for what, capture, request, reply in cases:
        report = folder / "missing.json"
        shown = audit(weft, "--json", report, capture)[1]
        mpa = json.loads(report.read_text())["connections"][0]["mpa"]
        for name, why in (("request", request), ("reply", reply)):
            check(f"JSON, a capture that {what}: {name}", mpa.get(f"no_{name}", {}).get("why") == why and (name in mpa) == (why is None))
            line = next(line for line in shown.splitlines() if line.startswith(f"  {name.capitalize()} "))
            check(f"text, a capture that {what}: {name}", why is None or line.endswith(why))


def text(weft):
    """The octets that a person is shown."""
    shown = audit(weft, SAMPLES / "31-privdata.pcap")[1]
    check("private data, as octets and as characters", "68 65 6c 6c 6f 2d 66 72 6f 6d" in shown and "hello-from-clien" in shown)
    at_end_of_row = audit(weft, SAMPLES / "broken/ddp-4.3-10.pcap")[1]
    check("the wrong octets stand in one pair of brackets", re.search(r"\[00 00 00 06\]", at_end_of_row))
    check("and nothing else does", at_end_of_row.count("]") == 1)


def main():
    weft = sys.argv[1]
    with tempfile.TemporaryDirectory() as name:
        exit_codes(weft, Path(name))
        choices(weft)
        text(weft)
        missing_frames(weft, Path(name))
        reports(weft, Path(name))
    for line in WRONG:
        print(line, file=sys.stderr)
    return 1 if WRONG else 0


if __name__ == "__main__":
    sys.exit(main())
