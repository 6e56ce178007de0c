# SPDX-License-Identifier: Apache-2.0
"""The exercises of the course: EXERCISES has a function for each, which takes the words of an answer and raises Wrong. What is right is computed
here, from the captures and by `weft`. So reading this file is one way to the answers; the lessons are the other."""

import hashlib
import json
import subprocess
from pathlib import Path

SAMPLES = Path(__file__).resolve().parents[2] / "pcap-samples"
ENTRY = 1048  # octets of an entry of the store: the figure of lesson 7


# Answers of words, which nothing computes: sha256 of the exercise and the words.
WORDS = {
    "0.1": "69c5fcac78e46c6c",
    "4.1": "2bd38f9ef0a046fd",
    "5.4": "59076ecec3628ed0",
    "5.5": "5c7173fbe2de2a04",
}


class Wrong(Exception):
    """Why an answer is not right."""


def weft(*words):
    """What it printed; any exit code, for a violation has one of its own."""
    return subprocess.run(["weft", *map(str, words)], capture_output=True, text=True, check=False).stdout


def frames(capture, **where):
    """The startup frames and FPDUs of a capture, with these values ("direction", "connection")."""
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


def words(exercise):
    """The check of an answer in words. The order of the letters of one word does not matter."""
    def check(given):
        lower = [word.lower() for word in given]
        text = " ".join([exercise, *lower]) if len(lower) > 1 else f"{exercise} {''.join(sorted(''.join(lower)))}"
        if hashlib.sha256(text.encode()).hexdigest()[:16] != WORDS[exercise]:
            raise Wrong("no")
    return check


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


# --- 0: RDMA in the world

def two_sided(given):
    same(given, [2])


# --- 1: why copies cost

def crossings(given):
    same(given, [1 + 2 * 2])  # the card's write, and a read and a write for each copy


def rate(name, crc):
    """What weft bench bw --json has measured, with CRCs or without."""
    try:
        report = json.loads(Path(name).read_text())
        if report["crc"] != crc:
            raise Wrong(f"{name} was measured with CRCs {'off' if crc else 'on'}")
        return report["weft"]
    except (OSError, ValueError, KeyError, TypeError):
        raise Wrong(f"{name} has no report of weft bench bw --json") from None


def crc_share(given):
    if len(given) != 3:
        raise Wrong("this wants two files and the share")
    share = 1 - rate(given[0], True) / rate(given[1], False)
    if abs(number(given[2]) - share) > 0.01:
        raise Wrong("no")


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


def jumbo(given):
    emss, octets_sent, header = 8948, 20000, 18
    payload = emss - (6 + emss % 4) - header  # RFC 5044 section 4.5, without Markers
    fpdus = -(-octets_sent // payload)
    same(given, [fpdus, octets_sent - (fpdus - 1) * payload])


def two_stags(given):
    breaks_only(one_file(given), "DDP-4.2-10", SAMPLES / "forged/story.pcap")


# --- 4: verbs

def places(given):
    same(given, [8 * (128 + 64)])


# --- 5: RDMAP operations and ordering

def at_a_time(given):
    request, reply = frames(SAMPLES / "weft/mpa-2-ord-lowered.pcap")[:2]
    (ird, ord_), (peer_ird, peer_ord) = ([int(value(frame, name).replace(" ", ""), 16) & 0x3FFF for name in ("A, B, IRD", "C, D, ORD")] for frame in (request, reply))
    same(given, [min(ord_, peer_ird), min(peer_ord, ird)])


def msns(given):
    queues = {"Send": 0, "Read": 1, "Send with Invalidate": 0, "FetchAdd": 1, "Immediate Data": 0}
    last = dict.fromkeys(queues.values(), 0)
    wanted = []
    for operation in ("Send", "Read", "Send with Invalidate", "FetchAdd", "Immediate Data", "Read"):
        last[queues[operation]] += 1
        wanted.append(last[queues[operation]])
    same(given, wanted)


def msn(given):
    breaks_only(one_file(given), "DDP-4.3-10", SAMPLES / "forged/story.pcap")


# --- 6: errors, Terminate and security

def refused_read(given):
    sent = frames(SAMPLES / "weft/terminate-0-1-04-read-wrap.pcap")
    request = next(frame for frame in sent if value(frame, "Opcode") == "1")
    size, to = int(value(request, "RDMARDSZ"), 16), int(value(request, "SrcTO"), 16)
    same(given, [size, to + size - 2**64])


def version(given):
    breaks_only(one_file(given), "DDP-4.1-13", SAMPLES / "forged/story.pcap")


def guesses(given):
    stags, connections_a_second = 64, 5000
    same(given, [2**32 / stags / connections_a_second / 3600], within=0.05)


# --- 7: the store

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


def passes(test):
    """The check of a program that has been written: STORE_TEST, as the lab builds it."""
    def check(given):
        program = one_file(given).resolve()
        try:
            run = subprocess.run([program, test], capture_output=True, text=True, check=False, timeout=60)
        except (OSError, subprocess.TimeoutExpired) as why:
            raise Wrong(f"{given[0]} does not run, or does not end") from why
        last = (run.stdout.splitlines() or [""])[-1]
        if run.returncode != 0 or not last.startswith(f"{test}: "):
            raise Wrong(last or f"{given[0]} is not the lab's store_test")
    return check


EXERCISES = {
    "0.1": words("0.1"), "0.2": two_sided,
    "1.1": crossings, "1.2": crc_share, "1.3": offload,
    "2.1": seven_octets, "2.2": third_marker, "2.3": pad,
    "3.1": hundredth, "3.2": jumbo, "3.3": two_stags,
    "4.1": words("4.1"), "4.2": places,
    "5.1": at_a_time, "5.2": msns, "5.3": msn, "5.4": words("5.4"), "5.5": words("5.5"),
    "6.1": refused_read, "6.2": version, "6.3": guesses,
    "7.1": one_sided, "7.2": place, "7.3": mixed, "7.4": passes("read"), "7.5": passes("write")}
