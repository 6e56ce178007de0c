# SPDX-License-Identifier: Apache-2.0
"""An MPI program for cases.py: messages around a ring, all-to-all, reductions, sizes up to 4 MiB, and windows. Each rank checks what it
gets. Rank 0 prints one line for each part."""
import array
import sys
import time

from mpi4py import MPI

WORLD = MPI.COMM_WORLD
RANK, SIZE = WORLD.Get_rank(), WORLD.Get_size()
SIZES = (0, 1, 8, 1000, 8192, 65536, 1 << 20, 4 << 20)


def pattern(size, seed):
    return bytes((seed * 31 + i * 7) & 0xFF for i in range(min(size, 256))) * (size // 256 + 1)


def same(got, size, seed):
    if bytes(got[:size]) != pattern(size, seed)[:size]:
        sys.exit(f"rank {RANK}: {size} octets of seed {seed} are wrong")


def ring():
    for size in SIZES:
        out, into = bytearray(pattern(size, RANK)[:size]), bytearray(size)
        WORLD.Sendrecv([out, MPI.BYTE], (RANK + 1) % SIZE, recvbuf=[into, MPI.BYTE], source=(RANK - 1) % SIZE)
        same(into, size, (RANK - 1) % SIZE)


def all_to_all():
    for size in (1, 1000, 65536):
        out = b"".join(pattern(size, RANK * SIZE + to)[:size] for to in range(SIZE))
        into = bytearray(size * SIZE)
        WORLD.Alltoall([out, MPI.BYTE], [into, MPI.BYTE])
        for sender in range(SIZE):
            same(into[sender * size:], size, sender * SIZE + RANK)


def reductions():
    for count in (1, 1000, 100000):
        mine = array.array("d", [RANK + 1.0]) * count
        total = array.array("d", [0.0]) * count
        WORLD.Allreduce([mine, MPI.DOUBLE], [total, MPI.DOUBLE])
        if set(total) != {SIZE * (SIZE + 1) / 2}:
            sys.exit(f"rank {RANK}: the sum of {count} numbers is wrong")
    WORLD.Barrier()


def windows():
    size = 65536
    memory = MPI.Alloc_mem(size)
    window = MPI.Win.Create(memory, comm=WORLD)
    window.Fence()
    window.Put([bytearray(pattern(size, RANK)[:size]), MPI.BYTE], (RANK + 1) % SIZE)
    window.Fence()
    same(memory, size, (RANK - 1) % SIZE)
    into = bytearray(size)
    window.Get([into, MPI.BYTE], (RANK + 1) % SIZE)
    window.Fence()
    same(into, size, RANK)
    window.Free()
    counter = MPI.Win.Allocate(8, comm=WORLD)
    counter.Fence()
    for _ in range(10):
        counter.Accumulate([array.array("q", [1]), MPI.INT64_T], 0)
    counter.Fence()
    if RANK == 0 and array.array("q", bytes(counter.tomemory()))[0] != 10 * SIZE:
        sys.exit("the window's counter is wrong")
    counter.Free()


for part in (ring, all_to_all, reductions, windows):
    begin = time.monotonic()
    part()
    WORLD.Barrier()
    if RANK == 0:
        print(f"{part.__name__}: {SIZE} ranks, {time.monotonic() - begin:.3f} s", flush=True)
