# SPDX-License-Identifier: Apache-2.0
"""Where the files of this folder put their rows: TABLE.file(path)(id, group, clauses, what is wrong, old text, new text, ...)."""

from fault import Table

TABLE = Table()
SMALL = "max-ulpdu=128"  # so that a peer sends messages in several segments
from . import mpa_startup, mpa_responder, mpa_initiator, mpa_fpdu, ddp, rdmap, terminate, engine, verbs  # noqa: E402,F401
from . import place, value, combination  # noqa: E402,F401

FAULTS = TABLE.rows
