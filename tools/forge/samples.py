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
    variant: str
    tell: object = field(repr=False)

    @property
    def name(self):
        return self.clause.lower() + (f"-{self.variant}" if self.variant else "")


def sample(clause, shows, *, severity="violation", also=(), variant=""):
    """`also`: clauses that the same octets cannot but break too. `variant`: a word for another way to break the same clause."""

    def register(tell):
        SAMPLES.append(Sample(clause, shows, severity, list(also), variant, tell))
        return tell

    return register
