# SPDX-License-Identifier: Apache-2.0
"""Unmodified programs of the distribution, and what a run of each has to show. applications.py runs them."""
import glob
from dataclasses import dataclass

IPV4, IPV6, NIC = "127.0.0.1", "::1", "192.0.2.1"  # NIC: of an interface that is not the loopback one
FAR = "192.0.2.2"  # the server is in another network namespace
NEAR6, FAR6 = "2001:db8::1", "2001:db8::2"  # of two namespaces with IPv6 alone: that of the client and that of the server
OWN = {FAR: NIC, FAR6: NEAR6}  # the client's address, where it is another one


@dataclass
class Case:
    name: str
    package: str
    client: str                 # {a} address, {p} port, {own} the client's address
    server: str = ""            # none: the program runs alone
    expect: str = ""            # a regular expression in what the client prints
    server_expect: str = ""
    addresses: tuple = (IPV4, IPV6, NIC)
    pairs: int = 1              # servers, each with its client, at once
    kill: str = ""              # "server" or "client": dies of SIGKILL in the middle, and the other has to notice and end
    server_ends: bool = True    # by itself, with exit code 0
    cannot: str = ""            # why the program itself refuses, before weft is asked: fails, and `expect` is its own word for it
    large: bool = False         # left out under a sanitizer, for its time: another case takes the same ways through weft
    timeout: int = 150          # seconds; a hundred times what it takes: it ends what hangs, not what waits for a processor
    note: str = ""
    needs: str = ""             # the program or file that the package has; default: the client's first word
    sockets: bool = False       # its sockets become rsockets: weft run --sockets
    roce: bool = False          # weft run --device roce
    udp: bool = False           # its server waits at a UDP port
    ipv6: bool = False          # both ends are where devices have IPv6 addresses alone
    port: int = 0               # where the server listens, if the program leaves no choice; its cases then run one after the other


CASES = []


def case(*args, **kwargs):
    CASES.append(Case(*args, **kwargs))


# --- Discovery
case("ibv_devices", "ibverbs-utils", "ibv_devices", expect=r"weft_lo", addresses=(IPV4,))
case("ibv_devinfo", "ibverbs-utils", "ibv_devinfo -v", expect=r"transport:\s+iWARP", addresses=(IPV4,))

case("ibv_asyncwatch", "ibverbs-utils", "sh -c 'timeout 1 ibv_asyncwatch -d weft_lo; test $? = 124'", expect=r"weft_lo: async event FD",
     addresses=(IPV4,), needs="ibv_asyncwatch")

# --- rdma_cm's own examples
case("rping", "rdmacm-utils", "rping -c -a {a} -p {p} -C 10 -v -V", "rping -s -a {a} -p {p} -C 10 -v -V",
     expect=r"ping data: rdma-ping-9")
for size in (64, 4096, 65535):
    case(f"rping, {size} octets", "rdmacm-utils", f"rping -c -a {{a}} -p {{p}} -C 50 -V -S {size}",
         f"rping -s -a {{a}} -p {{p}} -C 50 -V -S {size}", addresses=(IPV4,))
case("rping, persistent server", "rdmacm-utils", "rping -c -a {a} -p {p} -C 10 -V", "rping -s -P -a {a} -p {p}",
     server_ends=False)
case("rping, 100 at a time", "rdmacm-utils", "rping -c -a {a} -p {p} -C 10 -V", "rping -s -a {a} -p {p} -C 10 -V",
     addresses=(IPV4,), pairs=100, large=True, timeout=300)
case("rping, its server killed", "rdmacm-utils", "rping -c -a {a} -p {p} -V", "rping -s -a {a} -p {p} -V",
     expect=r"DISCONNECT EVENT|cq completion failed", addresses=(IPV4,), kill="server")
case("rping, its client killed", "rdmacm-utils", "rping -c -a {a} -p {p} -V", "rping -s -a {a} -p {p} -V",
     server_expect=r"DISCONNECT EVENT|cq completion failed", addresses=(IPV4,), kill="client")
case("ucmatose", "rdmacm-utils", "ucmatose -s {a} -p {p} -c 10 -C 100 -S 4096", "ucmatose -b {a} -p {p} -c 10 -C 100 -S 4096",
     expect=r"return status 0", server_expect=r"return status 0")
case("ucmatose, migrating", "rdmacm-utils", "ucmatose -s {a} -p {p} -c 10 -C 100 -S 4096 -m",
     "ucmatose -b {a} -p {p} -c 10 -C 100 -S 4096 -m", expect=r"return status 0", server_expect=r"return status 0")
