#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Report files exist whatever the exit code, an old one never stays as if it were new, and they are valid whatever names
they contain. Also --known, --filter, and a key log that is a pipe.

    audit_reports.py WEFT
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import xml.dom.minidom
from pathlib import Path

from command import CLEAN, NO_IWARP, NO_VIOLATION, ROOT, UNREADABLE, VIOLATION, VIOLATIONS, WRONG, audit, check, fits

OLD = "of an earlier run"
NOBODY = "127.0.0.1:9"  # discard: nobody listens
ENCAPSULATED = ROOT / "pcap-samples/encapsulated"


def run(weft, *words):
    done = subprocess.run([weft, *words], capture_output=True, check=False, timeout=60)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def read_reports(what, reports, schema):
    """The JSON; faults in what else is there."""
    document = None
    for path in reports:
        octets = path.read_bytes() if path.exists() else b""
        check(f"{what}: {path.name} is of this run", octets and OLD.encode() not in octets)
        try:
            if path.suffix == ".json":
                document = json.loads(octets.decode())
            elif path.suffix == ".xml":
                xml.dom.minidom.parseString(octets)
        except Exception as error:  # whatever the parser objects to
            WRONG.append(f"{what}: {path.name}: {error}")
    if document is not None:
        WRONG.extend(f"{what}: {fault}" for fault in fits(document, schema, schema["$defs"]))
    return document or {}


def whatever_the_exit_code(weft, folder):
    json_report, xml_report, page = folder / "r.json", folder / "r.xml", folder / "r.html"
    schemas = {name: json.loads((ROOT / f"docs/{name}.schema.json").read_text()) for name in ("audit", "probe")}
    (folder / "junk.pcap").write_bytes(b"no capture at all")
    (folder / "empty.pcap").write_bytes(b"")
    missing, junk, empty = (str(folder / f"{name}.pcap") for name in ("missing", "junk", "empty"))
    both = ["--json", str(json_report), "--junit", str(xml_report)]
    cases = [(["audit", "-q", *both, name], UNREADABLE, "damage") for name in (missing, junk, empty, str(folder))]
    cases += [(["audit", "-q", *both, missing, junk], UNREADABLE, "captures"),
              (["audit", "-q", *both, "-i", "no-such-interface"], UNREADABLE, "damage"),
              (["audit", "-q", *both, "--only", "MPA-99", str(CLEAN)], UNREADABLE, "error"),
              (["audit", "-q", *both, "--no-such-option", str(CLEAN)], UNREADABLE, "error"),
              (["audit", "-q", *both, "--max-connections", "0", str(CLEAN)], UNREADABLE, "error"),
              (["audit", "-q", *both, "--keylog", missing, str(CLEAN)], UNREADABLE, "error"),
              (["audit", *both, "--list"], UNREADABLE, "error"),
              (["audit", "-q", *both], UNREADABLE, "error"),
              (["probe", "-q", *both, "--html", str(page), NOBODY], 3, "peer_gone"),
              (["probe", "-q", *both, "no-port"], UNREADABLE, "error"),
              (["probe", "-q", *both, "--only", "no-such-case", NOBODY], UNREADABLE, "error")]
    for words, code, key in cases:
        reports = [path for path in (json_report, xml_report, page) if str(path) in words]
        for path in reports:
            path.write_text(OLD)
        status, _, complaint = run(weft, *words)
        what = " ".join(words).replace(str(folder) + "/", "")
        check(f"{what}: exit code {status}, not {code}", status == code)
        check(f"{what}: one line on standard error", complaint.count("\n") == 1)
        check(f"{what}: '{key}' in the JSON", key in read_reports(what, reports, schemas[words[0]]))
    # To standard output, too.
    check("--json of a missing capture, on standard output", "damage" in json.loads(run(weft, "audit", "--json", missing)[1]))


