#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""./demo and what it says is to be typed next, ./check among it, on a machine that this test makes up: in a copy of the scripts, with a
PATH of its own in which apt-get, sudo, cmake, ctest and weft are a few lines of shell. Times are printed before the work, apt moves
one line on a terminal and none elsewhere, and what is to be typed next works. One processor and registries that do not answer have
their own cases."""
import os
import pathlib
import pty
import re
import shutil
import signal
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
TOOLS = "bash sh sed grep cut awk sort tail wc cat env nproc readlink dirname mkdir rm sleep date true cp".split()
PROGRAMS = {
    # What a package starts keeps what it was given: the sleep holds all descriptors of apt-get.
    "apt-get": """sleep 600 & echo $! >>"$HOME/left"
echo 'dlstatus:1:0.5:Retrieving file 1 of 2' >&9
echo 'pmstatus:ninja-build:amd64:50.1234:Unpacking ninja-build (amd64)' >&9
echo '0 upgraded, 42 newly installed, 0 to remove and 0 not upgraded.'""",
    "apt-cache": "exit 0",
    "id": "echo 1000",
    "sudo": '[ "$1" != -n ] || shift\nexec "$@" 3>&- 9>&-',  # as the real one closes what is not 0, 1 or 2
    "cmake": """case $1 in
--preset) mkdir -p build/tests; : >build/build.ninja ;;
--build) mkdir -p build/tools; cp "$HOME/bin/weft" build/tools/weft ;;
esac""",
    "ctest": "exit 0",
    "python3": "exit 0",  # tests/skips/unchanged.py
}
WEFT = f"""#!{sys.executable}
import os, sys
what = sys.argv[1]
if what == "demo":
    open(sys.argv[sys.argv.index("--pcap") + 1], "w").close()
elif what == "audit":
    open(sys.argv[2]).close()
elif what == "run":
    os.execvp(sys.argv[2], sys.argv[2:])
"""


RPING = f"""#!{sys.executable}
import socket, sys
where = ("127.0.0.1", int(sys.argv[sys.argv.index("-p") + 1]))
if "-s" in sys.argv:
    socket.create_server(where).accept()
else:
    socket.create_connection(where)
    print("ping data: of the system's rping")
