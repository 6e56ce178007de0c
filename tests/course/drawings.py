# SPDX-License-Identifier: Apache-2.0
"""The drawn figures of docs/course/, and the one of docs/front-page.md. Numbers are those of the tables that figures.cpp prints from the code's constants. figures.py compares and
writes them."""

import re

from picture import Picture


def rows(table):
    """The cells of a table in Markdown, without its head."""
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines() if line.startswith("|")][2:]


def number(cell):
    return int(cell.replace(",", ""))


# --- The front page of the site

def front_page(_):
    picture = Picture("weft: programs above, TCP below, and tools that look at the wire", 760, 330)
    picture.box(20, 20, 230, 56, "unchanged programs", "program", below="libibverbs.so.1, librdmacm.so.1")
    picture.box(260, 20, 230, 56, "your C++ program", "program", below="weft/weft.hpp")
    picture.box(20, 84, 470, 40, "verbs", "verbs")
    for place, (layer, words) in enumerate((("RDMAP", "Write, Read, Send, atomic operations"), ("DDP", "placement into user memory"),
                                            ("MPA", "frames, Markers, CRC32C"), ("TCP", "an ordinary socket, optionally TLS"))):
        top = 130 + 46 * place
        picture.box(20, top, 470, 40, "", layer.lower())
        picture.text(36, top + 25, layer, "strong", "start")
        picture.text(130, top + 25, words, "", "start")
    picture.box(550, 20, 190, 104, "weft's tools", "program", below="audit, probe, dissect, explain")
    picture.box(550, 130, 190, 178, "the wire", "wire", below="captures, live endpoints")
    picture.arrow(645, 124, 645, 190)
    picture.arrow(490, 288, 550, 288)
    return picture


# --- Lesson 0

def two_ways(_):
    picture = Picture("With sockets both programs take part; in an RDMA Write only one", 760, 330)
    for left, name, sleeps in ((20, "Sockets", False), (400, "RDMA Write", True)):
        picture.text(left + 170, 28, name, "strong")
        for x, host in ((left, "host A"), (left + 200, "host B")):
            picture.text(x + 70, 52, host, "dim small")
        picture.box(left, 62, 140, 50, "program", "program", below="calls write")
        picture.box(left + 200, 62, 140, 50, "program", "program" if not sleeps else "none", "sleeps" if sleeps else "", "sleeps" if sleeps else "calls read")
        picture.box(left, 150, 140, 40, "memory", "memory")
        picture.box(left + 200, 150, 140, 40, "memory", "memory")
        picture.box(left, 228, 140, 40, "RDMA device" if sleeps else "kernel", "ddp" if sleeps else "kernel")
        picture.box(left + 200, 228, 140, 40, "RDMA device" if sleeps else "kernel", "ddp" if sleeps else "kernel")
        picture.arrow(left + 70, 190, left + 70, 228)
        picture.arrow(left + 140, 248, left + 200, 248)
        picture.arrow(left + 270, 228, left + 270, 190)
        picture.arrow(left + 30, 112, left + 30, 150)
        if not sleeps:
            picture.arrow(left + 310, 112, left + 310, 228)
        picture.text(left + 170, 298, "B's device checks, and places the octets" if sleeps else "B's program asks for the octets, and waits", "small")
    return picture


def three_networks(_):
    picture = Picture("InfiniBand, RoCE and iWARP: one interface, three sets of protocols", 760, 340)
    stacks = {"InfiniBand": [("InfiniBand transport", "ib"), ("InfiniBand network", "ib"), ("InfiniBand link", "ib")],
              "RoCE, version 2": [("InfiniBand transport", "ib"), ("UDP", "tcp"), ("IP", "tcp"), ("Ethernet", "wire")],
              "iWARP": [("RDMAP", "rdmap"), ("DDP", "ddp"), ("MPA", "mpa"), ("TCP", "tcp"), ("IP", "tcp"), ("Ethernet", "wire")]}
    picture.box(20, 20, 720, 40, "verbs: the interface that programs use", "verbs")
    for at, (name, layers) in enumerate(stacks.items()):
        left = 20 + 250 * at
        height = 210 / len(layers)
        for place, (layer, color) in enumerate(layers):
            picture.box(left, 70 + place * height, 220, height - 4, layer, color)
        picture.text(left + 110, 305, name, "strong")
    return picture


# --- Lesson 1

def copies(_):
    picture = Picture("One copy: three crossings of the memory bus. Direct placement: one", 760, 250)
    for left, name, direct in ((20, "Received, then copied", False), (400, "Placed directly", True)):
        picture.text(left + 170, 28, name, "strong")
        picture.box(left, 60, 90, 60, "card", "ddp")
        picture.box(left + 240, 60, 100, 150, "memory", "none")
        if direct:
            picture.box(left + 248, 160, 84, 40, "application", "memory")
            picture.arrow(left + 90, 95, left + 248, 175, "1")
        else:
            picture.box(left + 248, 68, 84, 40, "kernel", "kernel")
            picture.box(left + 248, 160, 84, 40, "application", "memory")
            picture.box(left, 155, 90, 50, "processor", "program")
            picture.arrow(left + 90, 85, left + 248, 85, "1")
            picture.arrow(left + 248, 100, left + 90, 165, "2")
            picture.arrow(left + 90, 185, left + 248, 185, "3", above=False)
        picture.text(left + 170, 236, "crossings of the memory bus: " + ("1" if direct else "3"), "small")
    return picture


