# SPDX-License-Identifier: Apache-2.0
"""All faults, in the order of the layers. Their numbers are their places here."""

from . import mpa_startup, mpa_responder, mpa_initiator, mpa_fpdu, ddp, rdmap, terminate, engine, verbs
from .rows import TABLE

FAULTS = TABLE.rows
for number, fault in enumerate(FAULTS, 1):
    fault.number = number
__all__ = ["FAULTS", "mpa_startup", "mpa_responder", "mpa_initiator", "mpa_fpdu", "ddp", "rdmap", "terminate", "engine", "verbs"]
