# SPDX-License-Identifier: Apache-2.0
"""One run: builds the rooms with their faults, and tries those that were chosen."""

import json
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import trial
import weave
from plan import ROOMS, ROOT, test_folder
from results import Results
from tree import Tree

ATTEMPTS = 3


class Run:
    def __init__(self, options, names):
        self.options, self.names = options, names
        self.deadline = time.monotonic() + 60 * options.minutes
        self.tree = Tree(ROOT, options.work, options.jobs)
        self.results = Results(options.work / "results.json", ROOT)
        self.lock = threading.Lock()
        self.limits, self.reached = {}, {}
        self.room_of, self.wanted = {}, []
        self.beyond = options.work / "unswitchable.json"  # faults that have shown that they do not compile behind the switch

    def programs(self, name):
        return ROOMS[name].own if self.options.own else ROOMS[name].programs

    def folders(self, name):
        return [test_folder(program) for program in self.programs(name)]

    def all_programs(self):
        return list(dict.fromkeys(p for name in self.names for p in self.programs(name)))

    def late(self):
        return time.monotonic() > self.deadline

    # --- Everything behind one switch

    def begin(self, chosen):
        for name, some in chosen.items():
            for fault in some:
                if not self.options.again and self.settled(self.results.known(fault, self.folders(name))):
                    continue
                self.room_of[fault.key] = name
                self.wanted.append(fault)
        say(f"{sum(map(len, chosen.values()))} faults chosen, {len(self.wanted)} to be tried")
        return bool(self.wanted)

    def settled(self, result):
        """What the compiler computes in a header may be computed in a test, where the switch has no say."""
        doubtful = result and result["outcome"] == "survived" and result["switched"] and result["path"].endswith(".hpp")
        return result and not (self.options.singly and doubtful)

    def build(self):
        """With all faults of the rooms, whichever were chosen: the next choice finds them built."""
        woven = self.number([f for name in self.names for f in self.options.every[name] if f.switched])
        self.tree.copy(besides={f.path for f in woven})
        while True:
            for path in sorted({f.path for f in woven}):
                self.tree.write(path, weave.with_switches((ROOT / path).read_text(), [f for f in woven if f.path == path and f.switched]))
            self.tree.configure()
            begin = time.monotonic()
            output, built = self.tree.make(self.all_programs())
            say(f"built in {time.monotonic() - begin:.0f} s" if built else "some faults do not compile behind the switch")
            if built:
                return [f for f in self.wanted if f.switched]
            places = self.tree.places_of_errors(output)
            bad = [f for f in woven if f.switched and (f.path, f.complaint) in places]
            likely = {(f.path, f.complaint) for f in bad if f.kind == "arithmetic"}  # no such operator, mostly
            bad = [f for f in bad if f.kind == "arithmetic" or (f.path, f.complaint) not in likely]
            bad = bad or [f for f in woven if f.switched and f.path in {path for path, _ in places}]
            if not bad:
                sys.exit(output[-8000:] + "\nthe tests do not build, and no fault is to blame")
            for fault in bad:
                fault.switched = False
            say(f"{len(bad)} faults taken from behind it")
            known = json.loads(self.beyond.read_text()) if self.beyond.exists() else []
            self.beyond.write_text(json.dumps(sorted({*known, *(f.key for f in bad)})))

    def number(self, faults):
        """By their keys, so that a file is woven the same way from run to run."""
        known = set(json.loads(self.beyond.read_text())) if self.beyond.exists() else set()
        taken = set()
        for fault in faults:
            fault.number = int(fault.key[:6], 16)
            fault.switched = fault.key not in known and fault.number not in taken
            taken.add(fault.number)
        return faults

    def baseline(self):
        """Which faults each program comes by, and how long it takes. One that fails without a fault tells nothing with one."""
        for name in self.all_programs():
            with tempfile.NamedTemporaryFile("r") as reached:
                run = trial.run(self.tree.program(name), trial.Limits(), reached=reached.name, root=self.tree.path)
                self.reached[name] = {int(line) for line in reached}
            if not run.passed:
                say(f"{name} fails without a fault ({run.test}) and is left out")
                continue
            self.limits[name] = trial.Limits.of(run)
            say(f"{name}: {run.wall:.1f} s, {len(self.reached[name])} faults reached")

    def try_fault(self, fault, everything=False):
        room = self.room_of[fault.key]
        outcome, by, place = "survived", "", ""
        for name in self.programs(room):
            if name not in self.limits or (not everything and fault.number not in self.reached[name]):
                continue
            run = self.try_program(name, fault, ROOMS[room].again)
            if not run.passed:
                outcome, by, place = "timed out" if run.timed_out else "noticed", f"{name} {run.test}".strip(), run.place
                break
        with self.lock:
            self.results.add(room, fault, outcome, self.folders(room), by, place, not everything)
            self.results.save()
            if outcome == "survived":
                say(f"survived: {fault.path}:{fault.line}:{fault.column} {fault.describe()}")

    def try_program(self, name, fault, again):
        """Where a failure counts when it comes twice, one that does not may have kept a test behind it from failing."""
        def attempt(only=None):
            return trial.run(self.tree.program(name), self.limits[name], fault=fault.number, only=only, root=self.tree.path)
        for _ in range(ATTEMPTS):
            run = attempt()
            if run.passed or not again:
                return run
            run = attempt(run.test or None)
            if not run.passed:
                return run
        return run

    def switched(self, woven):
        with ThreadPoolExecutor(self.options.jobs) as pool:
            list(pool.map(lambda f: None if self.late() else self.try_fault(f), woven))

    # --- One at a time

    def singly(self):
        rest = [f for f in self.wanted if not f.switched or not self.settled(self.results.all.get(f.key))]
        for fault in sorted(rest, key=lambda f: (f.path.endswith(".hpp"), f.path)):
            if self.late():
                return say("out of time")
            text = (ROOT / fault.path).read_text()
            before = self.tree.changed.get(fault.path)
            self.tree.write(fault.path, weave.with_fault(text, fault))
            needed = self.programs(self.room_of[fault.key])
            _, built = self.tree.make(needed, keep_going=False)
            if built:
                self.try_fault(fault, everything=True)
            else:
                self.results.add(self.room_of[fault.key], fault, "not compiled", [], switched=False)
                self.results.save()
            self.tree.write(fault.path, before)


def say(text):
    print(f"{time.strftime('%H:%M:%S')} {text}", flush=True)
