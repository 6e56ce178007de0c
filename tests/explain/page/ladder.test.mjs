// SPDX-License-Identifier: Apache-2.0
// The page opens, and its ladder is walked by mouse and by keys.
import assert from "node:assert/strict";
import {statSync} from "node:fs";
import test, {after, before} from "node:test";
import {close_page, open_page, start_browser, text, write_page} from "./browser.mjs";
import {small_model} from "./models.mjs";

let browser, path;
const model = small_model();
before(async () => {
  browser = await start_browser();
  path = write_page("small", model);
});
after(() => browser.close());

test("the page says what it shows", async () => {
  const page = await open_page(browser, path);
  assert.ok(statSync(path).size < 3 << 20);
  assert.match(await page.title(), /weft explain/);
  assert.match(await text(page, "#about"), /MPA revision 2.*CRCs in use.*Markers in what the initiator and the responder sends/s);
  assert.equal(await page.locator(".row").count(), model.connections[0].rows.length);
  await close_page(page);
});

test("the page's own policy lets nothing out", async () => {
  const page = await open_page(browser, path);
  assert.equal(
    await page.evaluate(() =>
      fetch("http://127.0.0.1:9/").then(
        () => "went",
        () => "refused",
      ),
    ),
    "refused",
  );
  assert.ok(page.faults.every((fault) => /Content Security Policy/.test(fault)) && page.faults.length > 0, page.faults.join());
  page.faults.length = 0;
  await close_page(page);
});

test("what a capture holds is text, never HTML", async () => {
  const page = await open_page(browser, path, {hash: "#row=5"});
  assert.equal(await text(page, "#source"), model.source);
  assert.equal(await page.locator("i, #octets-pane script").count(), 0);
  await page.locator(".field", {hasText: "STag"}).first().click();
  await page.keyboard.press("j");
  await page.locator(".field", {hasText: "STag"}).first().click();
  assert.match(await text(page, "#card"), /a clause became a script/);
  await close_page(page);
});

test("a row chosen by mouse shows its octets", async () => {
  const page = await open_page(browser, path);
  await page.locator(".row", {hasText: "RDMA Read Request"}).click();
  assert.equal(await text(page, "#octets-pane h2"), "RDMA Read Request");
  assert.match(await text(page, "#octets-pane .lesson"), /The Data Sink asks for octets/);
  await page.locator(".links button", {hasText: "answered by"}).click();
  assert.equal(await text(page, "#octets-pane h2"), "RDMA Read Response");
  assert.equal(await text(page, ".row[aria-selected=true] .words small"), "40 octets");
  await close_page(page);
});

test("keys walk the ladder", async () => {
  const page = await open_page(browser, path);
  const chosen = async () => Number(await page.locator(".row[aria-selected=true]").getAttribute("data-index"));
  await page.locator("#ladder").focus();
  await page.keyboard.press("Home");
  assert.equal(await chosen(), 0);
  for (const key of ["ArrowDown", "ArrowDown", "ArrowUp", "j", "k", "j"]) await page.keyboard.press(key);
  assert.equal(await chosen(), 2);
  await page.keyboard.press("End");
  assert.equal(await chosen(), model.connections[0].rows.length - 1);
  assert.equal(
    await page.locator("#ladder").getAttribute("aria-activedescendant"),
    await page.locator(".row[aria-selected=true]").getAttribute("id"),
  );
  await page.keyboard.press("f");
  assert.match(await text(page, ".finding"), /never seen before/);
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement.id), "octets-pane");
  await close_page(page);
});

test("segments of a message lead to each other", async () => {
  const page = await open_page(browser, path);
  await page.locator(".row", {hasText: "segment 1 of 3"}).click();
  assert.equal(await page.locator(".row.kin").count(), 3);
  await page.keyboard.press("l");
  await page.keyboard.press("l");
  assert.equal(await text(page, "#octets-pane h2"), "RDMA Write segment 3 of 3, last");
  assert.match(await text(page, "#octets-pane .lesson"), /with this segment the message is complete/);
  await close_page(page);
});

test("search leaves the rows that have the words", async () => {
  const page = await open_page(browser, path);
  await page.keyboard.press("/");
  await page.keyboard.type("read request");
  assert.equal(await page.locator(".row").count(), 1);
  await page.keyboard.press("Enter");
  assert.equal(await text(page, "#octets-pane h2"), "RDMA Read Request");
  await page.locator("#find").fill("violation");
  assert.equal(await page.locator(".row").count(), 1);
  await page.locator("#find").press("Escape");
  assert.equal(await page.locator(".row").count(), model.connections[0].rows.length);
  await close_page(page);
});

test("the address leads to a row, a view and a connection", async () => {
  const page = await open_page(browser, path, {hash: "#row=5&tab=memory&connection=2"});
  assert.equal(await page.locator("#connection").inputValue(), "1");
  assert.equal(await page.locator("#tab-memory").getAttribute("aria-selected"), "true");
  assert.equal(await page.locator(".row[aria-selected=true]").getAttribute("data-index"), "4");
  await page.selectOption("#connection", "0");
  assert.match(await text(page, "#about"), /Markers in/);
  await close_page(page);
});

test("a capture without iWARP, and a model that is none, are told in words", async () => {
  for (const [name, broken, words] of [
    [
      "none",
      {...model, connections: [], notes: ["<b>no</b> MPA startup frame"]},
      /no iWARP connection.*<b>no<\/b> MPA startup frame/s,
    ],
    ["damaged", '{"connections": [', /cannot be read/],
  ]) {
    const page = await open_page(browser, write_page(name, broken));
    assert.match(await text(page, "#stop"), words);
    assert.equal(await page.locator("main, #copy-link, #show-help").filter({visible: true}).count(), 0);
    await close_page(page);
  }
});