"""


class Machine:
    def __init__(self, home):
        self.home, self.weft = home, home / "weft"
        (home / "bin").mkdir()
        (self.weft / "tests/interop").mkdir(parents=True)
        (self.weft / "tests/skips").mkdir()
        for name in ("demo", "check", "tests/interop/packages.txt", "tests/skips/report.sh"):
            shutil.copy(SOURCE / name, self.weft / name)
        shutil.copytree(SOURCE / "cmake", self.weft / "cmake")
        for tool in TOOLS:
            (home / "bin" / tool).symlink_to(shutil.which(tool))
        for name, text in PROGRAMS.items():
            self.provide(name, "#!/bin/sh\n" + text + "\n")
        self.provide("weft", WEFT)
        self.environment = {"PATH": str(home / "bin"), "HOME": str(home)}

    def provide(self, name, text):
        program = self.home / "bin" / name
        program.unlink(missing_ok=True)  # the link to the system's program, which is not to be written to
        program.write_text(text)
        program.chmod(0o755)

    def run(self, *command, code=0):
        done = subprocess.run(command, cwd=self.weft, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=120, check=False)
        expect(done.returncode == code, f"{command} ended with {done.returncode}", done.stdout)
        return done.stdout

    def run_in_terminal(self, command):
        ours, theirs = pty.openpty()
        child = subprocess.Popen(command, cwd=self.weft, env=self.environment, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs)
        os.close(theirs)
        said = b""
        try:
            while piece := os.read(ours, 65536):
                said += piece
                if b"What to type next" in said:
                    child.wait(60)
        except OSError:  # the last end of the terminal is closed
            pass
        expect(child.wait(60) == 0, f"{command} on a terminal", said.decode())
        return said.decode()

    def end_what_is_left(self):
        """What apt has started; every one is still there."""
        left = self.home / "left"
        for pid in map(int, left.read_text().split() if left.exists() else []):
            os.kill(pid, signal.SIGKILL)
        left.unlink(missing_ok=True)


def expect(truth, what, said):
    if not truth:
        sys.exit(f"first_use.py: {what}; it was said:\n{said}")


def has(pattern, said):
    expect(re.search(pattern, said, re.M), f"nothing like '{pattern}'", said)


def demo_without_terminal(machine):
    said = machine.run("./demo")
    machine.end_what_is_left()
    has(r"^demo: these are missing, and come with apt", said)
    has(r"^    ninja-build: runs the build$", said)
    has(r"^demo: apt has installed 42 packages in \d+ s$", said)
    has(r"^demo: building into build/, which takes about (a minute|\d+ minutes) on this machine$", said)
    expect("\r" not in said and "Unpacking" not in said, "a line that moves is for terminals", said)
    has(r"^    rdmacm-utils: ", said)
    has(r"^demo: weft run runs verbs programs unchanged; .* apt-get install rdmacm-utils", said)  # this apt has not brought it
    return said


def next_lines_work(machine, said):
    has(rf"What to type next, in {machine.weft}:$", said)
    lines = re.findall(r"^    (.*)", said.split("What to type next")[1], re.M)
    expect(len(lines) == 5, "five lines to type", said)
    for line in lines:
        machine.run("bash", "-c", line.replace("PROGRAM [arguments]", "sh -c 'exit 0'"))
    machine.end_what_is_left()


def demo_on_terminal(machine):
    machine.provide("rping", RPING)
    said = machine.run_in_terminal("./demo")
    has(r"weft run rping: the system's rping, unchanged", said)
    has(r"^ping data: of the system's rping", said)
    machine.end_what_is_left()
    has(r"\r\x1b\[K    apt, \d+ s: 50 %, Unpacking ninja-build \(amd64\)", said)
    has(r"\r\x1b\[K(\x1b\[1m)?demo:(\x1b\[0m)? apt has installed", said)  # nothing is left of the line
    has(r"building what is new into build/", said)


def one_processor(machine):
    machine.provide("nproc", "#!/bin/sh\necho 1\n")
    machine.provide("ctest", "#!/bin/sh\necho \"$CMAKE_BUILD_PARALLEL_LEVEL at once: $*\"\n")
    (machine.weft / "build/check-quick.seconds").unlink(missing_ok=True)
    said = machine.run("./check", "--quick")
    machine.end_what_is_left()
    has(r"^check: takes about \d+ minutes on this machine, the first time$", said)
    has(r"^1 at once: .* --parallel 1 ", said)
    has(r"^check: passed after ", said)


def no_debian_registry(machine):
    machine.provide("apt-get", "#!/bin/sh\necho 'E: Could not connect to deb.debian.org:80'\nexit 100\n")
    for command in ("./demo", "./check"):
        said = machine.run(command, code=1)
        has(r"^E: Could not connect to deb\.debian\.org:80$", said)
        has(rf"^{command[2:]}: apt could not install: .*ninja-build", said)


def no_npm_registry(machine):
    for name in ("chromium", "node"):
        machine.provide(name, "#!/bin/sh\nexit 1\n")
    machine.provide("npm", "#!/bin/sh\necho 'npm ERR! code ENOTFOUND'\nexit 1\n")
    for name in ("cmp", "flock"):
        (machine.home / "bin" / name).symlink_to(shutil.which(name))
    script = SOURCE / "tests/explain/page/browser.sh"
    said = machine.run(str(script), "writer", str(machine.home / "npm"), "page.test.mjs", code=77)
    has(r"^SKIPPED: npm cannot fetch playwright-core and axe-core: npm ERR! code ENOTFOUND$", said)
    machine.provide("npm", "#!/bin/sh\necho 'npm ERR! code EINTEGRITY'\nexit 1\n")
    machine.run(str(script), "writer", str(machine.home / "npm"), "page.test.mjs", code=1)


def main():
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(pathlib.Path(folder).resolve())
        try:
            said = demo_without_terminal(machine)
            next_lines_work(machine, said)
            demo_on_terminal(machine)
            one_processor(machine)
            no_debian_registry(machine)
            no_npm_registry(machine)
        finally:
            machine.end_what_is_left()
    print("./demo says what it does")
    return 0


if __name__ == "__main__":
    sys.exit(main())
