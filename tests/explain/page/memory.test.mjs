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
