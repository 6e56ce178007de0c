#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether bench/drop_in_overhead.py still measures: it runs, and its JSON has all figures. How they come out is no matter here."""
import json
import pathlib
import subprocess
import sys
import tempfile

MACHINE = {"date", "processor", "processors", "kernel", "load_average"}
RESULT = {"kind", "size", "iterations", "unit", "drop_in", "cpp", "ratio_of_medians", "median_of_ratios", "overhead_percent",
          "drop_in_runs", "cpp_runs"}


def main():
    script, weft, libraries = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "figures.json"
        done = subprocess.run([sys.executable, script, "--weft", weft, "--libraries", libraries, "--repetitions", "2",
                               "--latency-sizes", "2", "--latency-iterations", "20", "--bandwidth-sizes", "4096",
                               "--bandwidth-octets", "0", "--json", str(file)])
        if done.returncode != 0:
            return done.returncode
        said = json.loads(file.read_text())
    assert MACHINE <= said["machine"].keys(), said
    assert [(one["kind"], one["size"]) for one in said["results"]] == [("latency", 2), ("bandwidth", 4096)], said
    for one in said["results"]:
        assert RESULT <= one.keys(), one
        assert len(one["drop_in_runs"]) == len(one["cpp_runs"]) == said["repetitions"] == 2, one
        assert one["drop_in"] > 0 and one["cpp"] > 0, one
    return 0


if __name__ == "__main__":
    sys.exit(main())
