# SPDX-License-Identifier: Apache-2.0
"""A terminal of fixed size: runs a command in it, and has the lines that stand on it at the end, with their colours."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios

COLUMNS, ROWS = 132, 40
# What a program writes that is no text: ESC [ parameters letter, another escape, or a control character.
CONTROL = re.compile(r"\x1b\[([0-9;?]*)([A-Za-z])|\x1b.|[\x00-\x1f]")


class Run:
    """A command that believes to be typed by a person."""

    def __init__(self, command, environment, seconds):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        self.process = subprocess.Popen(["timeout", "--foreground", str(seconds), *command], env={**environment, "TERM": "xterm-256color"},
                                        stdin=slave, stdout=slave, stderr=slave, start_new_session=True)
        os.close(slave)

    def poll(self):
        return self.process.poll()

    def end(self):
        """(exit code, what it wrote) when it has ended."""
        octets = b""
        while True:
            try:
                octets += os.read(self.master, 65536)
            except OSError:  # EIO: all that had the terminal open have ended
                break
        os.close(self.master)
        return self.process.wait(), octets.decode(errors="replace")


def lines_of(text):
    """Each line as a list of (style, text): style is the words of SGR in force, such as ("1", "31")."""
    lines, line, at, style, begin = [], [], 0, (), 0

    def put(plain):
        nonlocal line, at
        for character in plain:
            if at == COLUMNS:
                lines.append(line)
                line, at = [], 0
            line[at:at + 1] = [(style, character)]
            at += 1

    for match in CONTROL.finditer(text):
        put(text[begin:match.start()])
        begin = match.end()
        if match[0] == "\n":
            lines.append(line)
            line, at = [], 0
        elif match[0] == "\r":
            at = 0
        elif match[0] == "\t":
            put(" " * (8 - at % 8))
        elif match[2] == "K":
            del line[at:]
        elif match[2] == "m":
            style = styled(style, match[1])
    put(text[begin:])
    return [joined(cells) for cells in [*lines, line]][:None if line else -1]


def styled(style, parameters):
    for word in (parameters or "0").split(";"):
        if word in ("0", ""):
            style = ()
        elif word == "39":
            style = tuple(old for old in style if not re.fullmatch(r"[39][0-7]", old))
        elif word == "22":
            style = tuple(old for old in style if old not in "12")
        else:
            style = (*style, word)
    return style


def joined(cells):
    """Neighbours of one style together."""
    runs = []
    for style, character in cells:
        if runs and runs[-1][0] == style:
            runs[-1][1] += character
        else:
            runs.append([style, character])
    return [tuple(run) for run in runs]


def plain(line):
    return "".join(text for _, text in line).rstrip()
