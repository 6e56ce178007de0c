// SPDX-License-Identifier: Apache-2.0
// The laboratory's page, over a laboratory of these tests (fake_laboratory.js): edit, repair, drop, double, move, step by step.
import assert from "node:assert/strict";
import test, {after, before} from "node:test";
import {close_page, open_page, start_browser, text, write_page} from "./browser.mjs";
import {small_model} from "./models.mjs";

let browser, path;
const model = small_model();
const {rows} = model.connections[1];
const write_row = rows.findIndex((row) => row.words === "RDMA Write") + 1;
before(async () => {
  browser = await start_browser();
  path = write_page("laboratory", model, {fake: true});
});
after(() => browser.close());

async function open_laboratory(row = 3) {
  const page = await open_page(browser, path, {hash: `#row=${row}&tab=laboratory&connection=2`});
  await page.locator(".lab").waitFor();
  return page;
}
const press = (page, words) => page.locator(".lab-bar button", {hasText: new RegExp(`^${words}$`)}).click();
const errors = (page) => page.locator(".lab-answer .finding").count();
const choose = (page, words) => page.locator(".piece", {hasText: words}).first().click();

// Two hex digits into an octet of the chosen piece.
async function edit(page, field, nth, digits) {
  await page.locator(".editor-boxes .field", {hasText: field}).first().locator(".octet").nth(nth).click();
  await page.keyboard.type(digits);
}

test("the whole connection, as captured", async () => {
  const page = await open_laboratory();
  await press(page, "All");
  assert.match(await text(page, ".lab-answer"), /message delivered.*to the receive posted first/s);
  assert.match(
    await text(page, ".lab-answer .sent.terminate"),
    /Terminate, with this error/,
    "the last Write was refused in the capture, too",
  );
  const cause = /The STag is invalid/gi;
  assert.equal((await text(page, ".lab-answer .answer")).match(cause).length, 1, "the cause is told once");
  await close_page(page);
});

test("an edited STag, with the CRC repaired, is refused with a Terminate", async () => {
  const page = await open_laboratory(write_row);
  assert.match(await text(page, ".piece[aria-selected=true]"), /RDMA Write/);
  await edit(page, "STag", 3, "77");
  assert.match(await text(page, ".piece[aria-selected=true]"), /edited/);
  assert.equal(await page.locator(".octet.changed").count(), 5, "one octet of the STag, four of the CRC");
  await press(page, "Up to the chosen one");
  const answer = await text(page, ".lab-answer");
  assert.match(answer, /The STag is invalid, or allows no placement/);
  assert.match(answer, /layer 1, type 1, code 0.*DDP-4.2-01/s);
  assert.match(await text(page, ".sent.terminate table"), /QN\s+0x00000002.*Error Code\s+0x00/s);
  assert.match(answer, /The connection is over/);
  assert.ok(await page.locator(".lab-bar button", {hasText: "One octet"}).isDisabled());
  await close_page(page);
});

test("the same edit without repair fails the CRC", async () => {
  const page = await open_laboratory(write_row);
  await page.locator("#repair").uncheck();
  await edit(page, "STag", 3, "77");
  assert.equal(await page.locator(".octet.changed").count(), 1);
  await press(page, "Up to the chosen one");
  assert.match(await text(page, ".lab-answer"), /The CRC of the FPDU is wrong.*MPA-4.4-13 The CRC field is sent/s);
  await page.locator("#repair").check();
  assert.match(await text(page, ".lab-answer"), /RDMA mode/, "the run stands in front of what has changed");
  await press(page, "Up to the chosen one");
  assert.match(await text(page, ".lab-answer"), /The STag is invalid/);
  await close_page(page);
});

