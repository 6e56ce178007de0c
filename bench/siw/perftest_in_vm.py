#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""perftest's programs, as the distribution has them, over the Linux kernel's siw and under `weft run`, both in the virtual
machine of tests/interop: server and client are two processes in the guest, on the guest's lo, with the same CRC setting, in
turns. It boots twice, for two kinds of figures:

  counted   one emulated processor whose clock is the instructions it carries out, 1 ns each, those of the guest's kernel
            included: what a message costs both ends together. No load changes it. Only with perftest's -e, where an end that
            waits sleeps: one that spins would be counted, too. perftest has no -e for Writes.
  timed     two processors, one for each process, as perftest does by itself: polling. Emulated where there is no KVM, and then
            only as good as this machine is quiet: the two processors are threads here.

Exit codes: 0 measured (however it came out), 1 a run failed, 2 wrong usage, 77 something that it needs is not there."""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
PROJECT = HERE.parent.parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
from machine import machine  # noqa: E402
from transcript import Transcript  # noqa: E402

LIBRARIES = "usr/lib/x86_64-linux-gnu"  # where the guest's loader looks
LATENCY_SIZES, BANDWIDTH_SIZES = (64, 4096), (65536, 1048576)
PAIR_LIMIT = 60  # seconds, of one pair of processes


def cells(way, arguments):
    """(program, size, iterations, more words) of each row."""
    verbs, more = (("send", "read"), ("-e",)) if way == "count" else (("write", "send", "read"), ())
    rows = [(f"ib_{verb}_lat", size, arguments.latency_iterations, more) for verb in verbs for size in LATENCY_SIZES]
    rows += [(f"ib_{verb}_bw", size, max(50, arguments.bandwidth_octets // size), more)
             for verb in verbs for size in BANDWIDTH_SIZES]
    return [row for row in rows if arguments.only in row[0]]


def plan(way, arguments):
    """Each repetition takes one figure of both in every row; who goes first changes from one to the next."""
    lines = []
    for repetition in range(arguments.repetitions):
        order = ("siw", "weft") if repetition % 2 == 0 else ("weft", "siw")
        for crc in arguments.crc:
            for program, size, iterations, more in cells(way, arguments):
                lines += [" ".join([stack, crc, program, "-s", str(size), "-n", str(iterations), *more]) for stack in order]
    return lines


def shared_libraries(file):
    said = subprocess.run(["ldd", file], capture_output=True, text=True, check=False).stdout
    return [words[2] for words in map(str.split, said.splitlines()) if len(words) > 2 and words[2].startswith("/")]


def fill(folder, way, arguments):
    """What the guest needs beyond what tests/interop/build.sh put into it."""
    for name in ("run", "usr/bin", "usr/lib/weft", LIBRARIES):
        (folder / name).mkdir(parents=True)
    shutil.copy(arguments.weft, folder / "usr/bin/weft")
    drop_in = sorted(pathlib.Path(arguments.libraries).glob("lib*.so.[0-9]*"))
    for library in drop_in:
        shutil.copy(library, folder / "usr/lib/weft" / library.name)
    for file in [arguments.weft, *drop_in]:
        for library in shared_libraries(file):
            if not pathlib.Path(library).name.startswith(("libweft.", "libibverbs.", "librdmacm.")):
                shutil.copy(library, folder / LIBRARIES)
    shutil.copy(HERE / "guest.sh", folder / "run/bench.sh")
    (folder / "run/plan").write_text("\n".join(plan(way, arguments)) + "\n")


def missing(arguments):
    """What stands in the way, or None."""
    if not pathlib.Path(arguments.weft).is_file():
        return f"no {arguments.weft}: build weft first, or name it with --weft"
    if not list(pathlib.Path(arguments.libraries).glob("libibverbs.so.*")):
        return f"no drop-in libraries in {arguments.libraries}: build them first, or name the folder with --libraries"
    if arguments.accel == "kvm" and not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return "--accel kvm: /dev/kvm is not there, or not for this user"
    built = subprocess.run([str(PROJECT / "tests/interop/build.sh")], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                           check=False)
    if built.returncode != 0:
        return f"tests/interop/build.sh cannot make the virtual machine (packages: tests/interop/packages.txt):\n{built.stderr}"
    return None


def usable_kvm():
    """KVM runs Debian's kernel only on a processor with vmx or svm; a /dev/kvm without them (PVM) does not."""
    words = set(pathlib.Path("/proc/cpuinfo").read_text().split())
    return bool(words & {"vmx", "svm"}) and os.access("/dev/kvm", os.R_OK | os.W_OK)


def measure(way, arguments, tell):
    """Boots the machine, which goes through the plan; whatever came of it is in the transcript."""
    transcript = Transcript()
    with tempfile.TemporaryDirectory() as name:
        fill(pathlib.Path(name), way, arguments)
        settings = f"PAIR_LIMIT={PAIR_LIMIT} LO_MTU={arguments.mtu or ''} WEFT_LIBRARY_PATH=/usr/lib/weft"
        command = [str(PROJECT / "tests/interop/run.sh"), "--accel", way, "--add", name, "--timeout", str(arguments.time_limit),
                   f"export {settings}; . /run/bench.sh"]
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, errors="replace") as vm:
            for line in vm.stdout:
                run = transcript.take(line)
                if run:
                    tell(run)
    return transcript


