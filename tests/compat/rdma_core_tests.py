#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs rdma-core's own Python tests (Debian's python3-pyverbs), unmodified, under `weft run` as iWARP and as RoCE.

WEFT is the command. Each test has to pass, or to be skipped for a reason of SKIPPED, or to fail as FAILING says; a test of FAILING
that passes is an error, too. docs/applications.md has both tables. With --only one runs the modules that match.
Exit codes: 0 as expected, 1 otherwise, 77 the tests are not installed."""
import argparse
import collections
import gzip
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True  # the source tree stays as it is

SUITE = pathlib.Path("/usr/share/doc/rdma-core/tests")
PYTHON = "/usr/bin/python3"  # pyverbs is for this one
OTHER_DEVICES = re.compile("mlx5|efa|cuda")  # modules of those adapters alone
PATIENCE = 180  # seconds for a module; it takes one or two
KINDS = ("iwarp", "roce")

SKIPPED = (
    ("XRCD", "XRC needs a shared connection per host, which iWARP does not have"),
    ("Device memory|QP type 8|Raw Packet|dmabuf", "an adapter's own memory, dma-buf and raw Ethernet need an adapter"),
    ("ODP|huge pages", "no on-demand paging, because any mapped page can be registered; the host has no huge pages"),
    ("Extended CQ is not supported", "the tests of tag matching ask for a completion queue with tags"),
    ("Create Extended CQ", "they ask for timestamps by an adapter's clock"),
    ("real time|PCI device|MLX5|EFA", "there is no PCI device"),
    ("All gid indices", "the test wants an unused GID; there is one GID, and it is in use"),
    ("Importing a device", "objects cannot be imported from another process"),
    ("Extended QP", "RDMA Atomic Write is not in RFC 7306"),
)
FAILING = {
    "test_addr.AHTest.test_create_ah_roce":
        (KINDS, "expects that an address handle without GID is refused; qperf names its peer by LID"),
    "test_mr.MRTest.test_mr_rereg_access":
        (KINDS, "uses the key of before `ibv_rereg_mr`; the manual page says that keys change, and a key that was given away ends here"),
    "test_mr.MRTest.test_mr_rereg_addr":
        (KINDS, "expects the receiver's error in the completion of the Send; over iWARP a Send completes once TCP has it"),
    "test_mr.MRTest.test_mr_rereg_pd":
        (KINDS, "the same"),
    "test_rdmacm.CMTestCase.test_rdmacm_async_traffic_external_qp":
        (("iwarp",), "expects RDMA_CM_EVENT_CONNECT_RESPONSE, which an iWARP device does not report"),
    "test_qp.QPTest.test_query_ud_qp":
        (("iwarp",), "expects INIT after creation, as of an iWARP device's queue pairs; none of those has UD"),
}


class Result(unittest.TestResult):
    """Prints a line of JSON for each test."""

    def say(self, test, outcome, why=""):
        print(json.dumps({"id": test.id().removeprefix("tests."), "outcome": outcome, "why": why}), flush=True)

    def addSuccess(self, test):
        self.say(test, "passed")

    def addSkip(self, test, reason):
        self.say(test, "skipped", reason)

    def addError(self, test, err):
        self.say(test, "failed", str(err[1])[:200])

    addFailure = addError

    def addSubTest(self, test, subtest, err):
        if err is not None:
            self.addError(test, err)


def run_module(folder, module):
    """Within `weft run`: the tests of one module."""
    sys.path.insert(0, folder)
    sys.argv = [sys.argv[0]]
    import tests.base
    from args_parser import parser

    # The suite looks in sysfs for the interface of a device. weft's devices are named after theirs.
    real_exists = os.path.exists
    os.path.exists = lambda path: bool(re.fullmatch("/sys/class/infiniband/weft_[^/]+/device/net/", str(path))) or real_exists(path)
    tests.base.RDMATestCase.get_net_name = staticmethod(lambda device: device.removeprefix("weft_"))
    parser.parse_args()
    unittest.defaultTestLoader.loadTestsFromName(f"tests.{module}").run(Result())


def unpack(folder):
    (folder / "tests").mkdir()
    for source in SUITE.iterdir():
        octets = gzip.decompress(source.read_bytes()) if source.suffix == ".gz" else source.read_bytes()
        (folder / "tests" / source.name.removesuffix(".gz")).write_bytes(octets)
    (folder / "args_parser.py").symlink_to("tests/args_parser.py")
    return sorted(one.stem for one in (folder / "tests").glob("test_*.py") if not OTHER_DEVICES.search(one.stem))


def outcomes(weft, folder, module, kind):
    command = [weft, "run", "--device", kind, "--", PYTHON, "-B", os.path.abspath(__file__), "--within", str(folder), "--only", module, weft]
    environment = {**os.environ, "WEFT_CONFIRM_WRITES": "on"}  # the suite takes the completion of an RDMA Write for the peer's
    try:
        ran = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=PATIENCE, cwd=folder)
    except subprocess.TimeoutExpired as late:
        return [], f"still ran after {PATIENCE} s: {(late.stdout or b'').decode()[-300:]}"
    lines = [json.loads(line) for line in ran.stdout.splitlines() if line.startswith('{"id"')]
    return lines, "" if ran.returncode == 0 else f"exit code {ran.returncode}: {ran.stderr[-600:]}"


def complaint(one, kind):
    """What is wrong with the outcome of a test; else nothing."""
    kinds, _ = FAILING.get(one["id"], ((), ""))
    if one["outcome"] == "failed":
        return "" if kind in kinds else one["why"]
    if one["outcome"] == "skipped":
        return "" if any(re.search(reason, one["why"]) for reason, _ in SKIPPED) else f"skipped: {one['why']}"
    return "passes: take it out of FAILING" if kind in kinds else ""


def section():
    """The part of docs/applications.md about these tests."""
    page = f"""
