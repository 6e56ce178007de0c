// SPDX-License-Identifier: Apache-2.0
// The story that the page opens with, the glossary, links to a place in the page, and the browser's Back and Forward.
import assert from "node:assert/strict";
import test, {after, before} from "node:test";
import {close_page, open_page, start_browser, text, write_page} from "./browser.mjs";
import {small_model} from "./models.mjs";

let browser, path;
const model = small_model();
const {rows} = model.connections[0];
before(async () => {
  browser = await start_browser();
  path = write_page("story", model);
});
after(() => browser.close());

const address = (page, words) => page.waitForFunction((part) => location.hash.includes(part), words);

test("the page opens with what RDMA is, who takes part and what happens", async () => {
  const page = await open_page(browser, path);
  assert.equal(await page.locator("#tab-story").getAttribute("aria-selected"), "true");
  const story = await text(page, "#story-pane");
  assert.match(story, /With RDMA, a program writes to the memory of a program on another host/);
  assert.match(story, /The initiator, 10\.0\.0\.1:40000, has opened this connection to the responder, 10\.0\.0\.2:4420/);
  assert.match(story, /the two ends connect, write, send, read, revoke an STag, refuse what is not allowed and close\./);
  assert.deepEqual(await page.locator(".chapter h3").allInnerTexts(), [
    "Connect",
    "Write",
    "Send",
    "Read",
    "Revoke",
    "Refuse",
    "Close",
  ]);
  for (const layer of ["RDMAP", "DDP", "MPA", "TCP", "IP", "Ethernet"]) assert.ok(story.includes(layer), layer);
  await close_page(page);
});

test("every row of a message is in a chapter, once, and its number leads to it", async () => {
  const page = await open_page(browser, path);
  const first = rows
    .map((row, i) => i)
    .filter((i) => rows[i].message === undefined || model.connections[0].messages[rows[i].message].rows[0] === i);
  const named = await page.locator(".chapter-rows button").allInnerTexts();
  assert.deepEqual(
    named.map(Number).sort((a, b) => a - b),
    first.map((index) => index + 1),
  );
  const read = rows.findIndex((row) => row.words === "RDMA Read Request");
  await page.locator(".chapter-rows button", {hasText: new RegExp(`^${read + 1}$`)}).click();
  assert.equal(await text(page, "#octets-pane h2"), "RDMA Read Request");
  await page.keyboard.press("0");
  assert.ok(await page.locator("#story-pane").isVisible());
  await page.locator(".row[aria-selected=true]").click();
  assert.ok(await page.locator("#octets-pane").isVisible(), "the row that is chosen already leads out of the story, too");
  await close_page(page);
});

test("no sentence of the story is longer than 25 words", async () => {
  const page = await open_page(browser, path);
  const paragraphs = await page.locator("#story-pane .lesson").allInnerTexts();
  for (const sentence of paragraphs.flatMap((words) => words.split(/(?<=[.:])\s/)))
    assert.ok(sentence.split(/\s+/).length <= 25, sentence);
  await close_page(page);
});

test("a term tells what it is, and leads to the glossary", async () => {
  const page = await open_page(browser, path);
  const term = page.locator(".term", {hasText: /^STag$/}).first();
  assert.match(await term.getAttribute("title"), /Steering Tag/);
  await term.click();
  const glossary = page.locator("#glossary");
  for (const words of ["STag", "TO", "MSN", "MO", "ULPDU", "FPDU", "EMSS", "MULPDU", "place", "deliver"])
    assert.equal(await glossary.locator("dt", {hasText: new RegExp(`^${words}$`)}).count(), 1, words);
  assert.equal(await glossary.locator("dt.chosen").innerText(), "STag");
  await page.keyboard.press("Escape");
  assert.ok(!(await glossary.isVisible()));
  await close_page(page);
});

test("Back and Forward go from place to place within the page", async () => {
  const page = await open_page(browser, path);
  const read = rows.findIndex((row) => row.words === "RDMA Read Request") + 1;
  await page.locator(".row", {hasText: "RDMA Read Request"}).click();
  await address(page, `row=${read}&tab=octets`);
  await page.keyboard.press("2");
  await address(page, "tab=memory");
  await page.goBack();
  assert.ok(await page.locator("#octets-pane").isVisible());
  await page.goBack();
  assert.ok(await page.locator("#story-pane").isVisible());
  await page.goForward();
  assert.equal(await text(page, "#octets-pane h2"), "RDMA Read Request");
  await address(page, `row=${read}&tab=octets`);
  await close_page(page);
});

test("an address that was typed is no trap for Back", async () => {
  const page = await open_page(browser, path, {hash: "#row=3"});
  await page.evaluate(() => {
    location.hash = "#row=5";
  });
  await address(page, "row=5&tab=octets");
  await page.goBack();
  await address(page, "row=3&tab=octets");
  assert.equal(await page.locator(".row[aria-selected=true]").getAttribute("data-index"), "2");
  await close_page(page);
});

test("Copy link copies the address of the row and view", async () => {
  const page = await open_page(browser, path, {hash: "#row=5&tab=memory", permissions: ["clipboard-read", "clipboard-write"]});
  await page.locator("#copy-link").click();
  await page.waitForFunction(() => document.querySelector("#copy-link").textContent === "Copied");
  assert.match(await page.evaluate(() => navigator.clipboard.readText()), /story\.html#row=5&tab=memory&connection=1$/);
  await page.keyboard.press("j");
  assert.equal(await text(page, "#copy-link"), "Copy link");
  await close_page(page);
});

test("where there is no clipboard, the link is shown", async () => {
  const page = await open_page(browser, path, {hash: "#row=5"});
  await page.evaluate(() => {
    navigator.clipboard.writeText = () => Promise.reject(new Error("not allowed"));
  });
  await page.keyboard.press("c");
  await page.locator("#link").waitFor();
  assert.match(await page.locator("#link input").inputValue(), /#row=5&tab=octets/);
  await close_page(page);
});

test("the findings' count leads to them", async () => {
  const page = await open_page(browser, path);
  await page.locator("#about button", {hasText: "1 finding"}).click();
  const findings = page.locator("#findings");
  assert.match(await findings.innerText(), /never seen before, and was refused/);
  await findings.locator(".link").click();
  assert.ok(!(await findings.isVisible()));
  assert.match(await text(page, "#octets-pane .finding"), /never seen before/);
  await close_page(page);
});

test("rows that could not be read are one line of the story, however many there are", async () => {
  const broken = structuredClone(model);
  const fpdus = broken.connections[0].rows.filter((row) => row.kind === "fpdu").slice(0, 9);
  for (const [index, row] of fpdus.entries()) {
    Object.assign(row, {words: `FPDU ${index + 1} with a wrong CRC, ULPDU of 46 octets`, crc: {...row.crc, verdict: "bad"}});
    delete row.message;
  }
  const page = await open_page(browser, write_page("unread", broken));
  const chapter = page.locator(".chapter", {hasText: "Not read"});
  assert.equal(await chapter.locator("li").count(), 1);
  assert.match(await chapter.innerText(), /FPDU with a wrong CRC: rows( \d+){8} and 1 more$/);
  await close_page(page);
});
