// SPDX-License-Identifier: Apache-2.0
// Memory: where a segment lands, what is there already, and the queues before and after.
import assert from "node:assert/strict";
import test, {after, before} from "node:test";
import {close_page, open_page, start_browser, text, write_page} from "./browser.mjs";
import {small_model} from "./models.mjs";

let browser, path;
const model = small_model();
const {rows} = model.connections[0];
const row_of = (words) => rows.findIndex((row) => row.words === words) + 1;
before(async () => {
  browser = await start_browser();
  path = write_page("small", model);
});
after(() => browser.close());

const open = (words) => open_page(browser, path, {hash: `#row=${row_of(words)}&tab=memory`});

test("a tagged segment lights up where it lands", async () => {
  const page = await open("RDMA Write, segment 2 of 3");
  const lit = page.locator(".end.arrives .region.lit");
  assert.match(await lit.innerText(), /STag 0x9b513000.*remote write.*1,386 octets placed at offset 1,386, up to 2,771/s);
  const [bar, now, placed] = await lit.evaluate((node) =>
    [".bar", ".span.now", ".span.placed"]
      .map((name) => node.querySelector(name).getBoundingClientRect())
      .map(({left, width}) => ({left, width})),
  );
  assert.ok(Math.abs(now.left - bar.left - (bar.width * 1386) / 4096) < 2);
  assert.ok(Math.abs(placed.width - (bar.width * 1386) / 4096) < 2, "the first segment is there already");
  assert.match(await text(page, ".dump"), /0x7f6947a6156a {2}01 02 03/);
  await close_page(page);
});

test("an untagged segment goes into a receive, and the MSN counts on", async () => {
  const page = await open("Send");
  assert.match(await text(page, ".receive.lit"), /Queue 0, MSN 1.*28 octets placed/s);
  assert.match(await text(page, ".state .changed"), /Next MSN, queue 0 \(Sends\)\s+1\s+→\s+2/);
  await close_page(page);
});

test("a request shows what it reads; a refused Write places nothing", async () => {
  const page = await open("RDMA Read Request");
  assert.match(await text(page, ".end.arrives .region.asked"), /40 octets at offset 16: read from here/);
  await page.keyboard.press("f");
  assert.match(await text(page, "#memory-pane .lesson"), /Refused: not one octet of it was placed/);
  assert.equal(await page.locator(".lit").count(), 0);
  await close_page(page);
});

// The region of an STag that a Send with Invalidate takes back.
function revoking_model() {
  const changed = structuredClone(model);
  const [of] = changed.connections;
  const send = of.rows.find((row) => row.words === "Send with Invalidate");
  send.touches = {region: 0, offset: 0, octets: 0, how: "invalidate"};
  return [changed, of.rows.indexOf(send)];
}

test("a revoked STag is not shown as registered, from its row on", async () => {
  const [changed, send] = revoking_model();
  const revoking = write_page("revoking", changed);
  for (const [row, chips] of [
    [send - 1, ["sink of reads"]],
    [send, ["revoked"]],
    [send + 1, ["revoked"]],
  ]) {
    const page = await open_page(browser, revoking, {hash: `#row=${row + 1}&tab=memory`});
    const region = page.locator(".region", {hasText: "0x0102aa00"});
    assert.deepEqual(await region.locator(".chip").allInnerTexts(), chips, `row ${row + 1}`);
    if (row > send) {
      assert.match(await region.innerText(), new RegExp(`Row ${send + 1} has revoked this STag`));
      await region.locator(".link").click();
      assert.equal(await page.locator(".row[aria-selected=true]").getAttribute("data-index"), `${send}`);
    }
    await close_page(page);
  }
});

test("an STag that is used again after it was revoked was registered again", async () => {
  const [changed, send] = revoking_model();
  const again = changed.connections[0].rows.find((row, index) => index > send && row.from === "responder" && row.kind === "fpdu");
  again.placed = {region: 0, offset: 0, octets: 8};
  const index = changed.connections[0].rows.indexOf(again);
  const page = await open_page(browser, write_page("again", changed), {hash: `#row=${index + 1}&tab=memory`});
  assert.deepEqual(await page.locator(".region", {hasText: "0x0102aa00"}).locator(".chip").allInnerTexts(), ["sink of reads"]);
  await close_page(page);
});

test("a receive that Immediate Data took is not empty, it is taken", async () => {
  const changed = structuredClone(model);
  const send = changed.connections[0].rows.findIndex((row) => row.words === "Send");
  const row = changed.connections[0].rows[send];
  row.takes = row.placed.receive;
  delete row.placed;
  const taking = write_page("taking", changed);
  for (const at of [send, send + 1]) {
    const page = await open_page(browser, taking, {hash: `#row=${at + 1}&tab=memory`});
    const receive = page.locator(".receive", {hasText: "Queue 0, MSN 1"}).first();
    assert.match(await receive.innerText(), /taken.*Immediate Data took it: the completion has its octets/s);
    await close_page(page);
  }
});