## rdma-core's own Python tests

`tests/` of rdma-core 44 (Debian's python3-pyverbs) runs unmodified, as iWARP and as RoCE, with `WEFT_CONFIRM_WRITES=on`. Modules for adapters of
other vendors are left out. Each test passes, but for these:

| test | why it fails |
|---|---|
"""
    for name, (kinds, why) in FAILING.items():
        only = "" if kinds == KINDS else f" (as {kinds[0]})"
        page += f"| `{name}`{only} | {why} |\n"
    page += "\n| the suite skips | because |\n|---|---|\n"
    for reason, why in SKIPPED:
        page += f"| {reason.replace('|', ', ')} | {why} |\n"
    return page


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("weft", type=os.path.abspath)
    parser.add_argument("--only", default=".")
    parser.add_argument("--within", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.within:
        run_module(options.within, options.only)
        return 0
    import namespaces

    if not SUITE.exists():
        print("SKIPPED rdma-core's Python tests are not installed (python3-pyverbs)")
        return 77
    namespaces.enter()
    far = namespaces.furnish()  # this namespace has an interface, as long as the other one is there
    wrong, counts = 0, collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        modules = [one for one in unpack(pathlib.Path(folder)) if re.search(options.only, one)]
        for kind in KINDS:
            for module in modules:
                lines, end = outcomes(options.weft, pathlib.Path(folder), module, kind)
                complaints = [f"{one['id']}: {why}" for one in lines if (why := complaint(one, kind))] + ([f"{module}: {end}"] if end else [])
                counts.update((kind, one["outcome"]) for one in lines)
                wrong += len(complaints)
                for line in complaints:
                    print(f"{kind}: {line}")
    del far
    print(", ".join(f"{kind}: {count} {outcome}" for (kind, outcome), count in sorted(counts.items())))
    return 1 if wrong or not counts else 0


if __name__ == "__main__":
    sys.exit(main())
