#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs unmodified programs of the distribution under `weft run`, as user `nobody`, in a network namespace of its own.

WEFT is the command, LIBRARIES the folder of the drop-in libraries; both are copied to where that user can read them. With --table
the results go into a file, as docs/applications.md has them; with --compare they are held against that page, but for the
versions. With --sanitizer the programs run without `weft run`, with that run-time library of AddressSanitizer in front: what it
or UndefinedBehaviorSanitizer finds fails, and so does memory of LIBRARIES that is leaked (leaks.py).
With --hogs the processors are busy, so that threads are held up at any place.
With WEFT_DEVICE=roce in the environment, devices show themselves as adapters for RoCE to all programs. WEFT_POLICY holds for
all of them, too: same-host=off runs them over TCP.
Exit codes: 0 all passed, 1 something failed, 77 none of the programs is here. One that is missing among others is told on a line "SKIPPED ..."."""
import argparse
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # the source tree stays as it is
import leaks  # noqa: E402
import namespaces  # noqa: E402
import rdma_core_tests  # noqa: E402
from cases import CASES, FAR6, FAR, NIC, OWN  # noqa: E402

FIRST_PORT = 20000
NOBODY = 65534
NOBODY_COMMAND = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--no-new-privs"] if os.geteuid() == 0 else []
# At its end rping destroys the event channel that its other thread is about to read: about one run in a hundred on a busy machine
# meets that, and then exits with 255 after its work.
RPING_RACE = "rdma_get_cm_event: Bad file descriptor"
# With -R perftest's client connects twice to one port, and its server listens anew in between. A client that comes too early is
# refused, and then crashes on the identifier that it has destroyed (docs/drop-in.md).
# qperf's server sends its client the port before it calls rdma_listen.
# perftest measures the processor's clock, and gives up after its work if something else ran meanwhile.
OWN_RACES = {"perftest": ("RDMA_CM_EVENT_REJECTED; error: -111", "Correlation coefficient r^2"), "qperf": ("unexpected event from RDMA CM: Event rejected",)}
ESTABLISHED, LISTENING, BOUND = "01", "0A", "07"  # in /proc/net/tcp; the last one in /proc/net/udp
MUST_WORK, MAY_FAIL, MUST_FAIL = range(3)  # what becomes of a program; death of a signal is never right


def stage(weft, libraries, programs=None):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="weft-applications-"))
    folder.chmod(0o755)
    shutil.copy(weft, folder / "weft")
    shutil.copytree(libraries, folder / "lib", symlinks=True)
    (folder / "home").mkdir(mode=0o777)
    (folder / "home").chmod(0o777)
    for name in ("echo.py", "mpi.py", "dat.conf", "lighttpd.conf", "iser.sh", "ceph.sh", "rpma.py", "gloo.sh", "mckey.sh", "hpccinf.txt"):
        shutil.copy(pathlib.Path(__file__).with_name(name), folder / "home")
    for program in pathlib.Path(programs).iterdir() if programs else ():
        shutil.copy(program, folder / "home")
    keys = folder / "home" / "keys"
    subprocess.run([weft, "keys", keys], check=True, stdout=subprocess.DEVNULL)
    if os.geteuid() == 0:
        for one in (keys, *keys.iterdir()):
            os.chown(one, NOBODY, NOBODY)
    return folder


class Runner:
    def __init__(self, folder, sanitizer, places):
        self.folder = folder
        self.places = places
        self.sanitizer = sanitizer
        self.port = FIRST_PORT
        self.nobody = NOBODY_COMMAND
        self.environment = {"PATH": "/usr/bin:/bin:/usr/sbin", "HOME": str(folder / "home"), "TMPDIR": str(folder / "home"),
                            "WEFT_LIBRARY_PATH": str(folder / "lib")}
        for name in ("WEFT_LOG", "WEFT_DEVICE", "WEFT_POLICY", "LD_PRELOAD", "ASAN_OPTIONS", "LSAN_OPTIONS"):
            if name in os.environ:
                self.environment[name] = os.environ[name]

    def through_weft(self, command, sockets, roce):
        """`weft run`; or what does the same where the command itself has a sanitizer of another kind in it."""
        if not self.sanitizer:
            return [str(self.folder / "weft"), "run", *(["--sockets"] if sockets else []), *(["--device", "roce"] if roce else []), "--", *command]
        preloaded = f"{self.sanitizer}:{self.folder / 'lib/libweftpaths.so'}" if roce else self.sanitizer
        return ["env", *(["WEFT_DEVICE=roce"] if roce else []), f"LD_PRELOAD={preloaded}", f"LD_LIBRARY_PATH={self.folder / 'lib'}",
                *leaks.environment(self.folder, command[0]), *command]

    def start(self, case, command, where):
        return subprocess.Popen([*namespaces.inside(where), *self.nobody, *self.through_weft(shlex.split(command), case.sockets, case.roce)], env=self.environment,
                                cwd=self.folder / "home", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                text=True, start_new_session=True)

    def run(self, case, address):
        """None when all is well, else what was wrong. A program's own race is met again, up to six times."""
        for _ in range(6):
            wrong = self.run_once(case, address)
            race = next((one for one in OWN_RACES.get(case.package, ()) if wrong and one in wrong), None)
            if race is None:
                return wrong
            print(f"        {case.name}: '{race}', the program's own race: once more", flush=True)
        return wrong

    def run_once(self, case, address):
        until = time.monotonic() + case.timeout
        pairs = [self.start_pair(case, address) for _ in range(case.pairs)]
        if case.kill:
            self.wait_for_socket(pairs[0][0], ESTABLISHED)
            time.sleep(0.5)  # now it is in the middle of its work
            os.killpg(pairs[0][1 if case.kill == "server" else 0].pid, 9)
        wrong = [self.judge_pair(case, client, server, until) for client, server in pairs]
        return "\n".join(w for w in wrong if w) or None

    def start_pair(self, case, address):
        self.port += 1
        words = {"a": address, "p": self.port, "own": OWN.get(address, address)}
        near, far = self.places.get(FAR6 if case.ipv6 else address, (None, None))
        server = self.start(case, case.server.format(**words), far) if case.server else None
        if server:
            self.wait_for_socket(server, BOUND if case.udp else LISTENING, case.port)
        return self.start(case, case.client.format(**words), near), server

    def judge_pair(self, case, client, server, until):
        fate = MUST_FAIL if case.cannot else MAY_FAIL if case.kill else MUST_WORK
        wrong = [] if case.kill == "client" else [self.judge("client", client, case.expect, until, fate)]
        if any(wrong):
            until = min(until, time.monotonic() + 5)  # its server waits for it in vain
        if server and case.server_ends and case.kill != "server":
            wrong.append(self.judge("server", server, case.server_expect, until, fate))
        elif server and not case.kill and server.poll() is not None:
            wrong.append(f"server: ended by itself with {server.returncode}")
        found = [w for w in wrong if w]
        said = self.end(server) if server else ""
        found += leaks.findings("client", self.end(client)) + leaks.findings("server", said)
        if found and server:
            found.append("server said:\n" + said)
        return "\n".join(found)

    def judge(self, who, process, expect, until, fate):
        try:
            text, _ = process.communicate(timeout=max(0.1, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            return f"{who}: does not end:\n" + self.end(process)
        process.said = text
        if process.returncode == 255 and text.strip().endswith(RPING_RACE) and "rping" in process.args:
            print(f"        {who}: '{RPING_RACE}', rping's own race, after its work", flush=True)
        elif process.returncode < 0 or process.returncode != 0 and fate == MUST_WORK:
            return f"{who}: exit code {process.returncode}:\n{text}"
        elif process.returncode == 0 and fate == MUST_FAIL:
            return f"{who}: works, although the table says that it cannot:\n{text}"
        if expect and not re.search(expect, text):
            return f"{who}: no '{expect}' in:\n{text}"
        return None

    def end(self, process):
        if getattr(process, "said", None) is not None:
            return process.said
        try:
            os.killpg(process.pid, 15)
            text, _ = process.communicate(timeout=3)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            text, _ = process.communicate()
        except ProcessLookupError:
            text, _ = process.communicate()
        process.said = text
        return text

    def wait_for_socket(self, process, state, port=0):
        """Of the case's port, on the server's side; as long as the process runs."""
        wanted = f":{port or self.port:04X}"
        until = time.monotonic() + 60
        while process.poll() is None and time.monotonic() < until:
            for table in ("udp", "udp6") if state == BOUND else ("tcp", "tcp6"):
                for line in sockets_of(process, table):
                    fields = line.split()
                    if fields[3] == state and fields[1].endswith(wanted):
                        return
            time.sleep(0.02)


def sockets_of(process, table):
    """The lines of a table of its network namespace; none when it has ended."""
    try:
        return pathlib.Path(f"/proc/{process.pid}/net/{table}").read_text().splitlines()[1:]
    except OSError:
        return []


# Ends with the process that started it.
HOG = "import os; parent = os.getppid()\nwhile os.getppid() == parent: sum(range(100000))"

HEADER = """<!-- Written by tests/compat/applications.py --table; the test compat_applications holds it against its own run. -->
# Programs that run unmodified

Binaries of Debian 12, each run under `weft run --` as user `nobody` in a network namespace without any RDMA device. The
client's command stands first, the server's below; `A` is each of the addresses, `P` a port, and `B` the client's own address. At 192.0.2.2 the
server is in a namespace of its own, and at 2001:db8::2 both are, with IPv6 alone.
Where the name says so, `weft run --sockets --` or `weft run --device roce --` runs both ends.

| program | version | command | addresses | result |
|---|---|---|---|---|
"""


def version(package):
    asked = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package], capture_output=True, text=True)
    return asked.stdout or "?"


