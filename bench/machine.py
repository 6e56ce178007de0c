# SPDX-License-Identifier: Apache-2.0
"""On which machine figures were taken."""
import os
import pathlib
import platform
import time


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def machine():
    return {"date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "processor": processor(), "processors": os.cpu_count(),
            "kernel": platform.release(), "load_average": os.getloadavg()}
