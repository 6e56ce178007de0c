# SPDX-License-Identifier: Apache-2.0
"""Runs a test program with a fault, or without one, and tells what came of it."""

import os
import re
import resource
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass

PASSED = (0, 77)  # 77: some cases were skipped, and said so
FAILED_TEST = re.compile(r"^\[  FAILED  \] ([\w/]+\.[\w/]+)", re.M)
FAILED_PLACE = re.compile(r"^(\S+?):(\d+): (?:Failure|FAILED)", re.M)
MEMORY = 16 << 30
OUTPUT = 64 << 20


@dataclass
class Run:
    passed: bool
    timed_out: bool
    wall: float
    cpu: float
    test: str   # the first that failed, if the program said so
    place: str  # the file it is in


@dataclass
class Limits:
    wall: float = 300
    cpu: float = 300

    @staticmethod
    def of(baseline):
        """Wall-clock time is the machine's affair, so the bound that matters for a loop is that of the processor's."""
        return Limits(wall=max(45.0, 10 * baseline.wall), cpu=5 + 10 * baseline.cpu)


def run(program, limits, fault=None, reached=None, only=None, root=None):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("WEFT_")}
    if fault is not None:
        environment["WEFT_FAULT"] = str(fault)
    if reached is not None:
        environment["WEFT_FAULTS_REACHED"] = str(reached)
    catch2 = "clauses" in program.name and program.name != "verbs_clauses"
    stop = [] if fault is None else ["--abort" if catch2 else "--gtest_fail_fast"]
    arguments = [str(program), *stop, *([f"--gtest_filter={only}"] if only and not catch2 else [])]
    with tempfile.TemporaryDirectory() as folder, open(os.path.join(folder, "output"), "w+b") as output:
        begin = time.monotonic()
        child = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, cwd=folder,
                                 env=environment, start_new_session=True, preexec_fn=lambda: bound(limits))
        timed_out = not _wait(child, begin + limits.wall)
        wall = time.monotonic() - begin
        used = child.usage.ru_utime + child.usage.ru_stime
        output.seek(0)
        text = output.read(1 << 22).decode(errors="replace")
    timed_out = timed_out or child.returncode == -signal.SIGXCPU
    test, place = FAILED_TEST.search(text), FAILED_PLACE.search(text)
    return Run(child.returncode in PASSED and not timed_out, timed_out, wall, used, test.group(1) if test else "",
               _relative(place.group(1), root) if place else "")


def bound(limits):
    resource.setrlimit(resource.RLIMIT_CPU, (int(limits.cpu) + 1, int(limits.cpu) + 5))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (OUTPUT, OUTPUT))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def _wait(child, until):
    """True when it ended by itself. Whatever it has started goes with it."""
    ended = False
    while not ended and time.monotonic() < until:
        pid, status, child.usage = os.wait4(child.pid, os.WNOHANG)
        ended = pid != 0
        if not ended:
            time.sleep(0.01)
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    if not ended:
        _, status, child.usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return ended


def _relative(path, root):
    path = os.path.normpath(path)
    return os.path.relpath(path, root) if root and path.startswith(str(root)) else path
