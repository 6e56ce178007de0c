#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The first ten minutes with weft, as a terminal shows them: docs/first-ten-minutes.svg, and .txt without colours.

  recording.py --write                         takes them anew: clones this checkout, and types the rest in it (./demo builds what is not built)
  recording.py --check WEFT [SCENE...]         plays scenes again, with this weft and in this checkout: fails when what they print differs in more
                                               than times, sizes, ports and hashes
  recording.py --root FOLDER NETWORK CHECKOUT  the same in the root of first_use.sh, ./demo included
"""

import argparse
import difflib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import listening
import picture
import terminal

ROOT = Path(__file__).resolve().parents[2]
PICTURE, TEXT = ROOT / "docs/first-ten-minutes.svg", ROOT / "docs/first-ten-minutes.txt"
SAMPLE = "pcap-samples/broken/mpa-4.4-13.pcap"
LONGEST = 1800


@dataclass(frozen=True)
class Scene:
    name: str
    about: str
    command: str
    server: str = ""  # in another terminal
    code: int = 0


SCENES = [
    Scene("clone", "Where your copy of weft is, $WEFT says.", "git clone -q $WEFT weft && cd weft"),
    Scene("demo", "What is missing comes with apt; then it builds.", "./demo"),
    Scene("rping", "An unchanged program of rdma-core: the server in one terminal, the client in another.",
          "weft run -- rping -c -a 127.0.0.1 -C 3 -v", server="weft run -- rping -s -a 127.0.0.1 -C 3 -v"),
    Scene("audit", "A capture in which one end breaks a rule.", f"weft audit {SAMPLE}", code=1),
    Scene("dissect", "The packet that it names, field by field.", f"weft dissect --packet 13 {SAMPLE}"),
]
KEPT = ("PATH", "HOME", "CMAKE_CXX_COMPILER_LAUNCHER", "CMAKE_C_COMPILER_LAUNCHER")
SETUP = "export PATH=$PWD/build/tools:$PATH"  # README.md
PROMPT = (("1", "32"), "$ ")
# Left out of what ./demo says: what apt brings and what is compiled.
DULL = re.compile(r"\[\d+/\d+\] |ninja: |demo: (these are missing|apt has|building)|    [\w.+-]+: \w")
BUILT = "demo: weft demo: "  # the first line after that
# What differs from one run to the next, and what stands for it.
VARIES = [(r"/[\w./-]*/weft\b", "DIR/weft"), (r"\b(port|pid|process) \d+", r"\1 N"), (r"\bin \d+( packets|$)", r"in N\1"),
          (r"(127\.0\.0\.1|\[::1\]):\d+", r"\1:PORT"),
          (r"\b\d+(\.\d+)? ?(ns|us|ms|s|seconds|GB/s|MB/s|Gbit/s|kB|MB|KiB|MiB)\b", r"N \2")]
# Said by a thread or a process beside another, before or after what that one says, or not at all.
RACES = re.compile(r"(server|client) DISCONNECT EVENT|wait for RDMA_READ_ADV|weft rping: (listening|1 client)")


class Stage:
    """Where the commands are typed: a checkout's folder, after the words that enter a root; `network` is a process in its network namespace."""

    def __init__(self, folder, enter=(), network="self", weft=""):
        self.enter, self.network = list(enter), network
        ours = f"PATH={shlex.quote(str(Path(weft).resolve().parent))}:$PATH; " if weft else ""
        self.before = f"cd {shlex.quote(str(folder))} && {SETUP}; {ours}"
        kept = {name: os.environ[name] for name in KEPT if name in os.environ}
        self.environment = {**kept, "LC_ALL": "C.UTF-8", "WEFT": str(ROOT)}

    def start(self, command):
        return terminal.Run([*self.enter, "bash", "-c", self.before + command], self.environment, LONGEST)

    def play(self, scene):
        """The lines of a scene."""
        runs = []
        if scene.server:
            runs.append((scene.server, 0, listening.start(lambda: self.start(scene.server), self.network)))
        runs.append((scene.command, scene.code, self.start(scene.command)))
        lines = [[(("2",), f"# {scene.about}")]]
        for command, expected, run in runs:
            code, text = run.end()
            if code != expected:
                raise SystemExit(f"{command}: exit code {code}\n{text}")
            said = terminal.lines_of(text)
            lines += [[PROMPT, (("1",), command)], *(shortened(said) if scene.name == "demo" else said)]
        return [*lines, []]