def other_commands(weft, folder):
    """What they cannot write anew gets an error, or goes."""
    missing = str(folder / "missing.pcap")
    for option, words in (("--json", ["dissect", missing]), ("--json", ["explain", missing]), ("-o", ["explain", missing]),
                          ("--json", ["bench", "lat", "--server", "no-such-option"]), ("--json", ["info", "--no-such-option"]),
                          ("--plot", ["bench", "suite", "--only", "no such line"])):
        report = folder / "other.json"
        report.write_text(OLD)
        value = [f"{option}={report}"] if option.startswith("--") else [option, str(report)]
        status, _, _ = run(weft, *words, *value)
        check(f"{words}: fails", status != 0)
        if option == "--json":
            check(f"{words}: an error in the file", report.exists() and "error" in json.loads(report.read_text()))
        else:
            check(f"{words}: the file is gone", not report.exists())
    # A file that nobody may write, not even this command.
    report = folder / "kept.json"
    report.write_text(OLD)
    status, _, complaint = run(weft, "explain", f"--json={folder}/no/such/folder.json", "--demo")
    check("a folder that is not there", status == UNREADABLE and "folder.json" in complaint)


NAMES = {"Latin-1": b"lat\xe9n", "markup": b"a&<b>\"'q", "a control octet": b"c\x01", "a line feed": b"n\nx",
         "half a surrogate": b"s\xed\xa0\x80", "U+FFFF": b"\xef\xbf\xbf", "cut UTF-8": b"\xe2\x82", "an escape sequence": b"e\x1b[31m",
         "C1": b"\xc2\x9b31m", "turned": b"\xe2\x80\xaegnp"}


def names(weft, folder):
    schema = json.loads((ROOT / "docs/audit.schema.json").read_text())
    json_report, xml_report = folder / "n.json", folder / "n.xml"
    for what, name in NAMES.items():
        there = os.fsencode(folder) + b"/" + name + b".pcap"
        shutil.copy(VIOLATION, there)
        for words in ((there,), (there, VIOLATION), (there + b".missing",), (there + b".missing", VIOLATION)):
            done = subprocess.run([weft, "audit", "--json", json_report, "--junit", xml_report, *words], capture_output=True, check=False)
            read_reports(what, (json_report, xml_report), schema)
            for stream in (done.stdout, done.stderr):
                text = stream.decode()  # strict: UTF-8
                check(f"{what}: nothing that a terminal obeys", all(c == "\n" or c.isprintable() for c in text))
        for command in ("dissect", "explain"):
            complaint = subprocess.run([weft, command, there + b".missing"], capture_output=True, check=False).stderr.decode()
            check(f"{what}: {command}", complaint.count("\n") == 1 and complaint.rstrip("\n").isprintable())


def known(weft, folder):
    file, json_report, xml_report = folder / "known.txt", folder / "k.json", folder / "k.xml"
    schema = json.loads((ROOT / "docs/audit.schema.json").read_text())
    clause, end = (lambda f: (f["clause"], f["direction"]))(json.loads(audit(weft, "--json", VIOLATION)[1])["findings"][0])

    def with_known(text, *words):
        file.write_text(text)
        return audit(weft, "--known", file, "--json", json_report, "--junit", xml_report, *words)

    status, text, _ = with_known(f"{clause} {end} # ticket 4711\n", VIOLATION)
    report = read_reports("known", (json_report, xml_report), schema)
    check("a known violation is no failure", status == NO_VIOLATION and "Known: ticket 4711" in text and ", 1 known in" in text)
    check("JSON marks it", report["findings"][0].get("known") == "ticket 4711" and report["known_absent"] == [])
    suites = xml.dom.minidom.parse(str(xml_report))
    check("JUnit skips it", not suites.getElementsByTagName("failure") and len(suites.getElementsByTagName("skipped")) == 1)
    check("of the other end it is new", with_known(f"{clause} {'responder' if end == 'initiator' else 'initiator'}", VIOLATION)[0] == VIOLATIONS)
    status, text, _ = with_known("DDP-5.2-11\ncrc-wrong-write\n", VIOLATION)
    report = read_reports("absent", (json_report, xml_report), schema)
    check("what did not occur is listed", status == VIOLATIONS and "known, but did not occur: DDP-5.2-11 (line 1 of " in text)
    check("and a case of the prober is not", [one["id"] for one in report["known_absent"]] == ["DDP-5.2-11"] and "crc-wrong-write" not in text)
    check("the verdict is the last line all the same", text.splitlines()[-1].startswith("VIOLATIONS: "))
    check("what was not asked for cannot be absent", "did not occur" not in with_known("DDP-5.2-11", "--only", "MPA", VIOLATION)[1])
    check("--summary lists them", "did not occur" in with_known("DDP-5.2-11", "--summary", VIOLATION)[1])
    check("several captures: once", with_known("DDP-5.2-11", VIOLATION, CLEAN)[1].count("did not occur") == 1)
    check("beyond --max-connections", with_known(clause, "--max-connections", "1", VIOLATION, VIOLATION)[0] == NO_VIOLATION)
    status, _, complaint = with_known("# nothing\nno-such-rule\n", VIOLATION)
    check("a misspelled id is 2", status == UNREADABLE and "line 2" in complaint and "no-such-rule" in complaint)
    check("a file that is not there is 2", audit(weft, "--known", folder / "nothing", VIOLATION)[0] == UNREADABLE)