case("rdma_client", "rdmacm-utils", "rdma_client -s {a} -p {p}", "rdma_server -s {a} -p {p}",
     expect=r"rdma_client: end 0", server_expect=r"rdma_server: end 0")
case("rdma_xclient", "rdmacm-utils", "rdma_xclient -s {a} -p {p}", "rdma_xserver -p {p}", expect=r"rdma_xclient: end 0",
     server_expect=r"rdma_xserver: end 0", addresses=(IPV4,))
case("cmtime", "rdmacm-utils", "cmtime -s {a} -p {p} -c 1000", "cmtime -b {a} -p {p} -c 1000", expect=r"connect", server_ends=False,
     timeout=300)

# --- perftest, with rdma_cm (-R)
TOOLS = ("ib_send_bw", "ib_send_lat", "ib_write_bw", "ib_write_lat", "ib_read_bw", "ib_read_lat")
for tool in TOOLS:
    case(f"{tool}, all sizes", "perftest", f"{tool} -R -a -n 50 -p {{p}} {{a}}", f"{tool} -R -a -n 50 -p {{p}}",
         expect=r"8388608 +50", addresses=(IPV4,), large=tool != "ib_send_bw", timeout=300)
    case(f"{tool}, another interface", "perftest", f"{tool} -R -n 1000 -p {{p}} {{a}}", f"{tool} -R -n 1000 -p {{p}}",
         expect=r" +1000 ", addresses=(NIC,), large=tool != "ib_send_bw")
case("ib_send_bw, events", "perftest", "ib_send_bw -R -e -s 1048576 -n 1000 -p {p} {a}", "ib_send_bw -R -e -s 1048576 -n 1000 -p {p}",
     expect=r"1048576 +1000 ", addresses=(IPV4,),
     note="with short messages perftest may wait for ever, see [drop-in.md](drop-in.md#perftest)")
for tool in ("ib_send_lat", "ib_read_bw", "ib_read_lat"):
    case(f"{tool}, events", "perftest", f"{tool} -R -e -n 1000 -p {{p}} {{a}}", f"{tool} -R -e -n 1000 -p {{p}}",
         expect=r" +1000 ", addresses=(IPV4,))
for tool in ("ib_atomic_bw", "ib_atomic_lat"):
    for kind in ("FETCH_AND_ADD", "CMP_AND_SWAP"):
        case(f"{tool}, {kind}", "perftest", f"{tool} -R -A {kind} -n 1000 -p {{p}} {{a}}",
             f"{tool} -R -A {kind} -n 1000 -p {{p}}", expect=r"8 +1000", addresses=(IPV4,))
for tool in ("ib_send_bw", "ib_write_bw", "ib_read_bw"):
    case(f"{tool}, 8 queue pairs", "perftest", f"{tool} -R -q 8 -n 250 -p {{p}} {{a}}", f"{tool} -R -q 8 -n 250 -p {{p}}",
         expect=r"65536 +2000", addresses=(IPV4,))
    case(f"{tool}, both directions", "perftest", f"{tool} -R -b -n 1000 -p {{p}} {{a}}", f"{tool} -R -b -n 1000 -p {{p}}",
         expect=r"65536 +1000", addresses=(IPV4,))
case("ib_send_bw, shared receive queue", "perftest", "ib_send_bw -R --use-srq -n 1000 -p {p} {a}",
     "ib_send_bw -R --use-srq -n 1000 -p {p}", expect=r"65536 +1000", addresses=(IPV4,),
     note="one queue pair; with several perftest may wait for ever, see [drop-in.md](drop-in.md#perftest)")
for tool in (*TOOLS, "ib_atomic_bw", "ib_atomic_lat"):
    case(f"{tool}, IPv6", "perftest", f"{tool} -R -p {{p}} {{a}}", f"{tool} -R -p {{p}}", addresses=(IPV6,),
         expect=r"Address family for hostname not supported", server_ends=False, cannot="perftest asks getaddrinfo() for IPv4 alone")

# --- Queue pairs that the program connects itself, by ibv_modify_qp
for name, options in (("", ""), (", events", "-e "), (", 1 MiB", "-s 1048576 -n 200 "), (", by LID", "")):
    gid = "" if "LID" in name else "-g 0 "
    case(f"ibv_rc_pingpong{name}", "ibverbs-utils", f"ibv_rc_pingpong {gid}{options}-p {{p}} {{a}}", f"ibv_rc_pingpong {gid}{options}-p {{p}}",
         expect=r"iters in .* = .* usec/iter", server_expect=r"usec/iter", addresses=(NIC,) if name else (NIC, FAR), large=bool(name))
