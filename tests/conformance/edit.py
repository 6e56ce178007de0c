#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`forge.py edit` on captures of real siw: what is broken, `weft audit` names by its clause and packet, and nothing else; what is
repaired, tshark finds right. An edit that changes nothing gives back the file, octet for octet.

    edit.py WEFT
"""

import contextlib
import io
import json
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "pcap-samples"
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tools/forge"))
import edit_command  # noqa: E402
from capture_file import CaptureFile  # noqa: E402

WRONG = []
UNREADABLE = 2
RPING, NVME, MARKERS = "40-crc-rping", "61-nvme-rdma-crc-mtu1500", "forged/story-markers"
GROWN = "--fpdu 10 --at 20 --insert " + "a5" * 601  # the last Send of the story
RESPONDER_GROWS = "--fpdu 1 --from responder --at 18 --insert " + "5a" * 1024

# capture, words, {clause: packet} of the violations; packets are those of the file.
CASES = [
    (RPING, "--fpdu 3 --xor 02", {"DDP-4.1-13": 13}),
    (RPING, "--packet 13 --at 2 --xor 02", {"DDP-4.1-13": 13}),
    (RPING, "--fpdu 3 --xor 04", {"DDP-4.1-11": 13}),
    (RPING, "--fpdu 3 --at 1 --xor c0", {"RDMAP-4.1-17": 13}),
    (RPING, "--fpdu 12 --from responder --at 10 --octets 00000007", {"DDP-4.3-10": 31}),
    (RPING, "--fpdu 1 --from responder --at 6 --octets 00000000", {"RDMAP-5.2.1-06": 10}),
    (RPING, "--startup request --at 16 --xor 08", {"MPA2-6-04": 4}),
    (RPING, "--startup reply --at 0 --octets 4d", {}),
    (RPING, "--startup reply --at 22 --octets 0009", {"MPA2-9.1-08": 6}),
    (RPING, "--fpdu 1 --part crc --xor 01", {"MPA-4.4-13": 8}),
    (RPING, "--fpdu 1 --at 20 --xor ff --no-crc", {"MPA-4.4-13": 8}),
    (RPING, "--fpdu 2 --at 22 --delete 8", {"RDMAP-4.4-07": 11}),
    (RPING, "--fpdu 2 --at 22 --delete 8 --no-length --no-pad", {"MPA-4.1-02": 11}),
    (RPING, "--fpdu 3 --at 1 --octets 4c --fpdu 12 --from responder --at 13 --octets 07",
     {"RDMAP-4.1-22": 13, "DDP-4.3-10": 31}),
    (RPING, "--fpdu 3 --at 20 --insert 00112233445566", {}),
    (RPING, "--fpdu 3 --at 34 --insert 0011", {}),
    ("43-crc-odd-lengths", "--fpdu 1 --connection 2 --part pad --xor 0a", {"MPA-4.1-03": None}),
    (NVME, "--fpdu 11 --from responder --at 2 --octets 0badcafe", {"DDP-4.2-10": 31}),
    (NVME, "--fpdu 11 --from responder --at 100 --delete 16", {"DDP-5.2-10": 34}),
    (NVME, "--fpdu 11 --from responder --at 13 --xor 20", {"DDP-5.2-10": 31}),
    (MARKERS, GROWN, {}),
    (MARKERS, RESPONDER_GROWS, {}),
]

BAD = "tcp.checksum.status==0 || ip.checksum.status==0 || tcp.analysis.lost_segment || tcp.analysis.ack_lost_segment || " \
      "tcp.analysis.retransmission || tcp.analysis.out_of_order || ip.bogus_ip_length || _ws.malformed"


def check(what, right, seen=""):
    if not right:
        WRONG.append(f"{what} {seen}".strip())


def edit(source, target, words):
    """The command, in this process."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as said:
        try:
            status = edit_command.main([str(source), str(target), *words.split()])
        except SystemExit as left:  # the words make no sense
            status = left.code
    return status, said.getvalue()


def violations(weft, capture, folder):
    report = folder / "report.json"
    subprocess.run([weft, "audit", "--quiet", "--json", report, capture], check=False, stderr=subprocess.DEVNULL)
    found = json.loads(report.read_text())["findings"]
    return [(f["clause"], f["packet"]) for f in found if f["severity"] == "violation"]


def complaints(capture, wanted=BAD):
    """The packets of which tshark says that TCP or IP is wrong."""
    run = subprocess.run(["tshark", "-r", capture, "-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE",
                          "--disable-protocol", "smb_direct", "--disable-protocol", "rpcordma", "-Y", wanted, "-T", "fields",
                          "-e", "frame.number"], capture_output=True, text=True, check=False)
    return run.stdout.split()


