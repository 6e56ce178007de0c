#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Types the commands of docs/course/ and compares what they print with what stands there.

  lessons.py WEFT STORE LAB [PAGE...]            WEFT: the command; STORE: the folder of the store with the answers; LAB: of that of the lab
  lessons.py WEFT STORE LAB --write [PAGE...]    puts what they print now into the pages, where it differs

Commands stand in blocks that say `console`, after "$ ". All of a page are typed in a lab (docs/course/lab.sh) of a folder that looks like the
checkout after ./demo, and is gone afterwards; each has a shell of its own, which keeps the folder and what was exported, as tests/first_use does.
What they write has to stay in the lab. Exit codes are those of tests/first_use/in_root.csv. Above a block, `<!-- varies: times, ports -->` names what differs from run to run: MASKS.
"""

import difflib
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "first_use"))
from commands import Command, exchanges  # noqa: E402
from plan import all_rows, row_of  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
COURSE = ROOT / "docs/course"
BLOCK = re.compile(r"^(?:<!-- varies: ([\w, ]+) -->\n)?```console\n(.*?)^```$", re.M | re.S)
LONGEST = 120  # seconds
ANSWERS = "answers/README.md"  # the page whose lab has the answers

# name: (what stands for it in the comparison, pattern and replacement)
MASKS = {
    "ports": (r"(127\.0\.0\.1:|\bport )\d+", r"\1PORT"),
    "processes": (r"\bprocess \d+", "process N"),
    "times": (r"\b\d+(\.\d+)? (s|ms|us)\b", r"N \2"),
    "figures": (r"(?<![\w.])\d[\d,]*(\.\d+)?(?![\w.]*\w)", "N"),
    "memory": (r"0x[0-9a-f]{8,16}\b", "0xN"),
    "clock": (r"^ +\d+\.\d{6} +\d+ ", "TIME PACKET "),
    "counts": (r"^\d+ times\b", "N times"),
    "spaces": (r" +|-{3,}", ""),
}


def masked(lines, names):
    for name in names:
        pattern, word = MASKS[name]
        lines = [re.sub(pattern, word, line) for line in lines]
    return [line.rstrip() for line in lines]


class Desk:
    """A folder that looks like the checkout, its lab, and what is exported there. Of the store in the lab, later folders replace programs of earlier ones."""

    def __init__(self, folder, weft, stores):
        self.place, self.state = Path(folder, "weft"), Path(folder, "state")
        (self.place / "build").mkdir(parents=True)
        for entry in ROOT.iterdir():
            if not entry.name.startswith(("build", ".git")):
                (self.place / entry.name).symlink_to(entry)
        (self.place / "build/tools").symlink_to(Path(weft).resolve().parent)
        programs = {path.name: path for store in stores for path in Path(store).resolve().iterdir() if path.is_file() and os.access(path, os.X_OK)}
        (self.place / "build/lab/build").mkdir(parents=True)
        for name, path in programs.items():
            (self.place / "build/lab/build" / name).symlink_to(path)
        self.state.write_text(f"cd {self.place}\n")
        self.environment = {"PATH": os.environ["PATH"], "HOME": folder, "LC_ALL": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"}
        self.before = self.outside()
        code, said = self.type(". docs/course/lab.sh")
        if code != 0:
            raise RuntimeError("\n".join(said))

    def outside(self):
        """What is there beside the lab."""
        return sorted(path.name for folder in (self.place, self.place / "build") for path in folder.iterdir())

    def type(self, text):
        """(exit code, lines) of a command."""
        script = f". {self.state}\n{text}\ncode=$?\n{{ declare -px; printf 'cd %q\\n' \"$PWD\"; }} >{self.state}\nexit $code"
        with tempfile.TemporaryFile() as said:
            process = subprocess.Popen(["bash", "-c", script], env=self.environment, stdin=subprocess.DEVNULL, stdout=said, stderr=said)
            try:
                code = process.wait(LONGEST)
            except subprocess.TimeoutExpired:
                process.kill()
                code = f"none within {LONGEST} s"
            said.seek(0)
            return code, said.read().decode(errors="replace").replace(str(self.place), "/home/me/weft").rstrip().splitlines()


def code_of(page, command, block, table):
    row = row_of(Command(f"docs/course/{page}", 0, command, tuple(block)), table)
    return int((row.values.get("how", "").split() + ["0", "0"])[1]) if row else 0


class Page:
    def __init__(self, name, text, desk, table):
        self.name, self.text, self.desk, self.table = name, text, desk, table
        self.faults, self.typed = [], 0

    def block(self, match):
        """The block as it is now."""
        names = [name.strip() for name in (match[1] or "").split(",") if name.strip()]
        found = exchanges(match[2].splitlines())
        lines = []
        for _, command, printed in found:
            code, now = self.desk.type(command)
            self.typed += 1
            wanted = code_of(self.name, command, [text for _, text, _ in found], self.table)
            if code != wanted:
                self.faults.append(f"{self.name}: {command}: exit code {code} instead of {wanted}")
            difference = list(difflib.unified_diff(masked(printed, names), masked(now, names), self.name, "now", lineterm="", n=1))
            if difference:
                self.faults.append("\n".join([f"{self.name}: {command}", *difference]))
            lines += [f"$ {command}", *(now if difference else printed)]
        return match[0][:match.start(2) - match.start()] + "".join(line.rstrip() + "\n" for line in lines) + "```"

    def walk(self):
        """The text as it is now."""
        return BLOCK.sub(self.block, self.text)


def main():
    words = [word for word in sys.argv[1:] if word != "--write"]
    weft, store, lab, only = *words[:3], words[3:]
    faults = typed = 0
    for path in sorted(COURSE.rglob("*.md")):
        name = path.relative_to(COURSE).as_posix()
        if only and name not in only:
            continue
        with tempfile.TemporaryDirectory() as folder:
            page = Page(name, path.read_text(), Desk(folder, weft, [store] if name == ANSWERS else [store, lab]), all_rows())
            now = page.walk()
            if page.desk.outside() != page.desk.before:
                page.faults.append(f"{name}: its commands write outside of the lab: {page.desk.outside()}")
        if "--write" in sys.argv:
            path.write_text(now)
        print("\n".join(page.faults), end="\n" if page.faults else "")
        faults, typed = faults + len(page.faults), typed + page.typed
    print(f"{typed} commands of the course were typed, {faults} faults")
    return 1 if faults or not typed else 0


if __name__ == "__main__":
    sys.exit(main())