case("ibv_rc_pingpong, loopback", "ibverbs-utils", "ibv_rc_pingpong -d weft_lo -g 0 -p {p} {a}", "ibv_rc_pingpong -d weft_lo -g 0 -p {p}",
     expect=r"usec/iter", server_expect=r"usec/iter", addresses=(IPV4,))
case("ibv_rc_pingpong, IPv6", "ibverbs-utils", "ibv_rc_pingpong -d weft_nic0 -g 0 -p {p} {a}", "ibv_rc_pingpong -d weft_nic1 -g 0 -p {p}",
     expect=rf"remote address: .*GID {FAR6}\n[^$]*usec/iter", server_expect=rf"remote address: .*GID {NEAR6}\n[^$]*usec/iter", addresses=(FAR,), ipv6=True,
     note="the GIDs are IPv6 addresses; the program's own channel is IPv4")
case("ibv_srq_pingpong", "ibverbs-utils", "ibv_srq_pingpong -g 0 -p {p} {a}", "ibv_srq_pingpong -g 0 -p {p}",
     expect=r"usec/iter", server_expect=r"usec/iter", addresses=(NIC,))
case("ibv_uc_pingpong", "ibverbs-utils", "ibv_uc_pingpong -g 0 -p {p} {a}", "ibv_uc_pingpong -g 0 -p {p}",
     expect=r"usec/iter", server_expect=r"usec/iter", addresses=(NIC,))
# On an iWARP device without -R, ib_send_bw leaves the memory of its credits registered, and fails at the end.
for tool in (*TOOLS, "ib_atomic_bw", "ib_atomic_lat"):
    case(f"{tool}, without -R", "perftest", f"{tool} -n 1000 -p {{p}} {{a}}", f"{tool} -n 1000 -p {{p}}",
         expect=r" +1000 ", addresses=(NIC, FAR), large=tool != "ib_send_bw", roce=True)
for tool in ("ib_send_bw", "ib_send_lat", "ib_write_bw", "ib_write_lat"):
    case(f"{tool}, unreliable connection", "perftest", f"{tool} -c UC -n 1000 -p {{p}} {{a}}", f"{tool} -c UC -n 1000 -p {{p}}",
         expect=r" +1000 ", addresses=(NIC, FAR), large=True, roce=True)
case("ib_write_bw, without -R, 64 queue pairs", "perftest", "ib_write_bw -q 64 -n 50 -p {p} {a}", "ib_write_bw -q 64 -n 50 -p {p}",
     expect=r"65536 +3200", addresses=(NIC,), large=True)

# --- Datagrams
for name, options in (("", ""), (", events", "-e "), (", 1024 octets", "-s 1024 -n 200 ")):
    case(f"ibv_ud_pingpong{name}", "ibverbs-utils", f"ibv_ud_pingpong -g 0 {options}-p {{p}} {{a}}", f"ibv_ud_pingpong -g 0 {options}-p {{p}}",
         expect=r"iters in .* = .* usec/iter", server_expect=r"usec/iter", addresses=(NIC,) if name else (NIC, FAR), large=bool(name))
for tool in ("ib_send_bw", "ib_send_lat"):
    case(f"{tool}, datagrams", "perftest", f"{tool} -c UD -s 1024 -n 1000 -p {{p}} {{a}}", f"{tool} -c UD -s 1024 -n 1000 -p {{p}}",
         expect=r" +1000 ", addresses=(NIC, FAR), roce=True)
case("qperf, datagrams", "qperf", "qperf -lp {p} -t 1 {a} ud_lat ud_bw", "qperf -lp {p}",
     expect=r"(?s)ud_lat:\s+latency.*ud_bw:", addresses=(NIC,), server_ends=False)
case("udaddy", "rdmacm-utils", "udaddy -s {a} -C 20 -S 1000", "udaddy -b {a} -C 20 -S 1000", expect=r"return status 0",
     server_expect=r"return status 0", addresses=(IPV4, NIC, FAR), port=7174)
case("mckey", "rdmacm-utils", "sh mckey.sh {a}", expect=r"every member has received", addresses=(IPV4, NIC), needs="mckey",
     note="two receivers and a sender of a multicast group")