# --- Lesson 2

def fpdu(now):
    picture = Picture("An FPDU, and Markers in the stream that lead back to its beginning", 760, 300)
    parts = {name: size for name, size, _ in rows(now["fpdu"])}
    left = 20
    for name, width, color in (("ULPDU_Length", 120, "mpa"), ("ULPDU", 360, "ddp"), ("PAD", 110, "mpa"), ("CRC", 110, "mpa")):
        picture.box(left, 30, width, 50, name, color, below=f"{parts[name]} octets")
        left += width + 5
    picture.text(20, 20, "One FPDU", "strong", "start")
    period = int(re.search(r"one every (\d+) octets", now["fpdu"])[1])
    start, bare, size = next((number(row[1]), number(row[0]), number(row[3])) for row in rows(now["markers"]) if number(row[2]) > 1)
    scale = 700 / (2.5 * period)
    picture.text(20, 130, f"The stream: an FPDU of {bare:,} octets from position {start} on, and the Markers in it", "strong", "start")
    picture.line(20, 250, 740, 250)
    picture.box(20 + start * scale, 200, size * scale, 50, "", "ddp")
    for position in range(0, int(2.5 * period), period):
        at = 20 + position * scale
        picture.box(at, 192, max(4, int(parts["Marker"]) * scale * 2), 66, "", "mpa")
        picture.text(at + 4, 276, str(position), "small")
        if start < position < start + size:
            picture.curve(at, 192, 20 + start * scale + 2, 198, 45)
            picture.text(at - 6, 230, f"{position - start} octets before", "small", "end")
    return picture


# --- Lesson 3

def headers(now):
    picture = Picture("The headers of a tagged and of an untagged segment, octet by octet", 760, 230)
    for top, name, table in ((40, "Tagged", "tagged"), (145, "Untagged", "untagged")):
        picture.text(20, top - 12, name, "strong", "start")
        for at, size, field, layer in rows(now[table]):
            left, width = 20 + 39 * int(at), 39 * int(size)
            words = re.sub(r"RsvdULP: the STag to invalidate.*", "STag to invalidate", re.sub(r" \(.*", "", field))
            words = {"control: T = 1, L, version": "T L", "control: T = 0, L, version": "T L", "RsvdULP: version, opcode": "op"}.get(words, words)
            picture.box(left, top, width, 40, words, layer.lower())
            picture.text(left, top + 56, at, "small dim", "start")
        end = sum(int(size) for _, size, _, _ in rows(now[table]))
        picture.box(20 + 39 * end, top, 720 - 39 * end, 40, "payload" if end < 16 else "", "payload")
    return picture


def placement(now):
    segments = rows(now["segments"])
    picture = Picture("Each segment of a Write says where its payload goes", 760, 60 + 70 * len(segments))
    first = number(segments[0][2])
    octets = sum(number(row[3]) for row in segments)
    scale = (60 * len(segments)) / octets
    picture.box(560, 40, 160, octets * scale, "", "none")
    picture.text(640, 28, "registered memory", "strong")
    picture.text(150, 28, "segments", "strong")
    for place, (name, last, offset, payload, _, _) in enumerate(segments):
        top, at = 40 + 68 * place, 40 + (number(offset) - first) * scale
        picture.box(20, top, 160, 44, f"header: TO {offset}", "ddp", below=f"segment {name}, L = {last}")
        picture.box(180, top, 140, 44, f"{payload} octets", "payload")
        picture.box(560, at, 160, number(payload) * scale, f"{number(offset):,} to {number(offset) + number(payload) - 1:,}", "payload")
        picture.arrow(320, top + 22, 560, at + number(payload) * scale / 2)
    return picture


# --- Lesson 4

def objects(_):
    picture = Picture("The objects of one end of a connection", 760, 330)
    picture.box(20, 30, 720, 280)
    picture.text(36, 52, "device", "strong", "start")
    for left, letter in ((40, "A"), (400, "B")):
        picture.box(left, 70, 320, 130)
        picture.text(left + 14, 92, f"protection domain {letter}", "strong", "start")
        picture.box(left + 14, 110, 130, 70, "memory region", "memory", below="lkey, rkey")
        picture.box(left + 164, 110, 140, 70, "queue pair", "ddp", below="sends | receives")
        picture.arrow(left + 234, 180, 380, 240)
    picture.box(280, 240, 200, 50, "completion queue", "rdmap", below="what has finished")
    picture.text(60, 265, "The connection manager joins", "small", "start")
    picture.text(60, 283, "a queue pair to one of a peer.", "small", "start")
    return picture


