#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The prober's reports are what they say they are: JSON that fits its schema, XML that a parser takes, a page that loads and runs
nothing whatever a peer has sent, captures that the auditor reads.

    probe_reports.py WEFT SAMPLE_REPORT
"""

import json
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/conformance"))
from command import fits  # noqa: E402

WRONG = []
EMBEDS = {"script", "img", "link", "iframe", "object", "embed", "form", "base", "svg", "video", "audio", "input", "button"}


def check(what, right):
    if not right:
        WRONG.append(what)


def json_report(folder):
    schema = json.loads((ROOT / "docs/probe.schema.json").read_text())
    report = json.loads((folder / "report.json").read_text())
    WRONG.extend(fits(report, schema, schema["$defs"]))
    report["cases"][0]["verdict"] = "perhaps"
    check("the schema refuses a verdict that there is not", fits(report, schema, schema["$defs"]))
    check("what the time left out is counted", report["out_of_time"] == [{"plan": "crc", "combinations": 1, "not_run": 1}])
    octets = [part for case in report["cases"] for one in case["exchanges"] for part in one["parts"] if part["kind"] == "octets"]
    check("some octets are left out", any(len(part["octets"]) < 2 * part["size"] for part in octets))
    return report


def junit_report(folder, report):
    for name, strict in (("report.xml", False), ("strict.xml", True)):
        suites = xml.etree.ElementTree.parse(folder / name).getroot()
        check(f"{name}: suites of cases and rules, MUST and SHOULD each", len(suites) == 4)
        for pair, counts, kind in ((suites[:2], report["case_counts"], "cases"), (suites[2:], report["rule_counts"], "rules")):
            failures = counts["fail"] + (counts["warn"] if strict else 0)
            for what, number, attribute in ((".//failure", failures, "failures"), (".//skipped", counts["not_applicable"], "skipped"),
                                            ("testcase", sum(counts.values()), "tests")):
                check(f"{name}: {attribute} of the {kind}", sum(len(suite.findall(what)) for suite in pair) == number
                      == sum(int(suite.get(attribute)) for suite in pair))


def html_report(folder, report):
    text = (folder / "report.html").read_text()
    page = xml.etree.ElementTree.fromstring(text)
    names = {element.tag.rpartition("}")[2] for element in page.iter()}
    check(f"the page embeds {names & EMBEDS}", not names & EMBEDS)
    ids = [element.get("id") for element in page.iter() if element.get("id")]
    check("ids are unique", len(ids) == len(set(ids)))
    for element in page.iter():
        for attribute, value in element.attrib.items():
            check(f"{attribute} runs or loads something", not attribute.startswith("on") and attribute not in ("src", "srcset", "style"))
            if attribute == "href":
                check(f"{value} leads to a place in the page", value.startswith("#") and value[1:] in ids)
    style = page.find(".//{*}style").text
    check("the style loads something", "url(" not in style and "@import" not in style)
    words = " ".join("".join(page.itertext()).split())
    for case in report["cases"]:
        if "plan" in case and case["verdict"] == "not_applicable":
            continue  # counted alone
        check(f"the page has the case {case['name']}", f"case-{case['name']}" in ids and case["what"] in words)
        check(f"the page has what {case['clause']} asks for", case.get("demand", "") in words)
        check(f"{case['name']} names connection, FPDU and octet", "about" in case or case["verdict"] not in ("fail", "warn"))
    for wanted in ("<script>alert(1)", "MPA Request", "FPDU 1: Send", "FPDU 1: Terminate 2/0/02", "ULPDU_Length", "octets that make no frame"):
        check(f"the page shows {wanted}", wanted in words)
    folds = {element.get("id"): element for element in page.iter() if element.tag.endswith("}details")}
    check("a failed case is open", folds["case-failed"].get("open") and not folds["case-passed"].get("open"))
    check("its octets are open, and a passed one has none", folds["case-failed"].find("{*}details").get("open")
          and folds["case-passed"].find("{*}details") is None)
    check("wrong octets are marked", folds["case-failed"].find(".//{*}mark").text == "5a")
    check(f"{len(text)} octets are too many", len(text) < 400_000)


def captures(weft, folder, report):
    made = {path.stem for path in (folder / "captures").iterdir()}
    check("a capture for each case with connections", made == {case["name"] for case in report["cases"] if case["exchanges"]})
    for name, expected in (("passed", 1), ("failed", 1)):
        written = folder / "audit.json"
        done = subprocess.run([weft, "audit", "--quiet", "--json", written, folder / f"captures/{name}.pcap"], capture_output=True, check=False)
        check(f"{name}.pcap is read: {done.stderr}", done.returncode == expected)
        case = next(one for one in report["cases"] if one["name"] == name)
        audit = json.loads(written.read_text())
        check(f"{name}.pcap has each connection", len(audit["connections"]) == len(case["exchanges"]))
        parts = case["exchanges"][0]["parts"]
        check(f"{name}.pcap has three packets of the handshake, and one for each part", audit["packets"] >= 3 + len(parts))


def main():
    weft, sample = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run([sample, folder], check=True)
        report = json_report(folder)
        junit_report(folder, report)
        html_report(folder, report)
        captures(weft, folder, report)
    for line in WRONG:
        print(line, file=sys.stderr)
    return 1 if WRONG else 0


if __name__ == "__main__":
    sys.exit(main())