for name, group, address in ((", two namespaces", "239.192.0.9", FAR), (", two namespaces, IPv6", "ff0e::1234", FAR6),
                             (", two namespaces, IPv6, a link-local group", "ff02::1234", FAR6)):
    case(f"mckey{name}", "rdmacm-utils", f"mckey -s -m {group} -b {{own}} -C 20 -S 1000", f"mckey -m {group} -b {{a}} -C 20 -S 1000",
         expect=rf"(?s)joined dgid: [:f]*{group}.*return status 0", server_expect=r"(?s)receiving data transfers.*return status 0",
         addresses=(address,), udp=True, port=65535)
case("ibv_devinfo, as RoCE", "ibverbs-utils", "ibv_devinfo -v", expect=r"transport:\s+InfiniBand", addresses=(IPV4,), roce=True)

# --- UCX: its transports rc_verbs and ud_verbs, by its own tests, which exchange addresses over TCP
case("ucx_info", "ucx-utils", "ucx_info -d", expect=r"(?s)Transport: rc_verbs.*Transport: ud_verbs", addresses=(NIC,), roce=True)


def ucx(name, options, transports="", addresses=(NIC,), large=False):
    command = f"{transports}ucx_perftest {options} -n 1000 -p {{p}}"
    case(f"ucx_perftest, {name}", "ucx-utils", f"{command} {{a}}", command, expect=r"Final: +1000", addresses=addresses, roce=True,
         needs="ucx_perftest", large=large, timeout=60)


for test in ("am_lat -s 8", "am_bw -D zcopy -s 4000", "put_lat -s 8", "get -D zcopy -s 65536", "add_lat -s 8"):
    ucx(f"rc_verbs, {test}", f"-x rc_verbs -d weft_nic0:1 -t {test}")
ucx("ud_verbs, am_bw -D zcopy -s 1000", "-x ud_verbs -d weft_nic0:1 -t am_bw -D zcopy -s 1000")
for test in ("tag_lat -s 8", "tag_bw -s 1048576", "ucp_am_lat -s 8", "ucp_put_lat -s 8", "ucp_get -s 65536", "ucp_fadd -s 8"):
    ucx(f"rc_verbs and ud_verbs, {test}", f"-t {test}", "env UCX_TLS=rc_verbs,ud_verbs ", (NIC, FAR), large=test != "tag_lat -s 8")
IO_DEMO = "env UCX_TLS=rc_verbs,ud_verbs,self UCX_SOCKADDR_TLS_PRIORITY=rdmacm io_demo -q -p {p}"
case("io_demo, over the connection manager", "ucx-utils", f"{IO_DEMO} -i 200 -o read,write {{a}}", IO_DEMO, expect="Client exit with status 'OK'", addresses=(NIC, FAR), roce=True,
     needs="io_demo", note="UCX's data go over queue pairs that it connects itself", server_ends=False, timeout=60)
for test in ("tag_lat -s 8", "tag_bw -s 65536", "ucp_fadd -s 8"):
    ucx(f"ud_verbs alone, {test}", f"-t {test}", "env UCX_TLS=ud_verbs ", (NIC, FAR), large=test != "tag_lat -s 8")
case("qperf, without -cm", "qperf", "qperf -lp {p} -t 1 {a} rc_lat rc_bw rc_rdma_write_bw rc_rdma_read_lat", "qperf -lp {p}",
     expect=r"(?s)rc_lat:.*rc_bw:.*rc_rdma_write_bw:.*rc_rdma_read_lat:\s+latency", addresses=(NIC,), server_ends=False)

# --- TLS: each end proves who it is, and says at level info who the other one was
def secured(end, command):
    return f"env WEFT_LOG=info WEFT_POLICY=tls=require,tls-certificate=keys/{end}.pem,tls-ca=keys/ca.pem {command}"


