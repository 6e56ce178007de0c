# SPDX-License-Identifier: Apache-2.0
"""The table of samples that break one rule each; the other samples_*.py fill it."""

from dataclasses import dataclass, field

SAMPLES = []


@dataclass
class Sample:
    clause: str
    shows: str
    severity: str
    also: list
    tell: object = field(repr=False)

    @property
    def name(self):
        return self.clause.lower()


def sample(clause, shows, *, severity="violation", also=()):
    """`also`: clauses that the same octets cannot but break too."""

    def register(tell):
        SAMPLES.append(Sample(clause, shows, severity, list(also), tell))
        return tell

    return register
