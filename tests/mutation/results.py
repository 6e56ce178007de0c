# SPDX-License-Identifier: Apache-2.0
"""What became of each fault, kept from run to run, and the report of it.

A result holds as long as the file with the fault is the same, and: for a fault that was noticed, the file of the test that noticed
it; for one that was not, all tests that could have."""

import csv
import hashlib
import json
from pathlib import Path

NOTICED = ("noticed", "timed out")


def digest(*paths):
    """Of files, and of all files in folders."""
    sums = hashlib.sha256()
    for path in paths:
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file() and "__pycache__" not in file.parts:
                sums.update(str(file.name).encode() + b"\0" + file.read_bytes())
    return sums.hexdigest()[:16]


class Results:
    def __init__(self, file, root):
        self.file, self.root = file, root
        self.all = json.loads(file.read_text()) if file.exists() else {}
        self.digests = {}

    def sum_of(self, *names):
        if names not in self.digests:
            self.digests[names] = digest(*[self.root / name for name in names])
        return self.digests[names]

    def depends_on(self, result, folders):
        if result["outcome"] == "not compiled":
            return []
        if result["outcome"] in NOTICED and (self.root / result["place"]).is_file() and result["place"]:
            return [result["place"]]
        return sorted(set(folders))

    def known(self, fault, folders):
        """The result, if it still holds."""
        result = self.all.get(fault.key)
        if result is None or result["source"] != self.sum_of(fault.path):
            return None
        result.update(line=fault.line, column=fault.column)
        return result if result["tests"] == self.sum_of(*self.depends_on(result, folders)) else None

    def add(self, room, fault, outcome, folders, by="", place="", switched=True):
        result = {"room": room, "path": fault.path, "line": fault.line, "column": fault.column, "text": fault.text,
                  "kind": fault.kind, "before": fault.before, "after": fault.after, "outcome": outcome, "by": by, "place": place, "switched": switched,
                  "source": self.sum_of(fault.path)}
        result["tests"] = self.sum_of(*self.depends_on(result, folders))
        self.all[fault.key] = result
        return result

    def save(self):
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.with_suffix(".new").write_text(json.dumps(self.all, indent=1, sort_keys=True) + "\n")
        self.file.with_suffix(".new").rename(self.file)


def equivalents(file):
    """(path, line's text, column, before, after) -> why no test can tell."""
    with open(file, newline="") as rows:
        return {(r["path"], r["line"], int(r["column"]), r["before"], r["after"]): r["why"] for r in csv.DictReader(rows)}


def name_of(result):
    return result["path"], result["text"], result["column"], result["before"], result["after"]


def table(results, excused):
    """Per room: compiled, noticed, equivalent, survived, per cent of those that are not equivalent."""
    rows = {}
    for result in results:
        if result["outcome"] == "not compiled":
            continue
        row = rows.setdefault(result["room"], {"tried": 0, "noticed": 0, "equivalent": 0, "survived": 0})
        row["tried"] += 1
        if result["outcome"] in NOTICED:
            row["noticed"] += 1
        else:
            row["equivalent" if name_of(result) in excused else "survived"] += 1
    for row in rows.values():
        counted = row["noticed"] + row["survived"]
        row["percent"] = round(100 * row["noticed"] / counted, 1) if counted else 100.0
    return rows


def report(results, excused, heading):
    """Markdown and what goes into JSON."""
    rows = table(results, excused)
    lines = [f"# {heading['title']}", "", heading["text"], "", "| room | tried | noticed | equivalent | survived | % |",
             "|---|---|---|---|---|---|"]
    total = {k: sum(row[k] for row in rows.values()) for k in ("tried", "noticed", "equivalent", "survived")}
    counted = total["noticed"] + total["survived"]
    total["percent"] = round(100 * total["noticed"] / counted, 1) if counted else 100.0
    for name, row in [*sorted(rows.items()), ("all", total)]:
        lines.append(f"| {name} | {row['tried']} | {row['noticed']} | {row['equivalent']} | {row['survived']} | {row['percent']} |")
    left = [r for r in results if r["outcome"] == "survived"]
    survivors = [r for r in left if name_of(r) not in excused]
    lines += ["", "## Survivors", "", *(_row(r) for r in survivors), *([] if survivors else ["None."])]
    lines += ["", "## Equivalent", "", *(f"{_row(r)}: {excused[name_of(r)]}" for r in left if name_of(r) in excused)]
    return "\n".join(lines) + "\n", {"rooms": rows, "all": total, "results": results}


def _row(result):
    line = f" in `{result['text']}`" if result["kind"] != "statement" else ""
    return f"- {result['path']}:{result['line']}:{result['column']} {result['kind']}: `{result['before']}` -> `{result['after']}`{line}"