def filtered(weft):
    both = json.loads(audit(weft, "--json", VIOLATION)[1])["connections"][0]["endpoints"]["responder"]
    address, port = both["address"], both["port"]
    check("--filter takes it", audit(weft, "--filter", f"host {address} and port {port}", VIOLATION)[0] == VIOLATIONS)
    check("--filter does not", audit(weft, "--filter", f"not port {port}", VIOLATION)[0] == NO_IWARP)
    status, _, complaint = audit(weft, "--filter", "port x", VIOLATION)
    check("a wrong filter is 2", status == UNREADABLE and "'x'" in complaint)
    inner = json.loads(audit(weft, "--json", ENCAPSULATED / "bad-vxlan.pcap")[1])["connections"][0]
    check("the path of a connection", inner["path"].startswith("VXLAN "))
    text = audit(weft, "--filter", f"host {inner['endpoints']['initiator']['address']}", ENCAPSULATED / "bad-vxlan.pcap")[1]
    check("inner addresses count, and the path stands in the line", "MPA-4.4-13" in text and f", in {inner['path']}\n" in text)
    check("-w needs -i", audit(weft, "-w", "x.pcap", VIOLATION)[0] == UNREADABLE)
    check("-b needs -w", audit(weft, "-i", "lo", "-b", "files:3", VIOLATION)[0] == UNREADABLE)


def key_log_pipe(weft, folder):
    """^C ends the wait for a key log that is a pipe."""
    pipe = folder / "keys.fifo"
    os.mkfifo(pipe)
    report = folder / "p.json"
    with subprocess.Popen([weft, "audit", f"--json={report}", "--keylog", pipe, CLEAN], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
        # Once it waits, it catches the signal.
        while not int(next(line for line in Path(f"/proc/{process.pid}/status").read_text().splitlines() if line.startswith("SigCgt:")).split()[1], 16) & 2:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        complaint = process.communicate(timeout=30)[1].decode()
        check(f"it ends with 130, not {process.returncode}", process.returncode == 130 and "interrupt" in complaint)
    check("with a report", "error" in json.loads(report.read_text()))
    with subprocess.Popen([weft, "audit", "-q", "--keylog", pipe, CLEAN], stderr=subprocess.PIPE) as process:
        pipe.write_text(f"CLIENT_RANDOM {'00' * 32} {'00' * 32}\n")
        process.communicate(timeout=30)
        check("and a pipe is read to its end", process.returncode == NO_VIOLATION)


def main():
    weft = sys.argv[1]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        whatever_the_exit_code(weft, folder)
        other_commands(weft, folder)
        names(weft, folder)
        known(weft, folder)
        filtered(weft)
        key_log_pipe(weft, folder)
    for line in WRONG:
        print(line, file=sys.stderr)
    return 1 if WRONG else 0


if __name__ == "__main__":
    sys.exit(main())
