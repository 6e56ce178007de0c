#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does hardening.py see each flag that is missing? hardening_test.py COMPILER: builds a program with all of them, and without each."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import hardening

COMPILER = "c++"
PROGRAM = """#include <cstdio>
#include <cstring>
int main(int count, char** words) {
  char room[3 * 4096];
  std::strcpy(room, words[count - 1]);
  return std::puts(room);
}
"""
# What is on, how to have it off, and a word of what is said then. "x86": only looked for there.
FLAGS = [
    (["-pie", "-fPIE"], ["-no-pie", "-fno-pie"], "position-independent", ""),
    (["-Wl,-z,relro"], ["-Wl,-z,norelro"], "RELRO", ""),
    (["-Wl,-z,now"], ["-Wl,-z,lazy"], "BIND_NOW", ""),
    (["-Wl,-z,noexecstack"], ["-Wl,-z,execstack"], "stack may hold code", ""),
    (["-fstack-protector-strong"], ["-fno-stack-protector"], "-fstack-protector-strong", ""),
    (["-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=3"], ["-U_FORTIFY_SOURCE"], "_FORTIFY_SOURCE", ""),
    (["-fstack-clash-protection"], ["-fno-stack-clash-protection"], "-fstack-clash-protection", "x86"),
    (["-fcf-protection=full"], ["-fcf-protection=none"], "-fcf-protection", "x86"),
]


class Missing(unittest.TestCase):
    def setUp(self):
        self.flags = [flag for flag in FLAGS if hardening.X86 or flag[3] != "x86"]
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "program.cpp").write_text(PROGRAM)

    def build(self, missing, *more, name="program"):
        words = [word for flag in self.flags for word in (flag[1] if flag is missing else flag[0])]
        made = self.folder / name
        subprocess.run([COMPILER, "-O2", *words, *more, "-o", made, self.folder / "program.cpp"], check=True, stderr=subprocess.DEVNULL)
        return made

    def test_nothing(self):
        self.assertEqual(list(hardening.faults(self.build(None))), [])

    def test_each_flag(self):
        for flag in self.flags:
            with self.subTest(flag[2]):
                found = list(hardening.faults(self.build(flag)))
                self.assertEqual([flag[2] in sentence for sentence in found], [True], found)

    @unittest.skipUnless(hardening.X86, "CET is of x86-64")
    def test_objects_of_archives(self):
        for missing, count in ((None, 0), (self.flags[-1], 1)):
            made = self.build(missing, "-c", name="part.o")
            archive = self.folder / f"lib{count}.a"
            subprocess.run(["ar", "qc", archive, made], check=True)
            self.assertEqual(len(list(hardening.faults(archive))), count)


if __name__ == "__main__":
    COMPILER = sys.argv.pop(1)
    unittest.main()
