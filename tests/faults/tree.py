# SPDX-License-Identifier: Apache-2.0
"""A copy of the whole source tree with faults, for modules whose tests need the project's own build."""

import os
from pathlib import Path

from fault import ROOT, woven

FLAGS = f"-O0 -g0 -w -D_GLIBCXX_ASSERTIONS -include {ROOT}/tests/faults/copy/switch.hpp"
SETTINGS = ("-DCMAKE_BUILD_TYPE=Debug", "-DWEFT_TESTS=ON", "-DWEFT_WERROR=OFF", f"-DCMAKE_CXX_FLAGS_DEBUG={FLAGS}")


def sources():
    """The files of the project: no builds, and nothing hidden."""
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [f for f in folders if not f.startswith((".", "build", "__pycache__", "node_modules"))]
        yield from ((Path(folder) / name).relative_to(ROOT) for name in names if not name.startswith(".git"))


def copy(faults, tree):
    """Writes only what differs, so that ninja knows what is new: also a file whose faults are gone."""
    of_file = {}
    for fault in faults:
        of_file.setdefault(Path(fault.path), []).append(fault)
    for name in sources():
        source, target = ROOT / name, tree / name
        octets = woven(source.read_text(), of_file[name]).encode() if name in of_file else source.read_bytes()
        if not target.is_file() or target.read_bytes() != octets:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(octets)
            target.chmod(source.stat().st_mode)