def cases(weft, folder):
    before = {}
    for number, (name, words, expected) in enumerate(CASES):
        source, target = SAMPLES / f"{name}.pcap", folder / f"{number}.pcap"
        status, said = edit(source, target, words + " --all-checksums")
        check(f"{name} {words}:", status == 0, said)
        if status != 0:
            continue
        if name not in before:
            before[name] = violations(weft, source, folder)
        found = [one for one in violations(weft, target, folder) if one not in before[name]]
        right = sorted(clause for clause, _ in found) == sorted(expected)
        right = right and all(expected[clause] in (None, packet) for clause, packet in found)
        check(f"{name} {words}: expected {expected}, found", right, found)
        if shutil.which("tshark"):
            check(f"{name} {words}: tshark objects to packets", not complaints(target), complaints(target))


def markers(weft, folder):
    """One inside a longer FPDU is changed, or not moved when the octets before it move."""
    source, target = folder / "grown.pcap", folder / "marker.pcap"
    edit(SAMPLES / f"{MARKERS}.pcap", source, GROWN)
    for words, clause in [("--fpdu 10 --part marker --at 1 --xor 01", "MPA-4.2-02"),
                          ("--fpdu 10 --part marker --at 3 --xor 01", "MPA-4.2-05"),
                          ("--fpdu 10 --part marker --at 3 --xor 08", "MPA-4.3-05"), ("--fpdu 1 --at 20 --delete 4", None)]:
        edit(source, target, words)
        found = [one for one, _ in violations(weft, target, folder)]
        check(f"{words}: expected {clause}, found", found == ([clause] if clause else []), found)
    edit(source, target, "--fpdu 1 --at 20 --delete 4 --no-markers")
    check("--no-markers breaks Markers", any(one.startswith("MPA-4.") for one, _ in violations(weft, target, folder)))


def octets_of(capture):
    return [packet.octets for packet in CaptureFile(capture).packets]


def unrepaired(folder):
    """Each repair can be left out, and then what it would have repaired is wrong."""
    source, target = SAMPLES / f"{RPING}.pcap", folder / "unrepaired.pcap"
    for switch, field in [("--no-tcp-checksum", "tcp.checksum.status==0"), ("--no-ip-checksum", "ip.checksum.status==0"),
                          ("--no-ip-length", None), ("--no-sequence", None)]:
        right = folder / "right.pcap"
        edit(source, right, "--all-checksums")
        edit(right, target, f"--fpdu 3 --at 20 --insert 0011223344556677 {switch}")
        check(f"{switch}: what came before is the same", octets_of(target)[:12] == octets_of(right)[:12])
        if shutil.which("tshark") and field:
            check(f"{switch}: packet 13 is wrong,", "13" in complaints(target, field), complaints(target, field))
    grown, kept = CaptureFile(target), CaptureFile(source)
    check("--no-sequence: numbers stay", [p.sequence for p in grown.packets] == [p.sequence for p in kept.packets])
    edit(source, target, "--fpdu 3 --at 20 --insert 00112233")
    moved = CaptureFile(target)
    check("the sender's next packet begins 4 octets later", moved.packets[16].sequence == kept.packets[16].sequence + 4)
    check("the peer acknowledges 4 octets more", moved.packets[13].acknowledged == kept.packets[13].acknowledged + 4)
    check("the packet before does not move", moved.packets[10].octets == kept.packets[10].octets)


def nothing_changed(folder):
    target = folder / "same.pcap"
    small = [path for path in sorted(SAMPLES.glob("*.pcap")) if path.stat().st_size < 100_000]
    # forge.py does not look into encapsulations.
    for source in sorted(set(SAMPLES.glob("*/*.pcap")) - set(SAMPLES.glob("encapsulated/*"))) + small:
        if source.name == "started-anew.pcap":  # two connections whose packets mingle: forge.py edit tells them apart by SYNs
            continue
        status, said = edit(source, target, "")
        check(f"{source.name} without an edit:", status == 0 and target.read_bytes() == source.read_bytes(), said)
    source = SAMPLES / f"{RPING}.pcap"
    for words in ("--fpdu 3 --at 0 --octets 4143", "--fpdu 1 --xor 00", "--startup request --at 0 --octets 4d50"):
        edit(source, target, words)
        check(f"{words} changes nothing", target.read_bytes() == source.read_bytes())


def rewrapped(source, order, magic, link, wrap):
    """The same packets in another kind of file."""
    out = bytearray(struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, 262144, link))
    for packet in CaptureFile(source).packets:
        octets = wrap(packet)
        out += struct.pack(order + "IIII", packet.seconds, packet.fraction, len(octets), len(octets)) + octets
    return out