test("one octet, one FPDU; bits; begin again", async () => {
  const page = await open_laboratory();
  for (let i = 0; i < 3; ++i) await page.keyboard.press("o");
  assert.match(await text(page, ".piece.next"), /MPA Request\s*3 of 24/);
  await page.keyboard.press("p");
  assert.match(await text(page, ".engine-state"), /RDMA mode.*It waits for an FPDU/s);
  await page.keyboard.press("p");
  assert.match(await text(page, ".lab-answer .region.lit"), /Placed into receive 1.*28 octets placed at offset 0/s);
  await choose(page, "MPA Request");
  await page.locator(".bit").nth(7).click();
  assert.equal(await page.locator(".octet-line input").inputValue(), "4c");
  assert.match(await text(page, ".engine-state"), /Nothing has been fed yet/);
  await press(page, "As captured");
  assert.equal(await page.locator(".octet-line input").inputValue(), "4d");
  await close_page(page);
});

test("drop, duplicate, move", async () => {
  const page = await open_laboratory();
  const words = () =>
    page.locator(".piece .piece-words").evaluateAll((nodes) => nodes.slice(0, 3).map((node) => node.lastChild.textContent));
  await choose(page, /^.*Send/);
  await page.locator(".lab-list button", {hasText: "Duplicate"}).click();
  assert.deepEqual(await words(), ["MPA Request", "Send", "Send"]);
  assert.match(await text(page, ".piece[aria-selected=true]"), /copy/);
  await page.locator(".lab-list button", {hasText: "Move up"}).click();
  await page.locator(".lab-list button", {hasText: "Move up"}).click();
  assert.deepEqual(await words(), ["Send", "MPA Request", "Send"]);
  await page.locator(".lab-list button", {hasText: "Drop"}).click();
  assert.equal(await page.locator(".piece.dropped").count(), 1);
  assert.match(await text(page, ".piece.next"), /MPA Request/);
  await press(page, "One FPDU");
  await press(page, "One FPDU");
  assert.equal(await errors(page), 0);
  assert.match(await text(page, ".lab-answer"), /message delivered/);
  await close_page(page);
});

test("an end that cannot be played is told in words, and the other can be chosen again", async () => {
  const silent = structuredClone(model);
  for (const row of silent.connections[1].rows) if (row.from === "responder") row.kind = "tcp";
  const page = await open_page(browser, write_page("silent", silent, {fake: true}), {hash: "#row=3&tab=laboratory&connection=2"});
  await page.locator(".lab").waitFor();
  await page.locator("input[value=responder]").focus();
  await page.keyboard.press("ArrowRight");
  assert.match(await text(page, "#laboratory-pane"), /nothing that the responder sent/);
  assert.equal(await page.evaluate(() => document.activeElement.value), "initiator");
  await page.keyboard.press("a");
  await page.keyboard.press("j");
  await page.locator("input[value=responder]").click();
  await page.locator(".lab").waitFor();
  await close_page(page);
});

test("by keys alone", async () => {
  const page = await open_laboratory();
  await page.locator(".pieces").focus();
  while (!/^RDMA Write$/m.test(await text(page, ".piece[aria-selected=true]"))) await page.keyboard.press("ArrowDown");
  while ((await page.evaluate(() => document.activeElement.id)) !== "octet-value") await page.keyboard.press("Tab");
  for (let octet = 0; octet < 4; ++octet) await page.keyboard.press("ArrowRight");
  assert.match(await text(page, ".octet-form label"), /Octet 4 · STag/);
  await page.keyboard.type("00");
  while (!/^Up to the chosen one$/.test(await page.evaluate(() => document.activeElement.textContent)))
    await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("Enter");
  assert.match(await text(page, ".lab-answer .finding"), /The STag is invalid/);
  await close_page(page);
});

test("a page without a laboratory says so", async () => {
  const page = await open_page(browser, write_page("without", model), {hash: "#row=3&tab=laboratory"});
  await page.waitForFunction(() =>
    document.querySelector("#laboratory-pane").textContent.includes("This page has no laboratory"),
  );
  await close_page(page);
});
