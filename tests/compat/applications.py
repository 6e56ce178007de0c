#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs unmodified programs of the distribution under `weft run`, as user nobody, in a network namespace of its own.

Usage: applications.py WEFT LIBRARIES OUT [--only REGEX] [--keep-going]

WEFT is the command, LIBRARIES the folder of the drop-in libraries; both are copied to where nobody can read them. OUT gets
applications.md: what docs/applications.md has to say. Exit codes: 0 all passed, 1 something failed, 77 programs are missing."""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

from cases import CASES, IPV4, IPV6, NIC

DEVICES = {IPV4: "weft_lo", IPV6: "weft_lo", NIC: "weft_nic0"}
FIRST_PORT = 20000


def enter_namespace():
    """Runs this script again where nothing else is: as root, in a new network namespace with an interface that is no loopback."""
    if os.environ.get("WEFT_NAMESPACE") or os.geteuid() != 0:
        return
    os.environ["WEFT_NAMESPACE"] = "1"
    os.execvp("unshare", ["unshare", "-n", sys.executable, *sys.argv])


def furnish_namespace():
    for command in ("ip link set lo up", "ip link add nic0 type veth peer name nic1", f"ip addr add {NIC}/24 dev nic0",
                    "ip link set nic0 up", "ip link set nic1 up"):
        subprocess.run(command.split(), check=True)


def stage(weft, libraries):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="weft-applications-"))
    folder.chmod(0o755)
    shutil.copy(weft, folder / "weft")
    shutil.copytree(libraries, folder / "lib", symlinks=True)
    (folder / "home").mkdir(mode=0o777)
    (folder / "home").chmod(0o777)
    return folder


class Runner:
    def __init__(self, folder):
        self.folder = folder
        self.port = FIRST_PORT
        self.nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--no-new-privs"] if os.geteuid() == 0 else []
        self.environment = {"PATH": "/usr/bin:/bin", "HOME": str(folder / "home"), "TMPDIR": str(folder / "home"),
                            "WEFT_LIBRARY_PATH": str(folder / "lib")}
        for name in ("WEFT_LOG", "LD_PRELOAD", "ASAN_OPTIONS", "LSAN_OPTIONS"):
            if name in os.environ:
                self.environment[name] = os.environ[name]

    def start(self, command):
        return subprocess.Popen([*self.nobody, str(self.folder / "weft"), "run", "--", *command.split()], env=self.environment,
                                cwd=self.folder / "home", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                text=True, start_new_session=True)

    def run(self, case, address):
        """None when all is well, else what was wrong."""
        self.port += 1
        words = {"a": address, "p": self.port, "d": DEVICES[address], "v6": "--ipv6-addr" if address == IPV6 else ""}
        server = self.start(case.server.format(**words)) if case.server else None
        if server and not self.listening(server):
            return "the server does not listen:\n" + self.end(server)
        clients = [self.start(case.client.format(**words)) for _ in range(case.clients)]
        until = time.monotonic() + case.timeout
        wrong = [self.judge("client", one, case.expect, until) for one in clients]
        if server and case.server_ends:
            wrong.append(self.judge("server", server, case.server_expect, time.monotonic() + 10))
        elif server:
            text = self.end(server)
            wrong.append(None if server.returncode in (-9, -15) else f"server: ended by itself with {server.returncode}\n{text}")
        elif server:
            self.end(server)
        found = [w for w in wrong if w]
        if found and server:
            found.append("server said:\n" + self.end(server))
        return "\n".join(found) or None

    def judge(self, who, process, expect, until):
        try:
            text, _ = process.communicate(timeout=max(0.1, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            return f"{who}: does not end:\n" + self.end(process)
        process.said = text
        if process.returncode != 0:
            return f"{who}: exit code {process.returncode}:\n{text}"
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

    def listening(self, server):
        wanted = f":{self.port:04X}"
        for _ in range(200):
            for table in ("tcp", "tcp6"):
                for line in pathlib.Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
                    fields = line.split()
                    if fields[3] == "0A" and fields[1].endswith(wanted):
                        return True
            if server.poll() is not None:
                return False
            time.sleep(0.05)
        return False


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("weft")
    parser.add_argument("libraries")
    parser.add_argument("out")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    enter_namespace()
    if os.geteuid() == 0:
        furnish_namespace()
    folder = stage(options.weft, options.libraries)
    runner = Runner(folder)
    failed = 0
    for case in CASES:
        if not re.search(options.only, case.name):
            continue
        if not shutil.which(case.client.split()[0]):
            print(f"MISSING {case.name}: {case.package} is not installed")
            failed += 1
            continue
        for address in case.addresses:
            if address == NIC and os.geteuid() != 0:
                continue
            begin = time.monotonic()
            wrong = runner.run(case, address)
            print(f"{'FAILED' if wrong else 'ok':6} {time.monotonic() - begin:6.2f} s  {case.name} [{address}]", flush=True)
            if wrong:
                failed += 1
                print("    " + wrong.replace("\n", "\n    "), flush=True)
    shutil.rmtree(folder)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
