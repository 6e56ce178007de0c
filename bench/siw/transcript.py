# SPDX-License-Identifier: Apache-2.0
"""What guest.sh says, as figures."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from drop_in_overhead import Failed, numbers_behind  # noqa: E402


def figures(program, said):
    """What the client of a perftest program measured: us, or MB/s (10^6 octets)."""
    row = numbers_behind(said, "#bytes")
    if program.endswith("_lat"):
        # t_typical: the median of half the round trips, and with Reads of whole ones
        return {"figure": row[4], "lowest": row[2], "average": row[5]}
    return {"figure": row[3] * 2**20 / 1e6}  # its MB are 2^20 octets


class Transcript:
    """Takes the lines of the guest one by one; `runs` are the pairs that went well, `failures` what the others said."""

    def __init__(self):
        self.guest, self.runs, self.failures, self.done = {}, [], [], False
        self._pair, self._said, self._accounts = None, [], {}

    def take(self, line):
        """Returns the run that ended with this line, if one did and went well."""
        word, _, rest = line.rstrip("\r\n").partition(" ")
        if word == "@guest":
            key, _, self.guest[key] = rest.partition(" ")
        elif word == "@pair":
            self._pair, self._said, self._accounts = rest, [], {}
        elif word == "@account":
            which, *numbers = rest.split()
            self._accounts[which] = [float(number) for number in numbers]
        elif word == "@end":
            return self._end(rest)
        elif word == "@done":
            self.done = True
        else:
            self._said.append(line.rstrip("\r\n"))
        return None

    def _end(self, code):
        stack, crc, program, *words = self._pair.split()
        said = "\n".join(self._said)
        try:
            if code != "0":
                raise Failed(f"exit code {code}:\n{said}")
            run = figures(program, said)
        except (Failed, IndexError, ValueError) as failed:
            self.failures.append({"pair": self._pair, "why": str(failed)})
            return None
        run.update(stack=stack, crc=crc, program=program, words=words, **self._cost())
        self.runs.append(run)
        return run

    def _cost(self):
        """Of both ends together, from start to end; what the kernel did in the name of others is not in it."""
        rows = [row for row in self._accounts.values() if len(row) == 4]
        if len(rows) != 2:
            return {}
        user, system, slept, waited = (sum(column) for column in zip(*rows))
        return {"user_seconds": round(user, 2), "system_seconds": round(system, 2), "sleeps": int(slept),
                "preemptions": int(waited)}
