# SPDX-License-Identifier: Apache-2.0
"""Where the files of this folder put their rows: TABLE.file(path)(id, group, clauses, what is wrong, old text, new text, ...).

The old text is an expression, or a statement when it ends with `;` or `}`; the new one takes its place when the fault is on."""

from fault import Table

TABLE = Table()
SMALL = "max-ulpdu=128"  # so that a peer sends messages in several segments