for name, package, client, server, shown in (
        ("rping", "rdmacm-utils", "rping -c -a {a} -p {p} -C 10 -v -V", "rping -s -a {a} -p {p} -C 10 -v -V", "ping data: rdma-ping-9"),
        ("ib_send_lat", "perftest", "ib_send_lat -R -n 1000 -p {p} {a}", "ib_send_lat -R -n 1000 -p {p}", " +1000 "),
        ("ib_write_bw", "perftest", "ib_write_bw -R -q 8 -n 250 -p {p} {a}", "ib_write_bw -R -q 8 -n 250 -p {p}", "65536 +2000"),
        ("ib_read_bw", "perftest", "ib_read_bw -R -s 1048576 -n 250 -p {p} {a}", "ib_read_bw -R -s 1048576 -n 250 -p {p}", "1048576 +250"),
        ("ibv_rc_pingpong", "ibverbs-utils", "ibv_rc_pingpong -g 0 -p {p} {a}", "ibv_rc_pingpong -g 0 -p {p}", "usec/iter"),
        ("fio, write", "fio", "fio --name=c --ioengine=rdma --hostname={a} --port={p} --verb=write --rw=write --bs=64k --size=64m"
         " --iodepth=16 --verify=crc32c", "fio --name=s --ioengine=rdma --port={p} --rw=read --bs=64k --size=64m --iodepth=16",
         "WRITE: bw=")):
    case(f"{name}, TLS", package, secured("client", client), secured("server", server),
         expect=rf"(?s)(?=.*TLS 1.3 with \w+; the peer is CN=weft server)(?=.*{shown})", server_expect="the peer is CN=weft client",
         addresses=(FAR,) if "pingpong" in name else (IPV4, FAR), large=True, timeout=300, needs=client.split()[0])

# --- fio: writes, reads or sends a file's blocks; the receiver is told by the sender what to do
for verb in ("write", "read", "send"):
    case(f"fio, {verb}", "fio",
         f"fio --name=c --ioengine=rdma --hostname={{a}} --port={{p}} --verb={verb} --rw=write --bs=64k --size=64m --iodepth=16"
         " --verify=crc32c",
         "fio --name=s --ioengine=rdma --port={p} --rw=read --bs=64k --size=64m --iodepth=16",
         expect=r"WRITE: bw=", addresses=(IPV4, NIC), timeout=300)
case("fio, IPv6", "fio", "fio --name=c --ioengine=rdma --hostname={a} --port={p} --verb=write --rw=write --bs=64k --size=64m",
     addresses=(IPV6,), expect=r"func=gethostbyname", cannot="its rdma engine knows gethostbyname(), and so IPv4 alone")

# --- rsockets. With sizes and counts of its own a run is short; `-S all` and the like take minutes
STREAMS = (("", "-S 65536 -C 100 -T v -T b", (IPV4, IPV6, NIC)),
           (", large", "-S 3000001 -C 5 -T v -T b", (IPV4,)),
           (", ping-pong", "-S 64 -I 500 -C 1 -T v -T b", (IPV4,)),
           (", asynchronous", "-S 10000 -C 100 -T v -T a -T b", (IPV4,)),
           (", non-blocking", "-S 4096 -C 20 -T v -T n", (IPV4,)),
           (", asynchronous and non-blocking", "-S 4096 -C 20 -T v -T a -T n", (IPV4,)),
           (", addresses from rdma_getaddrinfo", "-S 4096 -C 50 -T v -T r -T b", (IPV4,)),
           (", small buffers", "-B 4096 -S 10000 -C 50 -T v -T b", (IPV4,)))
for name, options, addresses in STREAMS:
    case(f"rstream{name}", "rdmacm-utils", f"rstream -s {{a}} -p {{p}} {options}", f"rstream -b {{a}} -p {{p}} {options}",
         expect=r"custom .*\d", server_expect=r"custom .*\d", addresses=addresses, large=bool(name))
case("rstream, fork server", "rdmacm-utils", "rstream -s {a} -p {p} -S 4096 -C 50 -T v -T f -T b",
     "rstream -b {a} -p {p} -S 4096 -C 50 -T v -T f -T b", expect=r"custom .*\d", addresses=(IPV4,), large=True,
     note="rstream itself then uses the kernel's sockets")
DATAGRAMS = (("", "-T b", (IPV4, IPV6, NIC, FAR)),
             (", echo", "-T b -T e", (IPV4, FAR)),
             (", asynchronous", "-T a -T b", (IPV4,)),
             (", non-blocking", "-T n", (IPV4,)),
             (", asynchronous and non-blocking", "-T a -T n", (IPV4, FAR)),
             (", small buffers, echo", "-B 4096 -T e", (IPV4,)))
for name, options, addresses in DATAGRAMS:
    case(f"udpong{name}", "rdmacm-utils", f"udpong -s {{a}} -p {{p}} -S 1000 -C 1000 {options}", f"udpong -b {{a}} -p {{p}} -S 1000 -C 1000 {options}",
         expect=r"custom +1000 +\d.*\d", addresses=addresses, large=bool(name), server_ends=False, udp=True)
