# SPDX-License-Identifier: Apache-2.0
"""Two processes of MPI that exchange a number and a megabyte; cases.py runs it."""
from mpi4py import MPI

world = MPI.COMM_WORLD
rank = world.Get_rank()
total = world.allreduce(rank + 1)
octets = world.bcast(b"x" * 1000000 if rank == 0 else None)
print(f"rank {rank}: sum {total}, {len(octets)} octets")