def shortened(lines):
    """Without what is dull, and without the middle of what is said again and again."""
    kept, last, alike = [], "", 0
    for line in lines:
        text = terminal.plain(line)
        alike = alike + 1 if text[:9] and text[:9] == last[:9] else 0
        last = text
        if not DULL.match(text) and alike < 3:
            kept.append(line)
        elif not kept or terminal.plain(kept[-1]) != "[...]":
            kept.append([(("2",), "[...]")])
    return kept


def normal(lines):
    """What two runs have in common: what ./demo installs and builds, the second one need not."""
    kept = []
    for text in lines:
        if text.startswith(BUILT):
            kept = []
        for pattern, word in VARIES:
            text = re.sub(pattern, word, text)
        if not RACES.match(text):
            kept.append(text.rstrip())
    return "\n".join(kept).strip("\n").split("\n")


def write():
    with tempfile.TemporaryDirectory() as folder:
        lines = Stage(folder).play(SCENES[0])
    lines += [line for scene in SCENES[1:] for line in [*typed(scene), *Stage(ROOT).play(scene)]]
    words = [[(style, text.replace(str(ROOT), "/home/me/weft")) for style, text in line] for line in lines[:-1]]
    PICTURE.write_text(picture.svg(words, terminal.COLUMNS, "The first ten minutes with weft, in a terminal"))
    TEXT.write_text("".join(terminal.plain(line) + "\n" for line in words))
    print(f"wrote {PICTURE.relative_to(ROOT)} and {TEXT.relative_to(ROOT)}")


def typed(scene):
    return [[PROMPT, (("1",), SETUP)], []] if scene.name == "rping" else []


def recorded(scene):
    """The lines of a scene in the recording."""
    lines = TEXT.read_text().split("\n")
    begin = lines.index(f"# {scene.about}")
    end = next((at for at in range(begin + 1, len(lines)) if lines[at].startswith(("# ", f"$ {SETUP}"))), len(lines))
    return lines[begin:end]


def check(stage, names, checkout=ROOT):
    faults = []
    if picture.text_of(PICTURE.read_text()) != TEXT.read_text().split("\n")[:-1]:
        faults.append(f"{PICTURE.name} and {TEXT.name} are not of one recording")
    for scene in (scene for scene in SCENES if scene.name in names):
        now = normal(terminal.plain(line).replace(str(checkout), "/home/me/weft") for line in stage.play(scene))
        difference = list(difflib.unified_diff(normal(recorded(scene)), now, f"{TEXT.name}, {scene.name}", "now", lineterm=""))
        faults += difference
        print(f"{scene.name}: {'differs' if difference else 'as recorded'}", flush=True)
    print("\n".join(faults))
    if faults:
        print("tests/first_use/recording.py --write takes it anew")
    return 1 if faults else 0


def alone():
    """Goes on in a network namespace of its own, where that can be had: ports are not taken by others there."""
    for how in (["unshare", "-n"], ["unshare", "-r", "-n"]):
        words = [*how, "sh", "-c", 'PATH=$PATH:/usr/sbin:/sbin; ip link set lo up && exec "$@"', "sh"]
        if subprocess.run([*words, "true"], capture_output=True, check=False).returncode == 0:
            os.environ["WEFT_ALONE"] = "1"
            os.execvp(words[0], [*words, sys.executable, "-B", *sys.argv])


def arguments_given():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--check", metavar="WEFT", nargs="?", const="")
    parser.add_argument("--root", nargs=3, metavar=("FOLDER", "NETWORK", "CHECKOUT"))
    parser.add_argument("scenes", nargs="*")
    return parser.parse_args()


def main():
    arguments = arguments_given()
    if arguments.write:
        return write()
    if arguments.root:
        folder, network, checkout = arguments.root
        enter = ["nsenter", f"--net=/proc/{network}/ns/net", "chroot", folder]
        return check(Stage(checkout, enter, network), ["demo", "rping", "audit", "dissect"], checkout)
    if "WEFT_ALONE" not in os.environ:
        alone()
    names = arguments.scenes or ["rping", "audit", "dissect"]
    if "rping" in names and not shutil.which("rping"):
        print("SKIPPED rping: it is not installed (Debian package rdmacm-utils), so its scene was not played")
        names.remove("rping")
    return check(Stage(ROOT, weft=arguments.check), names)


if __name__ == "__main__":
    sys.exit(main())