case("riostream", "rdmacm-utils", "riostream -s {a} -p {p} -S 4096 -I 20 -C 2 -T v -T b",
     "riostream -b {a} -p {p} -S 4096 -I 20 -C 2 -T v -T b", expect=r"custom .*\d", server_expect=r"custom .*\d")
case("rcopy", "rdmacm-utils", "sh -c 'rcopy /usr/bin/rcopy {a}:copy.{p} -p {p} && cmp /usr/bin/rcopy copy.{p}'", "rcopy -p {p}",
     expect=r"done", addresses=(IPV4,), server_ends=False, needs="rcopy", large=True)
LIBRARY = next(iter(sorted(glob.glob("/usr/lib/*/rsocket/librspreload.so"))), "/usr/lib/x86_64-linux-gnu/rsocket/librspreload.so")
PRELOAD = f"env LD_PRELOAD={LIBRARY}"
case("rstream with plain sockets, under librspreload.so", "librdmacm1",
     f"{PRELOAD} WEFT_LOG=info rstream -s {{a}} -p {{p}} -S 65536 -C 50 -T v -T s -T b",
     f"{PRELOAD} rstream -b {{a}} -p {{p}} -S 65536 -C 50 -T v -T s -T b",
     expect=r"(?s)established: MPA.*custom .*\d", addresses=(IPV4,), needs=LIBRARY, large=True)
case("udpong with plain sockets, under librspreload.so", "librdmacm1", f"{PRELOAD} udpong -s {{a}} -p {{p}} -S 1000 -C 1000 -T s -T b",
     f"{PRELOAD} udpong -b {{a}} -p {{p}} -S 1000 -C 1000 -T s -T b", expect=r"custom +1000 +\d.*\d", addresses=(IPV4,), needs=LIBRARY, large=True,
     server_ends=False, udp=True)
case("a Python program, under librspreload.so", "librdmacm1", f"{PRELOAD} WEFT_LOG=info python3 echo.py client {{a}} {{p}}",
     f"{PRELOAD} python3 echo.py server {{a}} {{p}}", expect=r"(?s)(?=.*established: MPA)(?=.*all came back)", addresses=(IPV4, IPV6),
     needs=LIBRARY, large=True)

# --- Programs without verbs, whose sockets become rsockets. A client's log says that RDMA was used
def sockets(*args, **kwargs):
    case(*args, sockets=True, large=True, **kwargs)


OVER_RDMA = r"(?s)(?=.*established: MPA)"
sockets("redis-server and redis-benchmark", "redis-tools", "env WEFT_LOG=info redis-benchmark -h {a} -p {p} -q -n 3000 -c 20 -d 1000 -t set,get,lrange_100",
        "redis-server --bind {a} --port {p} --save '' --protected-mode no", expect=OVER_RDMA + r"(?=.*GET: [0-9.]+ requests)(?=.*LRANGE_100[^:]*: [0-9.]+ requests)",
        addresses=(IPV4, NIC), server_ends=False, needs="redis-benchmark")
sockets("redis-server and redis-cli", "redis-tools", "env WEFT_LOG=info redis-cli -h {a} -p {p} --bigkeys", "redis-server --bind {a} --port {p} --save '' --protected-mode no",
        expect=OVER_RDMA + r"(?=.*Sampled 0 keys)", addresses=(IPV4,), server_ends=False, needs="redis-cli")
sockets("memcached and nc", "memcached", r"""sh -c 'printf "set k 0 0 5\r\nhello\r\nget k\r\nquit\r\n" | WEFT_LOG=info nc -N {a} {p}'""",
        "memcached -U 0 -l {a} -p {p} -t 2", expect=OVER_RDMA + r"(?=.*STORED.*VALUE k 0 5.*hello)", addresses=(IPV4,), server_ends=False, needs="memcached")
sockets("python3 -m http.server and curl", "curl", "sh -c 'WEFT_LOG=info curl -sS -o got.{p} http://{a}:{p}/rping && cmp got.{p} /usr/bin/rping'",
        "python3 -m http.server {p} --bind {a} -d /usr/bin", expect=OVER_RDMA, addresses=(IPV4, NIC), server_ends=False, needs="curl")
