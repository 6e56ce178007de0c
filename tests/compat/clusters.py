#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""MPI jobs over several hosts, as docs/clusters.md starts them: each host is a network namespace, and ranks run as user `nobody`.

WEFT is the command, LIBRARIES the folder of the drop-in libraries. The launcher's remote shell is a script that enters the namespace
with an empty environment, as ssh would. Exit codes: 0 all passed, 1 something failed, 77 a program or the namespaces are not to be had."""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True  # the source tree stays as it is
import applications  # noqa: E402
import namespaces  # noqa: E402
from cases import UCX_TLS  # noqa: E402

HOSTS = 4
SWITCH = "192.0.2.1"  # where the launcher runs
TIMEOUT = 150  # seconds, for what takes a few


def address(host):
    return f"192.0.2.{10 + host}"


def must(command):
    if subprocess.run(command.split()).returncode != 0:
        sys.exit(f"failed: {command}")


def make_hosts():
    """A process in the namespace of each host; all are on one switch. None if the kernel has no bridges."""
    must("ip link set lo up")
    if subprocess.run("ip link add switch type bridge".split()).returncode != 0:
        return None
    must("ip link set switch up")
    must(f"ip addr add {SWITCH}/24 dev switch")
    hosts = [namespaces.other() for _ in range(HOSTS)]
    for number, host in enumerate(hosts):
        inside = f"nsenter -t {host.pid} -n "
        must(f"ip link add port{number} type veth peer name eth0 netns {host.pid}")
        must(f"ip link set port{number} master switch")
        must(f"ip link set port{number} up")
        must(inside + "ip link set lo up")
        must(inside + f"ip addr add {address(number)}/24 dev eth0")
        must(inside + "ip link set eth0 up")
    return hosts


def write_remote_shell(folder, hosts):
    """In place of ssh: HOST COMMAND. Each host has its own folder for temporary files: Open MPI's daemons assume that, and one of several that
    create the same folder at once gives up."""
    for number, _ in enumerate(hosts):
        (folder / f"tmp{number}").mkdir()
        (folder / f"tmp{number}").chmod(0o777)
    lines = "".join(f"{address(number)}) pid={host.pid} tmp={folder}/tmp{number} ;;\n" for number, host in enumerate(hosts))
    shell = folder / "remote-shell"
    shell.write_text("#!/bin/sh\nhost=$1\nshift\ncase $host in\n" + lines + "esac\n"
                     f"exec nsenter -t $pid -n {' '.join(applications.NOBODY_COMMAND)} env -i PATH=/usr/bin:/bin HOME={folder}/home TMPDIR=$tmp sh -c \"cd; $*\"\n")
    shell.chmod(0o755)
    return shell


def open_mpi(shell, ranks, program):
    """One rank on each of the first hosts."""
    return (f"mpirun.openmpi --allow-run-as-root --mca plm_rsh_agent {shell} --host {','.join(map(address, range(ranks)))} -n {ranks} "
            f"--mca pml ucx --mca osc ucx -x UCX_TLS={UCX_TLS} {program}")


def mpich(shell, ranks, program):
    return (f"mpirun.mpich -localhost {SWITCH} -launcher rsh -launcher-exec {shell} -hosts {','.join(map(address, range(ranks)))} -n {ranks} "
            f"-genv UCX_TLS {UCX_TLS} {program}")


def jobs():
    """What is run, by which launcher, on how many hosts, and what it prints."""
    for ranks in (2, 4):
        yield f"mpi4py, Open MPI, {ranks} hosts", open_mpi, ranks, "/usr/bin/python3 -B mpi.py", f"windows: {ranks} ranks"
    yield "NetPIPE, Open MPI, 2 hosts", open_mpi, 2, "NPopenmpi -i -n 10 -u 4194304", r"3145729 bytes .*Integrity check passed"
    yield "NetPIPE, MPICH, 2 hosts", mpich, 2, "NPmpich2 -i -n 10 -u 4194304", r"3145729 bytes .*Integrity check passed"


def run(command, folder):
    """What it printed; its exit code is added if that is not 0."""
    environment = {"PATH": "/usr/bin:/bin:/usr/sbin", "HOME": str(folder / "home")}
    try:
        done = subprocess.run(command.split(), cwd=folder / "home", env=environment, text=True, timeout=TIMEOUT, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    except subprocess.TimeoutExpired as late:
        return f"{(late.stdout or b'').decode()}\ndoes not end"
    return done.stdout + (f"\nexit code {done.returncode}" if done.returncode else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("weft")
    parser.add_argument("libraries")
    options = parser.parse_args()
    missing = [program for program in ("mpirun.openmpi", "mpirun.mpich", "NPopenmpi", "NPmpich2") if not shutil.which(program)]
    namespaces.enter()
    hosts = make_hosts() if os.environ.get("WEFT_NAMESPACE") and not missing else None
    if hosts is None:
        print(f"SKIPPED: {' '.join(missing) or 'network namespaces on a bridge'} not to be had")
        return 77
    folder = applications.stage(options.weft, options.libraries)
    shell = write_remote_shell(folder, hosts)
    failed = 0
    for name, launcher, ranks, program, expected in jobs():
        through_weft = f"env WEFT_LIBRARY_PATH={folder}/lib WEFT_LOG=info {folder}/weft run --device roce -- {program}"
        said = run(launcher(shell, ranks, through_weft), folder)
        ok = re.search(expected, said) and "exit code" not in said and "established: MPA" in said
        print(f"{'ok' if ok else 'FAILED':6} {name}", flush=True)
        if not ok:
            failed += 1
            print("    " + said.replace("\n", "\n    "), flush=True)
    shutil.rmtree(folder)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
