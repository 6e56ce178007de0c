// SPDX-License-Identifier: Apache-2.0
// Search: only rows that have all the words typed stay in the ladder.

function searched_text(row) {
  const findings = findings_of(row).map((finding) => `finding ${finding.severity} ${finding.clause}`);
  return `${row.words} ${row.from} packet ${row.packet} ${row.crc?.verdict === "bad" ? "bad crc" : ""} ${findings.join(" ")}`.toLowerCase();
}

// "packet 12" is not packet 120: a number has to fit as a whole.
function has_word(text, word) {
  return /^\d+$/.test(word) ? new RegExp(`(^|[^0-9])${word}([^0-9]|$)`).test(text) : text.includes(word);
}

function find_rows() {
  const words = by_id("find").value.toLowerCase().split(/\s+/).filter(Boolean);
  const all = rows().map((_, index) => index);
  const found = words.length ? all.filter((index) => words.every((word) => has_word(searched_text(rows()[index]), word))) : all;
  show_rows(found);
  by_id("found").textContent = words.length ? `${found.length.toLocaleString("en")} of ${all.length.toLocaleString("en")}` : "";
}

function start_find() {
  by_id("find").addEventListener("input", find_rows);
  by_id("find").addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === "ArrowDown") {
      if (rows_shown.length && !rows_shown.includes(looking.row)) choose_row(rows_shown[0]);
      by_id("ladder").focus();
    } else if (event.key === "Escape") {
      event.target.value = "";
      find_rows();
    } else return;
    event.preventDefault();
  });
  when("connection", () => {
    by_id("find").value = "";
    by_id("found").textContent = "";
  });
}