def row(case, wrong):
    lines = [line.format(a="A", p="P", own="B").replace("|", "\\|") for line in (case.client, case.server) if line]
    commands = "<br>".join(f"`{line}`" for line in lines)
    result = "fails" if wrong else "cannot" if case.cannot else "works"
    if case.note or case.cannot:
        result += f": {case.note or case.cannot}"
    name = case.name + (" (`--sockets`)" if case.sockets else "") + (" (`--device roce`)" if case.roce else "")
    return f"| {name} | {case.package} {version(case.package)} | {commands} | {', '.join(case.addresses)} | {result} |\n"


def page_of(rows):
    return HEADER + rows + rdma_core_tests.section()


def without_versions(page):
    return re.sub(r"^(\| [^|]+ \| \S+) [^|]+ \|", r"\1 |", page, flags=re.M)


def is_there(needed, home):
    return (home / needed).exists() if "/" in needed else bool(shutil.which(needed))


def run_all(runner, only):
    """The table's rows, how many runs failed, and how many programs are missing."""
    rows, failed, missing = "", 0, 0
    for case in CASES:
        if not re.search(only, case.name) or (case.large and runner.sanitizer):
            continue
        if not is_there(case.needs or case.client.split()[0], runner.folder / "home"):
            print(f"SKIPPED {case.name}: Debian package {case.package} is not installed", flush=True)
            missing += 1
            continue
        any_wrong = False
        for address in case.addresses:
            if address in (NIC, FAR, FAR6) and not runner.places:
                print(f"SKIPPED {case.name} [{address}]: no interface for it can be made here", flush=True)
                missing += 1
                continue
            begin = time.monotonic()
            wrong = runner.run(case, address)
            any_wrong = any_wrong or bool(wrong)
            if wrong or sys.stdout.isatty():  # a log shows first what failed
                print(f"{'FAILED' if wrong else 'ok':6} {time.monotonic() - begin:6.2f} s  {case.name} [{address}]", flush=True)
            if wrong:
                failed += 1
                print("    " + wrong.replace("\n", "\n    "), flush=True)
        rows += row(case, any_wrong)
    return rows, failed, missing


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("weft")
    parser.add_argument("libraries")
    parser.add_argument("--programs", help="a folder of further programs, which were built for this")
    parser.add_argument("--only", default="", help="a regular expression for the names of the cases")
    parser.add_argument("--sanitizer", help="AddressSanitizer's shared run-time library, for libraries that were built with it")
    parser.add_argument("--hogs", type=int, default=0, help="processes beside them that do nothing but take the processors")
    parser.add_argument("--table", help="write the table here")
    parser.add_argument("--compare", help="the page to hold the table against")
    options = parser.parse_args()
    namespaces.enter()
    places = namespaces.furnish()
    folder = stage(options.weft, options.libraries, options.programs)
    hogs = [subprocess.Popen([sys.executable, "-c", HOG]) for _ in range(options.hogs)]
    rows, failed, missing = run_all(Runner(folder, options.sanitizer, places), options.only)
    for hog in hogs:
        hog.kill()
    shutil.rmtree(folder)
    page = page_of(rows)
    if options.table:
        pathlib.Path(options.table).write_text(page)
    if options.compare and not missing and not options.only:
        if without_versions(page) != without_versions(pathlib.Path(options.compare).read_text()):
            print(f"{options.compare} is not what came out of this run: write it anew with --table")
            failed += 1
    print(f"{failed} failed, {missing} could not be tried")
    return 1 if failed else 77 if missing and not rows else 0


if __name__ == "__main__":
    sys.exit(main())
