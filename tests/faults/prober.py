# SPDX-License-Identifier: Apache-2.0
"""The unfaulted prober against a peer with a fault: which clauses it names."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "mutation"))
from trial import Limits, bound  # noqa: E402

LISTENING = re.compile(rb"listening on (\S+:\d+)\s")
NAMED = ("fail", "warn")  # a SHOULD that is not kept is a warning
LIMITS = Limits(cpu=120)
SECONDS_TO_LISTEN = 20


@dataclass
class Finding:
    """What one run of the prober says."""
    clauses: set = field(default_factory=set)  # of cases and rules that failed or warned, `also` included
    cases: int = 0     # and rules, that were judged
    trouble: str = ""  # what kept the run from its end


def words_of(peer, policy):
    return [*peer, *(["--policy", policy] if policy else [])]


def environment(number):
    """No settings of the user's; the fault's number is what switch.hpp reads."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("WEFT_")}
    return kept | ({"WEFT_FAULT": str(number)} if number is not None else {})


def end(child):
    """With all that it has started."""
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    child.wait()


@contextmanager
def listener(weft, number, policy):
    """A peer that listens: its address, or None when it does not come to that."""
    with tempfile.TemporaryFile() as said:
        child = subprocess.Popen([weft, *words_of(("probe-peer", "-s", "-p", "0"), policy)], stdin=subprocess.DEVNULL, stdout=said,
                                 stderr=said, env=environment(number), start_new_session=True, preexec_fn=lambda: bound(LIMITS))
        try:
            yield address_told(child, said)
        finally:
            end(child)


def address_told(child, said):
    until = time.monotonic() + SECONDS_TO_LISTEN
    while time.monotonic() < until:
        over = child.poll() is not None
        found = LISTENING.search(os.pread(said.fileno(), 1 << 16, 0))
        if found:
            return found.group(1).decode()
        if over:
            return None
        time.sleep(0.01)
    return None


def names_in(report):
    """(clauses of what failed or warned, number of cases and rules that were judged) of the prober's JSON."""
    judged = [one for one in report["cases"] + report["rules"] if one["verdict"] != "not_applicable"]
    return {clause for one in judged if one["verdict"] in NAMED for clause in (one["clause"], *one.get("also", ()))}, len(judged)


def probe(prober, target, profile, clauses, seconds):
    """`target`: the words that tell where the peer is. The peer with the fault may do anything; the prober has to end in time."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        only = ["--only", ",".join(c.rstrip("*") for c in clauses)] if clauses else []
        child = subprocess.Popen([prober, "probe", *target, "--profile", profile, "--quiet", "--json", report, *only], stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment(None), start_new_session=True)
        try:
            said = child.communicate(timeout=seconds)[0].decode(errors="replace").strip()
        except subprocess.TimeoutExpired:
            return Finding(trouble=f"the prober was not done after {seconds} s")
        finally:
            end(child)
            child.stdout.close()
        try:
            named, cases = names_in(json.loads(report.read_text()))
        except (OSError, ValueError, KeyError):
            return Finding(trouble=f"no report (exit code {child.returncode}): {said.splitlines()[-1] if said else 'no word'}")
        return Finding(named, cases)


def try_peer(weft, prober, number, role, policy, clauses, seconds, profile="weft"):
    """`number`: of the fault, None for none; `clauses`: whose cases are run, all if it is empty."""
    if role == "connects":
        variable = [] if number is None else [f"WEFT_FAULT={number}"]
        peer = ["env", *variable, str(weft), *words_of(("probe-peer", "-c", "-a", "{host}", "-p", "{port}"), policy)]
        return probe(prober, ["--listen", "127.0.0.1:0", "--run", shlex.join(peer).replace("'{host}'", "{host}").replace("'{port}'", "{port}")],
                     profile, clauses, seconds)
    with listener(weft, number, policy) as address:
        if address is None:
            return Finding(trouble="the peer does not come to listen")
        return probe(prober, [address], profile, clauses, seconds)
