#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What bench/pair_builds.py makes of figures: which way is worse, and that a pair stays a pair. It measures nothing here."""
import pathlib
import subprocess
import sys
import tempfile


def main():
    script = pathlib.Path(sys.argv[1])
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(script.parent))
    from pair_builds import compared, worse

    assert worse(4.0, 5.0, True) == 25.0, "a latency that grows is worse"
    assert worse(5.0, 4.0, False) == 25.0, "a bandwidth that falls is worse"
    assert worse(4.0, 3.0, True) < 0 < worse(3.0, 4.0, True)
    # The machine was slow during the second pair and the third, for both builds alike: no build is worse.
    quiet, slow = {"lat": (4.0, True), "bw": (8.0, False)}, {"lat": (8.0, True), "bw": (4.0, False)}
    rows = compared([(quiet, quiet), (slow, slow), (slow, slow)])
    assert [(row["line"], row["worse_percent"], row["least"], row["most"]) for row in rows] == [("lat", 0, 0, 0), ("bw", 0, 0, 0)], rows
    assert rows[0]["before"] == [4.0, 8.0, 8.0], rows
    # One bad moment that meets one build is no median.
    rows = compared([(quiet, quiet), (quiet, slow), (quiet, quiet)])
    assert [(row["worse_percent"], row["most"]) for row in rows] == [(0, 100), (0, 100)], rows

    with tempfile.TemporaryDirectory() as empty:
        done = subprocess.run([sys.executable, str(script), empty, empty], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "has no tools/weft" in done.stderr, done
    return 0


if __name__ == "__main__":
    sys.exit(main())