def sixth(packet):
    """IPv6 around the same TCP segment; edit --all-checksums makes its checksum right."""
    segment = packet.octets[packet.tcp:packet.end]
    addresses = b"".join(b"\x20\x01\x0d\xb8" + bytes(8) + address for address in packet.addresses)
    return packet.octets[:12] + b"\x86\xdd\x60\0\0\0" + struct.pack(">HBB", len(segment), 6, 64) + addresses + segment


def kinds_of_files(weft, folder):
    source, target = folder / "kind.pcap", folder / "kind-edited.pcap"
    kinds = {
        "big-endian, nanoseconds": (">", 0xA1B23C4D, 1, lambda p: p.octets),
        "VLAN": ("<", 0xA1B2C3D4, 1, lambda p: p.octets[:12] + b"\x81\0\0\x05" + p.octets[12:]),
        "raw IP": ("<", 0xA1B2C3D4, 101, lambda p: p.octets[p.ip:]),
        "loopback": ("<", 0xA1B2C3D4, 0, lambda p: b"\x02\0\0\0" + p.octets[p.ip:]),
        "cooked": (">", 0xA1B2C3D4, 113, lambda p: bytes(14) + b"\x08\0" + p.octets[p.ip:]),
        "cooked 2": ("<", 0xA1B2C3D4, 276, lambda p: b"\x08\0" + bytes(18) + p.octets[p.ip:]),
        "IPv6": ("<", 0xA1B2C3D4, 1, sixth),
        "padded Ethernet frames": ("<", 0xA1B2C3D4, 1, lambda p: p.octets + bytes(max(0, 60 - len(p.octets)))),
    }
    for kind, how in kinds.items():
        source.write_bytes(rewrapped(SAMPLES / "forged/story.pcap", *how))
        status, said = edit(source, target, "--all-checksums --fpdu 10 --at 20 --insert 0102030405 --fpdu 10 --at 0 --xor 04")
        check(f"{kind}:", status == 0, said)
        found = violations(weft, target, folder)
        check(f"{kind}: one reserved bit,", [clause for clause, _ in found] == ["DDP-4.1-11"], found)
        if shutil.which("tshark"):
            check(f"{kind}: tshark objects to packets", not complaints(target), complaints(target))


def retransmitted(folder):
    """What was sent twice is changed twice."""
    capture = CaptureFile(SAMPLES / "forged/story.pcap")
    number = next(i for i, p in enumerate(capture.packets) if p.ip is not None and b"a buffer, please" in p.payload)
    capture.packets.insert(number + 2, capture.packets[number])
    capture.write(folder / "twice.pcap")
    edit(folder / "twice.pcap", folder / "twice-edited.pcap", "--fpdu 1 --at 18 --insert 4242")
    packets = CaptureFile(folder / "twice-edited.pcap").packets
    check("both copies changed", packets[number].octets == packets[number + 2].octets != capture.packets[number].octets)


def refused(folder):
    target = folder / "refused.pcap"
    rping = SAMPLES / f"{RPING}.pcap"
    (folder / "text.pcap").write_text("no capture at all, only text")
    (folder / "next.pcap").write_bytes(b"\x0a\x0d\x0d\x0a" + bytes(60))
    for source, words in [(folder / "text.pcap", ""), (folder / "next.pcap", ""), (folder / "none.pcap", ""),
                          (rping, "--fpdu 99 --xor 01"), (rping, "--packet 1 --xor 01"), (rping, "--packet 99 --xor 01"),
                          (rping, "--fpdu 1 --at 34 --xor 01"), (rping, "--fpdu 1 --at 30 --delete 5"),
                          (rping, "--fpdu 1 --part pad --insert 00"), (rping, "--connection 3 --fpdu 1 --xor 01"),
                          (rping, "--fpdu 1 --connection 3 --xor 01"), (rping, "--fpdu 1"), (rping, "--at 3")]:
        status, said = edit(source, target, words)
        check(f"{source.name} {words} is refused", status == UNREADABLE and said)
        check(f"{source.name} {words} writes nothing", not target.exists())
    whole = rping.read_bytes()
    for size in range(0, len(whole), 61):  # a file cut short is edited as far as it goes, or refused
        (folder / "cut.pcap").write_bytes(whole[:size])
        status, _ = edit(folder / "cut.pcap", folder / "cut-edited.pcap", "--packet 4 --xor 01")
        check(f"cut at {size}", status in (0, UNREADABLE))


def main():
    weft = sys.argv[1]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        nothing_changed(folder)
        cases(weft, folder)
        markers(weft, folder)
        unrepaired(folder)
        kinds_of_files(weft, folder)
        retransmitted(folder)
        refused(folder)
    for line in WRONG:
        print(line, file=sys.stderr)
    if not shutil.which("tshark"):
        print("SKIPPED tshark on edited captures: it is not installed (Debian package tshark)")
    print(f"{len(CASES)} edits held against weft audit")
    return 1 if WRONG else 0


if __name__ == "__main__":
    sys.exit(main())
