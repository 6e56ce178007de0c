#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Types what the documents say, in their order, in a root that was made for it: walk.py ROOT NETWORK CHECKOUT [DOCUMENT...], where
NETWORK is the process in whose network namespace all but apt runs. Tells each command with its place and its time, and what a command that failed said."""

import fnmatch
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import listening
from commands import all_commands
from plan import all_rows, exchanges, row_of

# The order in which a reader comes by them. The recipes for a CI begin beside the checkout.
READING = ["README.md", "docs/ci.md", "docs/drop-in.md", "docs/man/*", "docs/course/README.md", "docs/*", "pcap-samples/*", "*"]
BESIDE = {"docs/ci.md"}
LAB = "docs/course/[0-9a]*"  # lessons and answers, whose commands are typed in the lab that docs/course/README.md sets up
LONGEST = 3000  # seconds for a command: building takes some, on one processor that others want too
BUILDS = re.compile(r"\./demo\b|\bcmake --build\b|\bc\+\+ ")


def reading_order(command):
    return next(place for place, pattern in enumerate(READING) if fnmatch.fnmatchcase(command.document, pattern))


class Root:
    """A shell in the clean root. Between two commands it keeps the folder and what was exported, like that of a reader."""

    def __init__(self, folder, network, checkout):
        self.folder, self.network, self.checkout = folder, network, checkout
        self.start_in(checkout)

    def start_in(self, place):
        state = Path(self.folder, "root/state")
        exported = [line for line in state.read_text().splitlines() if not line.startswith("cd ")] if state.exists() else []
        state.write_text("\n".join([*exported, f"cd {place}"]) + "\n")

    def start(self, text, keep, inside):
        """inside: of the namespace without a way out."""
        script = ". /root/state\n" + text
        if keep:
            script += "\ncode=$?\n{ declare -px | grep -v ' -x \\(PWD\\|OLDPWD\\)='; printf 'cd %q\\n' \"$PWD\"; } >/root/state\nexit $code"
        enter = ["nsenter", f"--net=/proc/{self.network}/ns/net"] if inside else []
        log = open(Path(self.folder, "tmp/said"), "w+b") if keep else open(Path(self.folder, "tmp/said.other"), "w+b")
        process = subprocess.Popen([*enter, "chroot", self.folder, "bash", "-c", script], stdin=subprocess.DEVNULL, stdout=log,
                                   stderr=subprocess.STDOUT, start_new_session=True)
        process.log = log
        return process

    def serve(self, text):
        return listening.start(lambda: self.start(text, keep=False, inside=True), self.network)


def output(process):
    process.log.seek(0)
    return process.log.read().decode(errors="replace")


def said(process):
    return output(process)[-6000:]


def warnings(text, said_all):
    """What compilers and linkers warn of where a command builds, as a fault: a reader would not know what to make of it."""
    lines = [line for line in said_all.splitlines() if "warning:" in line.lower()] if BUILDS.search(text) else []
    return "\n".join(["it warns:", *lines]) if lines else None


def ended(process, seconds, stop=False):
    """The exit code of a process, which is ended when it takes too long, or at once when it has to be stopped."""
    try:
        if stop:
            os.killpg(process.pid, signal.SIGINT)
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        return "no end"
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def with_words(text, words):
    for theirs, ours in exchanges(words):
        text = text.replace(theirs, ours)
    return text


class Walk:
    def __init__(self, root):
        self.root, self.failed = root, []
        self.waiting = None  # (command, server, has to be stopped) of a server whose client the text has next

    def take(self, command, values):
        how, _, argument = values["how"].partition(" ")
        text = with_words(command.text, values["with"])
        begin = time.monotonic()
        if how == "file":
            result = self.file(command, argument, values["other"])
        elif how == "serve":
            result = self.serve(command, text, values["other"], argument == "stop")
        else:
            result = self.run(text, int(argument or 0), values["other"], how == "install")
        self.tell(command, text, time.monotonic() - begin, result)

    def tell(self, command, text, seconds, fault):
        print(f"{'FAILED' if fault else 'ok':6} {command.place:26} {seconds:6.1f} s  {text.splitlines()[0]}", flush=True)
        if fault:
            self.failed.append(command)
            print(fault, flush=True)

    def file(self, command, name, user):
        path = Path(self.root.folder, name.lstrip("/"))
        path.write_text("\n".join(command.block) + "\n")
        path.chmod(0o755)
        return self.run(user, 0, "", False)

    def serve(self, command, text, client, stop):
        server = self.root.serve(text)
        if not client:
            self.waiting = (command, server, stop)
            return None
        return self.run(client, 0, "", False) or self.end_of(server, stop)

    @staticmethod
    def end_of(server, stop):
        code = ended(server, 60, stop)
        return None if code == 0 or stop and code in (130, -signal.SIGINT) else f"its end: exit code {code}\n{said(server)}"

    def run(self, text, expected, server_text, outside):
        server = self.root.serve(server_text) if server_text else None
        process = self.root.start(text, keep=True, inside=not outside)
        code = ended(process, LONGEST)
        fault = None if code == expected else f"exit code {code} instead of {expected}\n{said(process)}"
        fault = fault or warnings(text, output(process))
        if server:
            fault = fault or self.end_of(server, False)
        if self.waiting:
            (command, server, stop), self.waiting = self.waiting, None
            fault = fault or self.end_of(server, stop)
        return fault


def main():
    folder, network, checkout, *only = sys.argv[1:]
    walk, table, document, done = Walk(Root(folder, network, checkout)), all_rows(), None, set()
    for command in sorted(all_commands(), key=reading_order):
        row = row_of(command, table)
        if row is None or not row.in_root or (row.whole_block() and row in done) or (only and command.document not in only):
            continue
        done.add(row)
        if document != command.document:
            document = command.document
            walk.root.start_in("/root" if document in BESIDE else f"{checkout}/build/lab" if fnmatch.fnmatchcase(document, LAB) else checkout)
        walk.take(command, row.values)
        if walk.failed[-1:] == [command] and row.values["how"] == "install":
            print("what follows needs this")
            break
    print(f"{len(walk.failed)} dead ends" if walk.failed else "no dead end")
    return 1 if walk.failed else 0


if __name__ == "__main__":
    sys.exit(main())
