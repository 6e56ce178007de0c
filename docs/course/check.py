#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks an answer to an exercise of the course: docs/course/check.py EXERCISE ANSWER...

What is right is computed here, from the captures and by `weft`, when you ask. So reading this file is one way to the answers; the
lessons are the other."""

import json
import subprocess
import sys
from pathlib import Path

SAMPLES = Path(__file__).resolve().parents[2] / "pcap-samples"
ENTRY = 1048  # octets of an entry of the store: the figure of lesson 6


class Wrong(Exception):
    """Why an answer is not right."""


def weft(*words):
    """What it printed; any exit code, for a violation has one of its own."""
    return subprocess.run(["weft", *map(str, words)], capture_output=True, text=True, check=False).stdout


def frames(capture, **where):
    """The start-up frames and FPDUs of a capture, with these values ("direction", "connection")."""
    found = [json.loads(line) for line in weft("dissect", "--json", capture).splitlines()]
    return [frame for frame in found if all(frame[key] == value for key, value in where.items())]


def value(frame, name):
    """Of a field; None when the frame has none of that name."""
    return next((field["value"] for field in frame["fields"] if field["name"] == name), None)


def octets(frame, name):
    return sum(field["size"] for field in frame["fields"] if field["name"] == name)


def number(word):
    try:
        return float(word.replace(",", ""))
    except ValueError:
        raise Wrong(f"{word} is no number") from None


def same(given, wanted, within=0.0):
    """Each number is what is wanted, or no further away than that share of it."""
    if len(given) != len(wanted):
        raise Wrong(f"this wants {len(wanted)} numbers")
    if any(abs(number(one) - other) > within * abs(other) for one, other in zip(given, wanted)):
        raise Wrong("no")


def breaks_only(capture, clause, made_of):
    """A capture with as many packets as the one it was made of, in which the auditor finds one violation."""
    try:
        before, now = (json.loads(weft("audit", "--quiet", "--json", name)) for name in (made_of, capture))
    except ValueError:
        raise Wrong(f"{capture} is no capture") from None
    found = [finding["clause"] for finding in now["findings"] if finding["severity"] == "violation"]
    if now["packets"] != before["packets"]:
        raise Wrong(f"{capture} was not made of {made_of.name}: it has {now['packets']} packets")
    if found != [clause]:
        raise Wrong(f"the auditor finds {', '.join(found) or 'nothing'} and not {clause}")


# --- 1: why copies cost

def crossings(given):
    same(given, [1 + 2 * 2])  # the card's write, and a read and a write for each copy


def ratio(given):
    if len(given) != 2:
        raise Wrong("this wants the file and the ratio")
    try:
        report = json.loads(Path(given[0]).read_text())
        same(given[1:], [report["tcp"] / report["weft"]], within=0.01)
    except (OSError, ValueError, KeyError, TypeError):
        raise Wrong(f"{given[0]} has no report of weft bench bw --json") from None


def offload(given):
    tcp, copies = 0.10, 0.45
    same(given, [1 / (1 - tcp), 1 / (1 - tcp - copies)], within=0.01)


# --- 2: MPA and framing

def seven_octets(given):
    sends = frames(SAMPLES / "43-crc-odd-lengths.pcap", connection=5, direction="initiator")
    fpdu = next(frame for frame in sends if octets(frame, "payload") == 7 and value(frame, "MSN"))
    same(given, [fpdu["octets"], octets(fpdu, "PAD")])


def third_marker(given):
    sent = frames(SAMPLES / "weft/markers-large-fpdus.pcap", direction="initiator")
    same(given, [[frame["stream_offset"] + field["at"] for frame in sent for field in frame["fields"] if field["name"] == "Marker"][2]])


def one_file(given):
    if len(given) != 1:
        raise Wrong("this wants one file")
    return Path(given[0])


def pad(given):
    breaks_only(one_file(given), "MPA-4.1-03", SAMPLES / "forged/story.pcap")


# --- 3: DDP placement and STags

def hundredth(given):
    offsets = [int(value(frame, "TO"), 16) for frame in frames(SAMPLES / "09-write-256k-mtu1500.pcap", direction="initiator") if value(frame, "TO")]
    same(given, [offsets[99] - offsets[0]])


def mulpdu(given):
    sends = [frame for frame in frames(SAMPLES / "15-multi-sge-send-mtu1500.pcap", direction="initiator") if value(frame, "QN")]
    same(given, [int(value(sends[0], "ULPDU_Length"), 16)])


def two_stags(given):
    breaks_only(one_file(given), "DDP-4.2-10", SAMPLES / "forged/story.pcap")


# --- 4: RDMAP operations and ordering

def under_way(given):
    outstanding = most = 0
    for frame in frames(SAMPLES / "weft/read-outstanding.pcap"):
        opcode = value(frame, "Opcode")
        outstanding += (opcode == "1") - (opcode == "2" and value(frame, "L") == "1")
        most = max(most, outstanding)
    same(given, [most])


def atomic_msn(given):
    atomic = next(frame for frame in frames(SAMPLES / "forged/story.pcap") if value(frame, "Opcode") == "10")
    same(given, [int(value(atomic, "MSN"), 16)])


def msn(given):
    breaks_only(one_file(given), "DDP-4.3-10", SAMPLES / "forged/story.pcap")


# --- 5: errors, Terminate and security

def read_beyond(given):
    terminate = next(frame for frame in frames(SAMPLES / "weft/terminate-0-1-01-read-bounds.pcap") if value(frame, "Opcode") == "7")
    wanted = [int(value(terminate, name), 0) for name in ("Layer", "EType", "Error Code")]
    if [word.removeprefix("0x").zfill(2) for word in given] != [f"{part:02x}" for part in wanted]:
        raise Wrong("no")


def version(given):
    breaks_only(one_file(given), "DDP-4.1-13", SAMPLES / "forged/story.pcap")


def guesses(given):
    stags, connections_a_second = 64, 5000
    same(given, [2**32 / stags / connections_a_second / 3600], within=0.05)


# --- 6: the store

def one_sided(given):
    capture = one_file(given)
    opcodes = [value(frame, "Opcode") for frame in frames(capture, direction="initiator") if value(frame, "Opcode")]
    if not opcodes:
        raise Wrong(f"{capture} has no iWARP in it")
    if set(opcodes) != {"1"}:
        raise Wrong("the client of this capture has sent more than Read Requests: is it of a get?")


def place(given):
    if len(given) != 2:
        raise Wrong("this wants the capture and the place")
    found = frames(given[0])
    invitation = next((value(frame, "Private Data") for frame in found if frame["direction"] == "responder" and value(frame, "Private Data")), None)
    first = next((value(frame, "SrcTO") for frame in found if value(frame, "SrcTO")), None)
    if not invitation or not first:
        raise Wrong(f"{given[0]} has no Read of a store in it")
    table = int.from_bytes(bytes.fromhex(invitation)[:8], "big")
    same(given[1:], [(int(first, 16) - table) // ENTRY])


def mixed(given):
    try:
        lines = one_file(given).read_text().splitlines()
    except OSError:
        raise Wrong("there is no such file") from None
    if not any(set(line) == {"a", "b"} for line in lines):
        raise Wrong("no value in it has letters of both writers")


EXERCISES = {"1.1": crossings, "1.2": ratio, "1.3": offload, "2.1": seven_octets, "2.2": third_marker, "2.3": pad, "3.1": hundredth,
             "3.2": mulpdu, "3.3": two_stags, "4.1": under_way, "4.2": atomic_msn, "4.3": msn, "5.1": read_beyond, "5.2": version,
             "5.3": guesses, "6.1": one_sided, "6.2": place, "6.3": mixed}


def main():
    exercise, given = sys.argv[1:2], sys.argv[2:]
    if not exercise or exercise[0] not in EXERCISES or not given:
        print(f"usage: docs/course/check.py EXERCISE ANSWER...   (exercises: {', '.join(EXERCISES)})", file=sys.stderr)
        return 2
    try:
        EXERCISES[exercise[0]](given)
    except Wrong as why:
        print(f"{exercise[0]}: {why}.")
        return 1
    except FileNotFoundError:
        print("check.py: there is no weft in your PATH: export PATH=$PWD/build/tools:$PATH", file=sys.stderr)
        return 2
    print(f"{exercise[0]}: right.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
