#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`weft explain --text --step` on a terminal: keys lead from row to row, and the terminal is as it was before however it ends.

    stepping.py WEFT
"""

import os
import pty
import select
import signal
import sys
import termios
import time

WAIT = 20  # seconds


class Walk:
    """weft with a terminal of its own, which is its controlling one."""

    def __init__(self, weft):
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            signal.pthread_sigmask(signal.SIG_SETMASK, [])
            os.environ.update(TERM="xterm", NO_COLOR="")
            os.execv(weft, [weft, "explain", "--demo", "--text", "--step"])
        self.text = ""

    def expect(self, words):
        """All that was written up to these words; what is after them stays."""
        end = time.monotonic() + WAIT
        while words not in self.text:
            if time.monotonic() > end or not select.select([self.terminal], [], [], WAIT)[0]:
                raise AssertionError(f"waited for {words!r}: {self.text[-500:]!r}")
            self.text += os.read(self.terminal, 65536).decode()
        before, self.text = self.text.split(words, 1)
        return before

    def press(self, keys):
        os.write(self.terminal, keys.encode())

    def attributes(self):
        return termios.tcgetattr(self.terminal)

    def end(self):
        """The exit code."""
        end = time.monotonic() + WAIT
        while True:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                return os.waitstatus_to_exitcode(status)
            if time.monotonic() > end:
                os.kill(self.pid, signal.SIGKILL)
                raise AssertionError("it does not end")
            if select.select([self.terminal], [], [], 0.05)[0]:
                try:
                    os.read(self.terminal, 65536)  # else it might wait for room
                except OSError:
                    time.sleep(0.05)


def expect(holds, what):
    if not holds:
        raise AssertionError(what)


def check_keys(weft):
    walk = Walk(weft)
    first = walk.expect("1 of ")
    expect("SYN" in first and "connection 0" in first, first)
    expect("\x1b[" in first, "a terminal has colours")
    rows = int(walk.expect(":").split(",")[0])
    expect(rows > 30, rows)
    for key, at, words in [(" ", 2, "SYN, ACK"), ("n", 3, "MPA Request"), ("\r", 4, "MPA Reply"), ("b", 3, "MPA Request"), ("\x1b[B", 4, "MPA Reply"),
                           ("\x1b[A", 3, "MPA Request"), ("\x1bOC", 4, "MPA Reply"), ("g", 1, "SYN"), ("x ", 2, "SYN, ACK"), ("G", rows, "FIN")]:
        walk.press(key)
        shown = walk.expect(f"{at} of {rows}")
        expect(words in shown, f"{key!r}: {shown!r}")
    walk.press("q")
    expect(walk.end() == 0, "q is no failure")


def check_ending(weft, end, code):
    """`end` ends a walk in the middle."""
    walk = Walk(weft)
    walk.expect("q quit")
    during = walk.attributes()
    expect(not during[3] & (termios.ICANON | termios.ECHO), "keys are not read one by one")
    end(walk)
    expect(walk.end() == code, f"exit code {code}")
    after = walk.attributes()
    expect(after[3] & termios.ICANON and after[3] & termios.ECHO, "the terminal was not put right")
    expect(after[6][termios.VQUIT] != during[6][termios.VQUIT], "a key that was switched off is off still")


def main():
    (weft,) = sys.argv[1:]
    check_keys(weft)
    for end, code in [(lambda walk: walk.press("q"), 0), (lambda walk: walk.press("\x1b"), 0), (lambda walk: walk.press("\x03"), 130),
                      (lambda walk: walk.press("\x04"), 0), (lambda walk: os.kill(walk.pid, signal.SIGTERM), 130)]:
        check_ending(weft, end, code)
    print("keys lead from row to row; q, Escape, ^C, ^D and SIGTERM leave the terminal as it was")


main()
