# SPDX-License-Identifier: Apache-2.0
"""Unmodified programs of the distribution, and what a run of each has to show. applications.py runs them."""
from dataclasses import dataclass, field

IPV4, IPV6, NIC = "127.0.0.1", "::1", "192.0.2.1"  # NIC: of an interface that is not the loopback one


@dataclass
class Case:
    name: str
    package: str
    client: str                 # {a} address, {p} port, {d} device
    server: str = ""            # none: the program runs alone
    expect: str = ""            # a regular expression in what the client prints
    server_expect: str = ""
    addresses: tuple = (IPV4, IPV6, NIC)
    clients: int = 1            # so many at once
    server_ends: bool = True    # by itself, with exit code 0
    timeout: int = 60
    listens: bool = True        # the server is ready when the port listens
    note: str = ""


CASES = []


def case(*args, **kwargs):
    CASES.append(Case(*args, **kwargs))


# --- Discovery
case("ibv_devices", "ibverbs-utils", "ibv_devices", expect=r"weft_lo", addresses=(IPV4,))
case("ibv_devinfo", "ibverbs-utils", "ibv_devinfo -v", expect=r"transport:\s+iWARP", addresses=(IPV4,))

# --- rdma_cm's own examples
case("rping", "rdmacm-utils", "rping -c -a {a} -p {p} -C 10 -v -V", "rping -s -a {a} -p {p} -C 10 -v -V",
     expect=r"ping data: rdma-ping-9")
for size in (16, 4096, 65535):
    case(f"rping, {size} octets", "rdmacm-utils", f"rping -c -a {{a}} -p {{p}} -C 50 -V -S {size}",
         f"rping -s -a {{a}} -p {{p}} -C 50 -V -S {size}", addresses=(IPV4,))
case("rping, persistent server", "rdmacm-utils", "rping -c -a {a} -p {p} -C 10 -V", "rping -s -P -a {a} -p {p}",
     server_ends=False)
case("ucmatose", "rdmacm-utils", "ucmatose -s {a} -p {p} -c 10 -C 100 -S 4096", "ucmatose -b {a} -p {p} -c 10 -C 100 -S 4096",
     expect=r"return status 0", server_expect=r"return status 0")
case("ucmatose, migrating", "rdmacm-utils", "ucmatose -s {a} -p {p} -c 10 -C 100 -S 4096 -m",
     "ucmatose -b {a} -p {p} -c 10 -C 100 -S 4096 -m", expect=r"return status 0", server_expect=r"return status 0")
case("rdma_client", "rdmacm-utils", "rdma_client -s {a} -p {p}", "rdma_server -s {a} -p {p}",
     expect=r"rdma_client: end 0", server_expect=r"rdma_server: end 0")
case("cmtime", "rdmacm-utils", "cmtime -s {a} -p {p} -c 1000", "cmtime -b {a} -p {p} -c 1000", expect=r"connect", timeout=120)

# --- perftest
for tool in ("ib_send_bw", "ib_send_lat", "ib_write_bw", "ib_write_lat", "ib_read_bw", "ib_read_lat"):
    iterations = 100
    case(f"{tool}, all sizes", "perftest", f"{tool} -R -a -n {iterations} -p {{p}} {{v6}} {{a}}",
         f"{tool} -R -a -n {iterations} -p {{p}} {{v6}}", expect=r"8388608 +100", timeout=120)
    case(f"{tool}, events", "perftest", f"{tool} -R -e -n 1000 -p {{p}} {{a}}", f"{tool} -R -e -n 1000 -p {{p}}",
         expect=r"1000", addresses=(IPV4,)) if tool != "ib_write_lat" else None
for tool in ("ib_atomic_bw", "ib_atomic_lat"):
    for kind in ("FETCH_AND_ADD", "CMP_AND_SWAP"):
        case(f"{tool}, {kind}", "perftest", f"{tool} -R -A {kind} -n 1000 -p {{p}} {{a}}",
             f"{tool} -R -A {kind} -n 1000 -p {{p}}", expect=r"8 +1000", addresses=(IPV4,))
for tool in ("ib_send_bw", "ib_write_bw", "ib_read_bw"):
    case(f"{tool}, 8 queue pairs", "perftest", f"{tool} -R -q 8 -n 1000 -p {{p}} {{a}}", f"{tool} -R -q 8 -n 1000 -p {{p}}",
         expect=r"65536 +8000", addresses=(IPV4,))
    case(f"{tool}, both directions", "perftest", f"{tool} -R -b -n 1000 -p {{p}} {{a}}", f"{tool} -R -b -n 1000 -p {{p}}",
         expect=r"65536 +1000", addresses=(IPV4,))
case("ib_send_bw, shared receive queue", "perftest", "ib_send_bw -R --use-srq -q 4 -n 1000 -p {p} {a}",
     "ib_send_bw -R --use-srq -q 4 -n 1000 -p {p}", expect=r"65536 +4000", addresses=(IPV4,))

# --- fio: writes, reads or sends a file's blocks; the receiver is told by the sender what to do
for verb in ("write", "read", "send"):
    case(f"fio, {verb}", "fio",
         f"fio --name=c --ioengine=rdma --hostname={{a}} --port={{p}} --verb={verb} --rw=write --bs=64k --size=64m --iodepth=16"
         " --verify=crc32c",
         "fio --name=s --ioengine=rdma --port={p} --rw=read --bs=64k --size=64m --iodepth=16",
         expect=r"WRITE: bw=", addresses=(IPV4, NIC), timeout=120)