sockets("lighttpd and curl", "lighttpd", "sh -c 'WEFT_LOG=info curl -sS -o got.{p} http://{a}:{p}/rping && cmp got.{p} /usr/bin/rping'",
        "env PORT={p} ADDRESS={a} lighttpd -D -f lighttpd.conf",
        expect=OVER_RDMA, addresses=(IPV4,), server_ends=False, needs="/usr/sbin/lighttpd")
sockets("nc", "netcat-openbsd", "sh -c 'WEFT_LOG=info nc -N {a} {p} </usr/bin/rping'", "sh -c 'nc -l {a} {p} | cmp - /usr/bin/rping && echo the same'",
        expect=OVER_RDMA, server_expect="the same", addresses=(IPV4, IPV6), needs="nc")
sockets("ncat", "ncat", "sh -c 'WEFT_LOG=info ncat --send-only {a} {p} </usr/bin/rping'", "sh -c 'ncat --recv-only -l {a} {p} | cmp - /usr/bin/rping && echo the same'",
        expect=OVER_RDMA, server_expect="the same", addresses=(IPV4,), needs="ncat")
sockets("iperf", "iperf", "env WEFT_LOG=info iperf -c {a} -p {p} -n 50M", "iperf -s -B {a} -p {p}", expect=OVER_RDMA + r"(?=.*50.0 MBytes)",
        addresses=(IPV4, NIC), server_ends=False)

# --- libfabric: finds devices by their interfaces' addresses, loopback left out
case("fi_info, no address", "libfabric-bin", "fi_info -p verbs", expect=r"domain: weft_nic0", addresses=(NIC,))
for kind, provider in (("msg", "verbs"), ("rdm", "'verbs;ofi_rxm'")):
    case(f"fi_pingpong, {kind}", "libfabric-bin", f"fi_pingpong -p {provider} -e {kind} -I 100 -P {{p}} {{a}}",
         f"fi_pingpong -p {provider} -e {kind} -I 100 -B {{p}}", expect=r"1m +100 ", addresses=(NIC,), large=kind == "rdm")
case("fi_pingpong, datagrams", "libfabric-bin", "fi_pingpong -p verbs -e dgram -I 100 -P {p} {a}", "fi_pingpong -p verbs -e dgram -I 100 -B {p}",
     expect=r"1k +100 ", server_expect=r"1k +100 ", addresses=(NIC, FAR), roce=True)

# --- qperf: announces a port before it listens there with rdma_cm, and its clients come at once
case("qperf", "qperf", "qperf -lp {p} -cm 1 -t 1 {a} rc_lat rc_bw rc_rdma_write_bw rc_rdma_read_lat", "qperf -lp {p}",
     expect=r"(?s)rc_lat:.*rc_bw:.*rc_rdma_write_bw:.*rc_rdma_read_lat:\s+latency", addresses=(IPV4,), server_ends=False)
# Both ends disconnect with Sends that find no receive, more than the sockets hold
case("qperf, both directions", "qperf", "qperf -lp {p} -cm 1 -t 1 {a} rc_bi_bw", "qperf -lp {p}", expect=r"(?s)rc_bi_bw:\s+bw", addresses=(IPV4,),
     server_ends=False)

# --- What virtual machines, MPI and uDAPL do. uDAPL's test has a port of its own
QEMU = "qemu-system-x86_64 -M pc -m 64 -nodefaults -display none"
case("QEMU, migration", "qemu-system-x86", f"sh -c '(echo migrate rdma:{{a}}:{{p}}; echo info migrate; echo quit) | WEFT_LOG=info {QEMU} -monitor stdio'",
     f"{QEMU} -monitor none -incoming rdma:{{a}}:{{p}}", expect=r"(?s)(?=.*established: MPA)(?=.*Migration status: completed)",
     addresses=(IPV4, NIC), server_ends=False, needs="qemu-system-x86_64", large=True)
# Over UCX these transports alone are permitted.
UCX_TLS = "rc_verbs,ud_verbs,self"
UCX = f"env UCX_TLS={UCX_TLS}"
MPIRUN = f"{UCX} mpirun.openmpi --oversubscribe --mca pml ucx --mca osc ucx"
for ranks in (2, 4):
    case(f"mpi4py, Open MPI over UCX, {ranks} ranks", "python3-mpi4py", f"{MPIRUN} -n {ranks} /usr/bin/python3 -B mpi.py", expect=r"windows: ",
         addresses=(NIC,), roce=True, needs="/usr/lib/python3/dist-packages/mpi4py", large=ranks == 4)
