#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether bench/siw/perftest_in_vm.py still reads what its guest says. Boots nothing: the lines are of a real run."""
import argparse
import pathlib
import sys
import tempfile

sys.path.insert(0, sys.argv[1])
import perftest_in_vm  # noqa: E402
from transcript import Transcript  # noqa: E402

LATENCY_HEADER = (" #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   "
                  "99% percentile[usec]   99.9% percentile[usec] ")
BANDWIDTH_HEADER = " #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]"
SAID = f"""\
@guest kernel 6.1.0-56-amd64
@guest processor Intel Core i7 9xx (Nehalem Class Core i7)
@pair siw on ib_send_lat -s 64 -n 300 -e
{LATENCY_HEADER}
 64      300          24.77          31.44        25.14    \t       25.22       \t0.46   \t\t29.50   \t\t31.44  
@account server 0.41 0.01 305 117
@account client 0.41 0.02 300 118
@end 0
@pair weft on ib_send_lat -s 64 -n 300 -e
RDMA CM event error:
Event: RDMA_CM_EVENT_REJECTED; error: -111.
@account server
@account client 0.37 1.32 27 32
@end 1
@pair weft on ib_send_lat -s 64 -n 300 -e
{LATENCY_HEADER}
 64      300          33.70          46.14        50.28    \t       34.50       \t2.27   \t\t45.99   \t\t46.14  
@end 0
@pair siw on ib_read_bw -s 65536 -n 100 -e
{BANDWIDTH_HEADER}
 65536      100              195.46             100.00 \t\t   0.003127
@end 0
@pair weft on ib_read_bw -s 65536 -n 100 -e
{BANDWIDTH_HEADER}
 65536      100              433.51             250.00 \t\t   0.006936
@end 0
@pair siw off ib_read_bw -s 65536 -n 100 -e
no figures, though it says that all went well
@end 0
@done
""".replace("\n", "\r\n")  # the guest's port is a terminal


def check_transcript():
    transcript = Transcript()
    ended = [run for run in map(transcript.take, SAID.splitlines(keepends=True)) if run]
    assert ended == transcript.runs and len(ended) == 4 and transcript.done, transcript.runs
    assert list(transcript.guest.values()) == ["6.1.0-56-amd64", "Intel Core i7 9xx (Nehalem Class Core i7)"], transcript.guest
    first = {"figure": 25.14, "lowest": 24.77, "average": 25.22, "stack": "siw", "crc": "on", "program": "ib_send_lat",
             "words": ["-s", "64", "-n", "300", "-e"], "user_seconds": 0.82, "system_seconds": 0.03, "sleeps": 605,
             "preemptions": 235}
    assert ended[0] == first, ended[0]
    why = [failure["why"] for failure in transcript.failures]
    assert len(why) == 2 and "REJECTED; error: -111" in why[0] and "no figures" in why[1], transcript.failures
    return transcript


def check_summary(runs):
    arguments = perftest_in_vm.parse_arguments(["--crc", "on"])
    rows = {(row["program"], row["size"]): row for row in perftest_in_vm.summaries(runs, "count", arguments)}
    assert list(rows) == [("ib_send_lat", 64), ("ib_read_bw", 65536)], rows  # the others have no figures
    latency, bandwidth = rows.values()
    assert (latency["unit"], latency["weft_speed"], latency["median_of_pairs"]) == ("us", 0.5, 0.5), latency
    assert (bandwidth["unit"], bandwidth["weft"], bandwidth["weft_speed"]) == ("MB/s", 262.144, 2.5), bandwidth


def check_plan():
    """Both in every row and repetition, in turns, and the one that goes first changes."""
    for way in ("count", "tcg"):
        arguments = perftest_in_vm.parse_arguments(["--repetitions", "2", "--accel", way])
        assert arguments.ways == [way], arguments
        lines = perftest_in_vm.plan(way, arguments)
        half = len(lines) // 2
        assert len(lines) == 2 * 2 * 2 * len(perftest_in_vm.cells(way, arguments)), lines
        assert [line.split()[0] for line in lines] == ["siw", "weft"] * (half // 2) + ["weft", "siw"] * (half // 2), lines
        assert all(a.split()[1:] == b.split()[1:] for a, b in zip(lines[::2], lines[1::2])), lines
        assert all(line.endswith(" -e") and "write" not in line for line in lines) == (way == "count"), lines
    assert len(perftest_in_vm.cells("tcg", arguments)) == 12


def check_missing():
    with tempfile.TemporaryDirectory() as empty:
        weft = pathlib.Path(empty) / "weft"
        wanted = argparse.Namespace(weft=str(weft), libraries=empty, accel="tcg")
        assert "build weft first" in perftest_in_vm.missing(wanted)
        weft.touch()
        assert "no drop-in libraries" in perftest_in_vm.missing(wanted)


def main():
    transcript = check_transcript()
    check_summary(transcript.runs)
    check_plan()
    check_missing()
    return 0


if __name__ == "__main__":
    sys.exit(main())