def summary(runs, program, size, crc):
    """One row: figures of both, and how fast weft is with siw as 1. None if one of the two has no figure."""
    own = [run for run in runs if (run["crc"], run["program"], run["words"][1]) == (crc, program, str(size))]
    siw, weft = ([run for run in own if run["stack"] == stack] for stack in ("siw", "weft"))
    if not siw or not weft:
        return None
    s, w = (statistics.median(run["figure"] for run in theirs) for theirs in (siw, weft))
    latency = program.endswith("_lat")
    pairs = [a["figure"] / b["figure"] if latency else b["figure"] / a["figure"] for a, b in zip(siw, weft)]
    return {"program": program, "size": size, "crc": crc, "unit": "us" if latency else "MB/s", "siw": s, "weft": w,
            "weft_speed": s / w if latency else w / s, "median_of_pairs": statistics.median(pairs),
            "siw_runs": siw, "weft_runs": weft}


def summaries(runs, way, arguments):
    rows = [summary(runs, program, size, crc) for crc in arguments.crc for program, size, _, _ in cells(way, arguments)]
    return [row for row in rows if row]


def show(way, rows):
    print("counted (1 us = 1000 instructions of both ends and their kernel), perftest -e" if way == "count" else f"timed ({way})")
    print(f"{'program':12} {'octets':>8} CRC {'siw':>10} {'weft':>10} unit  weft's speed, siw = 1 (median of the pairs)")
    for row in rows:
        slower = "" if row["weft_speed"] >= 1 else "  slower"
        print(f"{row['program']:12} {row['size']:8} {row['crc']:3} {row['siw']:10.2f} {row['weft']:10.2f} {row['unit']:5} "
              f"{row['weft_speed']:6.2f} ({row['median_of_pairs']:.2f}){slower}", flush=True)


def versions():
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "weft-siw-vm"
    return (pathlib.Path(os.environ.get("WEFT_SIW_VM_CACHE") or cache) / "versions.txt").read_text().splitlines()


def tell(run):
    words = " ".join(run["words"])
    print(f"{run['stack']:4} CRC {run['crc']:3} {run['program']} {words}: {run['figure']:.2f}", file=sys.stderr, flush=True)


def parse_arguments(words=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weft", default=str(PROJECT / "build/tools/weft"), help="the command")
    parser.add_argument("--libraries", default=str(PROJECT / "build/compat/lib"), help="the folder of the drop-in libraries")
    parser.add_argument("--repetitions", type=int, default=5, help="runs of each stack for each row")
    parser.add_argument("--latency-iterations", type=int, default=1000, metavar="N")
    parser.add_argument("--bandwidth-octets", type=int, default=2**26, metavar="N", help="of one run, and 50 messages at least")
    parser.add_argument("--crc", choices=("on", "off"), action="append", help="only this setting (default: both)")
    parser.add_argument("--only", default="", metavar="PART", help="only programs with this in their name")
    parser.add_argument("--mtu", type=int, metavar="N", help="of the guest's lo, where it is not to be 65536")
    parser.add_argument("--accel", choices=("auto", "count", "tcg", "kvm"), default="auto",
                        help="counted; timed, emulated; timed, with KVM (not tried yet). auto: counted, then timed, by KVM if possible")
    parser.add_argument("--time-limit", type=int, default=3600, metavar="SECONDS", help="of each of the two")
    parser.add_argument("--quick", action="store_true", help="one repetition, a tenth of the iterations")
    parser.add_argument("--json", metavar="FILE", help="where all figures go")
    arguments = parser.parse_args(words)
    arguments.crc = arguments.crc or ["on", "off"]
    if arguments.quick:
        arguments.repetitions, arguments.latency_iterations, arguments.bandwidth_octets = 1, 100, 2**22
    arguments.ways = ["count", "kvm" if usable_kvm() else "tcg"] if arguments.accel == "auto" else [arguments.accel]
    return arguments


def main():
    arguments = parse_arguments()
    why = missing(arguments)
    if why:
        print(why, file=sys.stderr)
        return 77
    result = {"machine": machine(), "repetitions": arguments.repetitions, "versions": versions(), "ways": []}
    complete = True
    for way in arguments.ways:
        transcript = measure(way, arguments, tell)
        rows = summaries(transcript.runs, way, arguments)
        result["ways"].append({"way": way, "guest": transcript.guest, "load_average_after": os.getloadavg(), "results": rows,
                               "failures": transcript.failures})
        if arguments.json:  # what was measured is kept when the rest is not
            pathlib.Path(arguments.json).write_text(json.dumps(result, indent=1) + "\n")
        show(way, rows)
        wanted = len(plan(way, arguments))
        if not transcript.done or len(transcript.runs) < wanted:
            complete = False
            print(f"{len(transcript.runs)} of {wanted} pairs gave a figure; the last failures:", file=sys.stderr)
            for failure in transcript.failures[-3:]:
                print(f"{failure['pair']}: {failure['why']}", file=sys.stderr)
    return 0 if complete else 1


if __name__ == "__main__":
    sys.exit(main())
