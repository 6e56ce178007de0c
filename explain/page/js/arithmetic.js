// SPDX-License-Identifier: Apache-2.0
// Padding and CRC of an FPDU, as one would work them out on paper.

const kVerdicts = {
  good: "The CRC is right.",
  bad: "The CRC is wrong.",
  "not in use": "CRCs are not in use on this connection: the field is there and means nothing.",
};

function pad_lines(pad) {
  return (
    pad &&
    el(
      "div.sum",
      {},
      el("h3", {}, "Padding"),
      el("p", {}, el("code", {}, pad.words)),
      el(
        "p.why",
        {},
        pad.octets
          ? `${count(pad.octets, "octet")} of PAD, sent as zero, bring the FPDU to a multiple of four. The CRC covers them.`
          : "Length, ULPDU and CRC already come to a multiple of four octets.",
      ),
    )
  );
}

function crc_compare(crc) {
  if (crc.verdict === "not in use" || !crc.computed) return undefined;
  return el(
    "p",
    {},
    "in the FPDU ",
    el("code", {}, crc.field),
    crc.verdict === "bad" ? " but computed " : " as computed ",
    el("code", {}, crc.computed),
  );
}

function crc_lines(crc, has_markers) {
  return (
    crc &&
    el(
      `div.sum${crc.verdict === "bad" ? ".violation" : ""}`,
      {},
      el("h3", {}, "CRC32C"),
      el("p", {}, el("b", {}, kVerdicts[crc.verdict] ?? crc.verdict), " ", crc.words && `It runs ${crc.words}.`),
      crc_compare(crc),
      el(
        "p.why",
        {},
        "The field has the least significant octet first",
        has_markers ? "; the Markers inside the FPDU are covered, too." : ".",
      ),
    )
  );
}

function draw_arithmetic(row) {
  if (!row.pad && !row.crc) return undefined;
  return el("div.sums", {}, pad_lines(row.pad), crc_lines(row.crc, row.markers?.length));
}
