# SPDX-License-Identifier: Apache-2.0
"""Which test programs look at a room: its own, the quickest first, and then those of the rooms above."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class Room:
    def __init__(self, folders, own, above=(), again=False):
        self.folders, self.own, self.above = folders, own, above
        self.again = again  # its tests have threads and clocks: a failure counts when it comes twice

    @property
    def programs(self):
        return [*self.own, *self.above]

    def files(self, root):
        return sorted(str(path.relative_to(root)) for folder in self.folders for path in (root / folder).glob("*.?pp"))


VERBS_WINGS = [f"verbs/{wing}" for wing in ("connecting", "detail", "log", "memory", "progress", "stream")]
ENGINE = ["engine_clauses", "engine_test"]
AUDIT = ["conformance_clauses", "conformance_clauses_ddp", "conformance_clauses_rdmap"]
ROOMS = {
    "mpa": Room(["mpa"], ["mpa_clauses", "mpa_test"], ENGINE),
    "ddp": Room(["ddp"], ["ddp_clauses", "ddp_test"], ENGINE),
    "rdmap": Room(["rdmap"], ["rdmap_clauses", "rdmap_test"], ENGINE),
    "engine": Room(["engine"], ENGINE),
    "conformance/rules": Room(["conformance/rules"], [*AUDIT, "conformance_test"]),
    "verbs": Room(["verbs", *VERBS_WINGS],
                  ["verbs_policy_text_test", "verbs_operations_test", "verbs_clauses", "verbs_window_test", "verbs_arguments_test",
                   "verbs_errors_test", "verbs_ending_test", "verbs_limits_test", "verbs_startup_test", "verbs_log_test", "verbs_fork_test",
                   "verbs_connection_test", "verbs_backlog_test", "verbs_turns_test", "verbs_progress_test", "verbs_forgotten_test",
                   "verbs_allocation_test", "verbs_idle_memory_test", "verbs_out_of_memory_test", "verbs_memory_test"], again=True),
}


def test_folder(program):
    """Where a program's sources are."""
    return f"tests/{program.split('_')[0]}"