# Each message is checked, in sizes up to 4 MiB; then the sizes are timed.
for kind, options, expect in (("", "-i -n 10", r"3145729 bytes .*Integrity check passed"), (", times", "-n 10", r"4194304 bytes .* Mbps")):
    case(f"NetPIPE, Open MPI over UCX{kind}", "netpipe-openmpi", f"{MPIRUN} -n 2 NPopenmpi {options} -u 4194304 -o np.{{p}}", expect=expect, addresses=(NIC,),
         roce=True, needs="NPopenmpi", large=True)
    case(f"NetPIPE, MPICH over UCX{kind}", "netpipe-mpich2", f"{UCX} mpirun.mpich -n 2 NPmpich2 {options} -u 4194304 -o np.{{p}}", expect=expect,
         addresses=(NIC,), roce=True, needs="NPmpich2", large=True)
case("HPC Challenge, Open MPI over UCX", "hpcc", f"sh -c '{MPIRUN} -n 2 hpcc && cat hpccoutf.txt'",
     expect=r"(?s)(?=.*Success=1)(?=.*MPIRandomAccess_Errors=0)(?=.*PTRANS_residual=0)(?=.* PASSED)(?!.* FAILED)", addresses=(NIC,), roce=True,
     needs="hpcc", large=True)
case("mpi4py, Open MPI over libfabric", "python3-mpi4py",
     "mpirun --oversubscribe -n 2 --mca pml cm --mca mtl ofi --mca mtl_ofi_provider_include 'verbs;ofi_rxm' -x WEFT_LOG=info /usr/bin/python3 -B mpi.py",
     expect=r"(?s)(?=.*established: MPA)(?=.*windows: 2 ranks)", addresses=(NIC,),
     needs="/usr/lib/python3/dist-packages/mpi4py", large=True)
case("gloo, 4 ranks", "libgloo0", "sh gloo.sh weft_nic0 {p}", expect=r"(ranks: 4, all sums are right\s+){4}", addresses=(NIC,), roce=True,
     needs="./gloo_all_reduce", large=True)
case("uDAPL, dtest", "dapl2-utils", "sh -c 'export DAT_OVERRIDE=dat.conf; dtest -P ofa-v2-lo -b 4096 >/dev/null & "
     "until dtest -P ofa-v2-lo -b 4096 -h {a}; do sleep 0.2; done; wait'", expect=r"DAPL Test Complete. PASSED", addresses=(IPV4,), needs="dtest",
     large=True)

case("uDAPL, dtest, its own connections", "dapl2-utils", "sh -c 'export DAT_OVERRIDE=dat.conf; dtest -P ofa-v2-scm -b 4096 >/dev/null & "
     "until dtest -P ofa-v2-scm -b 4096 -h {a}; do sleep 0.2; done; wait'", expect=r"DAPL Test Complete. PASSED", addresses=(NIC,), needs="dtest",
     large=True)

# --- iSCSI over RDMA (iSER): a disk of tgtd, which writes to and reads from the memory of libiscsi's programs
case("tgtd and libiscsi", "libiscsi-bin", "env WEFT_LOG=info sh iser.sh {a} {p}", "sh -c 'TGT_IPC_SOCKET=$HOME/tgt.{p} exec tgtd -f --iser port={p},pool_sz_mb=64'",
     expect=r"(?s)(?=.*established: MPA)(?=.*Total size:16777216)(?=.*iops average)(.*tests +\d+ +(\d+) +\2 +0 ){3}", addresses=(IPV4,),
     server_ends=False, needs="iscsi-test-cu", large=True)

# --- Ceph: a cluster of its own, and a disk image in it. All its programs talk RDMA
for name, kind in (("", "iwarp"), (", its own connections", "ib")):
    case(f"Ceph, rbd{name}", "ceph-common", "env WEFT_LOG=info sh ceph.sh use {a} {p}", f"sh ceph.sh serve {{a}} {{p}} {kind}",
         expect=r"(?s)(?=.*established: MPA)(?=.*ops: 64)(?=.*the same came back)", addresses=(NIC,), server_ends=False, needs="rbd", large=True)

# --- librpma: remote persistent memory
case("librpma", "librpma0", "env WEFT_LOG=info /usr/bin/python3 rpma.py client {a} {p}", "/usr/bin/python3 rpma.py server {a} {p}",
     expect=r"established: MPA", server_expect="the last octets are b'librpma.'", addresses=(IPV4, NIC), needs="/usr/lib/x86_64-linux-gnu/librpma.so.0", large=True)