def work_request(_):
    picture = Picture("The life of a work request", 760, 250)
    picture.box(20, 40, 130, 150, "program", "program")
    picture.box(250, 40, 130, 60, "send queue", "ddp")
    picture.box(244, 130, 142, 60, "completion queue", "rdmap")
    picture.box(440, 40, 90, 150, "device", "ddp")
    picture.box(640, 40, 100, 150, "peer", "wire")
    picture.arrow(150, 70, 250, 70, "1 post")
    picture.arrow(380, 70, 440, 70, "2")
    picture.arrow(530, 70, 640, 70, "2 messages")
    picture.text(690, 215, "3 places octets", "small")
    picture.arrow(640, 160, 530, 160, "")
    picture.arrow(440, 160, 386, 160, "4")
    picture.arrow(244, 160, 150, 160, "4 poll, wait")
    return picture


# --- Lesson 5

def operations(now):
    queue = {name: place for _, name, place, _ in rows(now["opcodes"])}
    picture = Picture("Which end's program takes part in a Write, a Send and a Read", 760, 380)
    lanes = {"program": 90, "device": 260, "device ": 500, "program ": 670}
    for name, x in lanes.items():
        picture.text(x, 50, name.strip(), "dim small")
        picture.line(x, 60, x, 360, "sleeps" if name == "program " else "")
    picture.text(175, 25, "initiator of the operation", "strong")
    picture.text(585, 25, "the other end", "strong")
    picture.arrow(90, 85, 260, 85, "post Write")
    picture.arrow(260, 100, 500, 100, f"RDMA Write, to {queue['RDMA Write']}")
    picture.text(508, 118, "octets are placed", "small", "start")
    picture.arrow(90, 160, 260, 160, "post Send")
    picture.arrow(260, 175, 500, 175, f"Send, to {queue['Send']}")
    picture.arrow(500, 190, 670, 190, "completion")
    picture.arrow(90, 260, 260, 260, "post Read")
    picture.arrow(260, 275, 500, 275, f"Read Request, to {queue['RDMA Read Request']}")
    picture.arrow(500, 315, 260, 315, f"Read Response, to {queue['RDMA Read Response']}")
    picture.arrow(260, 335, 90, 335, "completion")
    return picture


# --- Lesson 6

GATES = (("STag is valid", "invalid"), ("same domain", "another Protection Domain"), ("right granted", "grant|allows no placement"),
         ("below 2^64", "passes 2\\^64"), ("inside region", "outside the tagged buffer"))


def checks(now):
    codes = {layer: [row for row in rows(now["errors"]) if row[:2] == [layer, "1"]] for layer in "01"}
    picture = Picture("The checks of an access, and the Terminate's code where one fails", 760, 290)
    picture.text(20, 30, "a Write or a request of the peer", "strong", "start")
    for place, (words, pattern) in enumerate(GATES):
        left = 20 + 122 * place
        picture.box(left, 50, 104, 50, words, "ddp")
        picture.arrow(left + 104, 75, left + 122, 75)
        for layer, top in (("1", 160), ("0", 220)):
            code = next(row[2] for row in codes[layer] if re.search(pattern, row[3]))
            picture.box(left, top, 104, 40, code, "bad")
        picture.arrow(left + 52, 100, left + 52, 160)
    picture.box(630, 50, 110, 50, "access", "memory")
    for top, words, below in ((160, "of a Write:", "layer 1, type 1"), (220, "of a Read, atomic:", "layer 0, type 1")):
        picture.text(632, top + 16, words, "small", "start")
        picture.text(632, top + 34, below, "small dim", "start")
    return picture


# --- Lesson 7

def stamps(now):
    picture = Picture("An entry of the store, and the order in which a writer changes it", 760, 190)
    left = 20
    for (at, size, name), width, order in zip(rows(now["entry"]), (130, 180, 280, 130), ("3", "2", "2", "1")):
        picture.box(left, 60, width, 56, re.sub(r"[`:].*", "", name.strip("`").replace("`", ":")).split(",")[0], "rdmap" if width == 130 else "payload", below=f"{size} octets")
        picture.text(left, 134, at, "small dim", "start")
        picture.text(left + width / 2, 44, f"step {order}", "small")
        left += width
    picture.arrow(740, 160, 20, 160, "a writer", above=False)
    picture.text(380, 22, "an entry, and the steps of its writer", "strong")
    return picture


DRAWINGS = {"../front-page": front_page, "0-two-ways": two_ways, "0-three-networks": three_networks, "1-copies": copies, "2-fpdu": fpdu, "3-headers": headers,
            "3-placement": placement, "4-objects": objects, "4-work-request": work_request, "5-operations": operations, "6-checks": checks,
            "7-stamps": stamps}


def drawings(now):
    """name of the file -> SVG"""
    return {f"{name}.svg": str(draw(now)) for name, draw in DRAWINGS.items()}
