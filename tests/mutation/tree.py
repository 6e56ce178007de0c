# SPDX-License-Identifier: Apache-2.0
"""A copy of the source tree, which takes the faults, and its build: not optimised unless `flags` say so, several files as one."""

import re
import shutil
import subprocess
from pathlib import Path

FLAGS = "-O0 -g0 -w -Wno-narrowing -D_GLIBCXX_ASSERTIONS -include {tree}/tests/mutation/switch.hpp"
ERROR = re.compile(r"^(\S+?):(\d+)(?::\d+)?:.*?(error|required from|In instantiation)", re.M)


def sources(root):
    """Names of the files below `root` that belong to the project: what git says; where there is none, as of a release's archive, all
    but the folders of builds."""
    try:
        listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=root, check=True,
                                capture_output=True, text=True).stdout.split("\0")
        return [name for name in listed if name]
    except (FileNotFoundError, subprocess.CalledProcessError):
        names = [path.relative_to(root) for path in root.rglob("*") if path.is_file()]
        return [str(name) for name in names if not name.parts[0].startswith(("build", ".git")) and "__pycache__" not in name.parts]


class Tree:
    def __init__(self, root, work, jobs, flags=FLAGS, settings=()):
        """`flags`: of the compiler; `settings`: of cmake besides."""
        self.root, self.path, self.build, self.jobs = root, work / "tree", work / "build", jobs
        self.flags, self.settings = flags, settings
        self.changed = {}  # files that are not as in the source tree
        self.files = {}

    def copy(self, besides):
        """Only what differs, so that the build knows what is new; `besides` are written by write()."""
        for name in sources(self.root):
            source, target = self.root / name, self.path / name
            if name in besides or not source.is_file():
                continue
            if not target.exists() or target.read_bytes() != source.read_bytes():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, target)

    def write(self, name, text):
        """The file as it is to be compiled; None: as in the source tree."""
        self.changed[name] = text
        wanted = text if text is not None else (self.root / name).read_text()
        if text is None:
            del self.changed[name]
        target = self.path / name
        if not target.exists() or target.read_text() != wanted:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(wanted)

    def configure(self):
        if (self.build / "build.ninja").exists():
            return
        subprocess.run(["cmake", "-S", self.path, "-B", self.build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug", "-DWEFT_WERROR=OFF",
                        "-DCMAKE_CXX_FLAGS_DEBUG=" + self.flags.format(tree=self.path), "-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=gold",
                        "-DCMAKE_UNITY_BUILD=ON", "-DCMAKE_UNITY_BUILD_BATCH_SIZE=8", *self.settings], check=True, stdout=subprocess.DEVNULL)

    def make(self, programs, keep_going=True):
        """What the compiler said, and whether all is built."""
        done = subprocess.run(["ninja", "-C", self.build, f"-j{self.jobs}", "-k", "0" if keep_going else "1", *programs],
                              capture_output=True, text=True, errors="replace")
        return done.stdout + done.stderr, done.returncode == 0

    def places_of_errors(self, output):
        """(file, line) of all that a compiler's complaint names."""
        places = set()
        for match in ERROR.finditer(output):
            path = Path(match.group(1))
            if not path.is_absolute():
                path = self.build / path
            try:
                places.add((str(path.resolve().relative_to(self.path.resolve())), int(match.group(2))))
            except ValueError:
                continue
        return places

    def program(self, name):
        if name not in self.files:
            self.files[name] = next(p for p in self.build.rglob(name) if p.is_file() and p.stat().st_mode & 0o111)
        return self.files[name]
