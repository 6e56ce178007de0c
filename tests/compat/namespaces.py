# SPDX-License-Identifier: Apache-2.0
"""Network namespaces for applications.py and clusters.py. Those that are made end with the process that made them."""
import os
import subprocess
import sys
import time

from cases import FAR, FAR6, NEAR6, NIC


def enter():
    """Runs this script again where nothing else is: as root, in a new network namespace."""
    if os.environ.get("WEFT_NAMESPACE") or os.geteuid() != 0:
        return
    if subprocess.run(["unshare", "-n", "true"]).returncode != 0:
        return
    os.environ["WEFT_NAMESPACE"] = "1"
    os.execvp("unshare", ["unshare", "-n", sys.executable, *sys.argv])


def other():
    """A process in another network namespace."""
    process = subprocess.Popen(["unshare", "-n", "sh", "-c", "echo; exec cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    process.stdout.readline()  # it is there
    return process


def inside(process):
    """What a command begins with that is to run in the namespace of such a process; None is this one."""
    return ["nsenter", "-t", str(process.pid), "-n"] if process else []


def do(process, command):
    return subprocess.run([*inside(process), *command.split()], capture_output=True, text=True)


def cable(near, near_address, far, far_address):
    """Joins nic0 in one namespace to nic1 in another one. False where that cannot be had."""
    commands = ((near, "ip link set lo up"), (far, "ip link set lo up"), (near, f"ip link add nic0 type veth peer name nic1 netns {far.pid}"),
                (near, f"ip addr add {near_address} dev nic0"), (near, "ip link set nic0 up"), (far, f"ip addr add {far_address} dev nic1"),
                (far, "ip link set nic1 up"))
    if any(do(*command).returncode != 0 for command in commands):
        return False
    until = time.monotonic() + 10  # a program takes the first device that is up: the cable is, soon
    ends = (near, "ip link show nic0"), (far, "ip link show nic1")
    while time.monotonic() < until and not all("LOWER_UP" in do(*end).stdout for end in ends):
        time.sleep(0.02)
    return True


def furnish():
    """The processes in whose namespaces the client and the server of an address run; empty where none can be had."""
    if not os.environ.get("WEFT_NAMESPACE"):
        return {}
    far, near6, far6 = other(), other(), other()  # where NEAR6 and FAR6 are, the cable has IPv6 alone
    if not cable(None, f"{NIC}/24", far, f"{FAR}/24") or not cable(near6, f"{NEAR6}/64 nodad", far6, f"{FAR6}/64 nodad"):
        return {}
    # For what programs tell each other themselves: IPv4 addresses on the loopback interfaces, routed over the cable.
    for process, nic, own, other_own, gateway in ((near6, "nic0", NIC, FAR, FAR6), (far6, "nic1", FAR, NIC, NEAR6)):
        for command in (f"ip addr add {own}/32 dev lo", f"ip route add {other_own}/32 via inet6 {gateway} dev {nic} src {own}"):
            if do(process, command).returncode != 0:
                return {}
    return {NIC: (None, None), FAR: (None, far), FAR6: (near6, far6)}
