# SPDX-License-Identifier: Apache-2.0
"""`weft probe` against the copy's peer with a fault: which clauses it names."""

import json
import os
import re
import resource
import shlex
import signal
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

LISTENING = re.compile(rb"listening on (\S+:\d+)\s")
SECONDS_TO_LISTEN, SECONDS_TO_PROBE = 60, 600  # for a machine that does much besides


def environment(**variables):
    """No settings of the user's."""
    return {k: v for k, v in os.environ.items() if not k.startswith("WEFT_")} | variables


def bound(seconds):
    """Of processor time: the machine's load does not count."""
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def end(child):
    """With all that it has started."""
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    child.wait()


@contextmanager
def listener(peer, number, policy):
    """A peer that listens: its address, or None when it does not come to that."""
    with tempfile.TemporaryFile() as said:
        child = subprocess.Popen([peer, "probe-peer", "-s", "-p", "0", *policy], stdin=subprocess.DEVNULL, stdout=said, stderr=said,
                                 env=environment(WEFT_FAULT=str(number)), start_new_session=True, preexec_fn=lambda: bound(120))
        try:
            yield address_told(child, said)
        finally:
            end(child)


def address_told(child, said):
    until = time.monotonic() + SECONDS_TO_LISTEN
    while time.monotonic() < until:
        over = child.poll() is not None
        found = LISTENING.search(os.pread(said.fileno(), 1 << 16, 0))
        if found or over:
            return found.group(1).decode() if found else None
        time.sleep(0.01)
    return None


def probe(prober, target, profile, clauses):
    """(the clauses of what failed or warned, in words what kept the prober from its end)."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        only = ["--only", ",".join(c.rstrip("*") for c in clauses)] if clauses else []
        child = subprocess.Popen([prober, "probe", *target, "--profile", profile, "--quiet", "--json", report, *only], stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment(), start_new_session=True)
        try:
            said = child.communicate(timeout=SECONDS_TO_PROBE)[0].decode(errors="replace").strip()
        except subprocess.TimeoutExpired:
            return set(), f"the prober was not done after {SECONDS_TO_PROBE} s"
        finally:
            end(child)
            child.stdout.close()
        try:
            judged = json.loads(report.read_text())
        except (OSError, ValueError):
            return set(), f"no report (exit code {child.returncode}): {said.splitlines()[-1] if said else 'no word'}"
        return {clause for one in judged["cases"] + judged["rules"] if one["verdict"] in ("fail", "warn")
                for clause in (one["clause"], *one.get("also", ()))}, ""


def try_peer(peer, prober, number, role, policy, profile="weft", clauses=()):
    """The fault 0 is none; `clauses`: whose cases are run, all if it is empty."""
    policy = ["--policy", policy] if policy else []
    if role == "connects":
        words = shlex.join(["env", f"WEFT_FAULT={number}", str(peer), "probe-peer", "-c", "-a", "HOST", "-p", "PORT", *policy])
        return probe(prober, ["--listen", "127.0.0.1:0", "--run", words.replace("HOST", "{host}").replace("PORT", "{port}")], profile, clauses)
    with listener(peer, number, policy) as address:
        return probe(prober, [address], profile, clauses) if address else (set(), "the peer does not come to listen")
