// SPDX-License-Identifier: Apache-2.0
// What a reader gets: the page that `weft explain --demo` writes, with the real engine in its laboratory.
import assert from "node:assert/strict";
import {execFileSync} from "node:child_process";
import {readFileSync, statSync} from "node:fs";
import {join} from "node:path";
import {fileURLToPath} from "node:url";
import test, {after, before} from "node:test";
import {axe_faults, close_page, folder, open_page, start_browser, text} from "./browser.mjs";

const kMost = 3 << 20; // octets
const path = join(folder, "demo.html");
let browser, rows;
before(async () => {
  execFileSync(process.env.WEFT_COMMAND, ["explain", "--demo", "-o", path]);
  const page = readFileSync(path, "utf8");
  rows = JSON.parse(/<script type="application\/json" id="model">([^]*?)<\/script>/.exec(page)[1]).connections[0].rows;
  browser = await start_browser();
});
after(() => browser.close());

const kMostWords = 25; // of a sentence
function check_sentences(words) {
  for (const sentence of words.split(/(?<=[.?!])\s+|\n/)) assert.ok(sentence.split(/\s+/).length <= kMostWords, sentence);
}

const row_of = (begin) => rows.findIndex((row) => row.words.startsWith(begin)) + 1;

test("it is small", () => assert.ok(statSync(path).size <= kMost, `${statSync(path).size} octets`));

test("every row has words, octets and a memory view, and axe-core finds nothing in any", async () => {
  const page = await open_page(browser, path);
  for (const [index, row] of rows.entries()) {
    await page.evaluate(
      (hash) => {
        location.hash = hash;
      },
      `#row=${index + 1}&tab=octets`,
    );
    await page.waitForSelector(`#octets-pane[data-row="${index}"]`);
    const lesson = await text(page, "#octets-pane .lesson");
    assert.ok(lesson.trim().length > 20, row.words);
    check_sentences(lesson);
    await page.keyboard.press("2");
    assert.match(await text(page, "#memory-pane"), /Responder/);
    check_sentences(await text(page, "#memory-pane .lesson"));
    await page.keyboard.press("1");
    if (index % 8 === 4) assert.deepEqual(await axe_faults(page), [], row.words);
  }
  await close_page(page);
});

// RFC 5040 section 4.1 and RFC 7306 section 4: what has an opcode.
const kOperations = [
  "RDMA Write",
  "RDMA Read Request",
  "RDMA Read Response",
  "Send",
  "Send with Invalidate",
  "Send with Solicited Event",
  "Send with Solicited Event and Invalidate",
  "Terminate",
  "Immediate Data",
  "Immediate Data with Solicited Event",
  "Atomic Request",
  "Atomic Response",
];

test("who only scrolls reads of every operation and every layer", async () => {
  const page = await open_page(browser, path);
  const story = await text(page, "#story-pane");
  const named = await page.locator(".chapter-rows li").allInnerTexts();
  for (const operation of kOperations)
    assert.ok(
      named.some((line) => line.startsWith(`${operation}:`)),
      operation,
    );
  for (const layer of ["RDMAP", "DDP", "MPA", "TCP", "IP", "Ethernet"]) assert.ok(story.includes(layer), layer);
  const chapters = ["Connect", "Write", "Send", "Read", "Atomic operations", "Revoke", "Refuse", "Close"];
  assert.deepEqual(await page.locator(".chapter h3").allInnerTexts(), chapters);
  check_sentences(story);
  assert.deepEqual(await axe_faults(page), []);
  await close_page(page);
});

test("a Write to a revoked STag is refused, and the memory view shows why", async () => {
  const refused = rows.findIndex((row) => row.refused !== undefined);
  const page = await open_page(browser, path, {hash: `#row=${refused + 1}&tab=memory`});
  const region = page.locator(".end.arrives .region", {hasText: "0x0b000400"});
  assert.deepEqual(await region.locator(".chip").allInnerTexts(), ["revoked"]);
  assert.match(await region.innerText(), /has revoked this STag: every access with it is refused/);
  await close_page(page);
});

test("the engine in the page answers the whole connection as the capture has it", async () => {
  const page = await open_page(browser, path, {hash: `#row=${row_of("MPA Request")}&tab=laboratory`});
  await page.locator(".lab").waitFor();
  await page.locator(".lab-bar button", {hasText: /^All$/}).click();
  assert.match(
    await text(page, ".lab-answer .sent.terminate"),
    /Terminate/,
    "the tour ends with a Write to an STag that was taken back",
  );
  await close_page(page);
});

// RFC 5040 section 8 and RFC 5044 section 8: layer, type and code of what each experiment breaks; none for what is allowed.
const kOutcomes = {
  "Guess an STag": /layer 1, type 1, code 0(?!\d)/,
  "Drop a Send": /layer 1, type 2, code 3/,
  "Flip a bit and leave the CRC wrong": /layer 2, type 0, code 2/,
  "Lie about a length": /layer 2, type 0, code 2/,
  "Read past the end": /layer 0, type 1, code 1/,
  "Write to a revoked STag": /layer 1, type 1, code 0(?!\d)/,
  "Reorder two segments": undefined,
  "Break a Marker": /layer 2, type 0, code 3/,
};

test("each experiment shows what it says, and names the clause", async () => {
  const page = await open_page(browser, path, {hash: "#row=3&tab=laboratory"});
  await page.locator(".lab").waitFor();
  assert.deepEqual(await page.locator(".lab-experiments [role=group] button").allInnerTexts(), Object.keys(kOutcomes));
  for (const [title, outcome] of Object.entries(kOutcomes)) {
    await page.locator(".lab-experiments button", {hasText: title}).click();
    const predict = await text(page, ".lab-experiments .lesson");
    assert.match(predict, /^Predict: .+\?$/s, title);
    check_sentences(predict);
    assert.equal(await page.locator(".outcome").count(), 0, title);
    await page.locator("[data-experiment=run]").click();
    const shows = await text(page, ".outcome");
    check_sentences(shows);
    const errors = page.locator(".lab-answer .finding");
    if (outcome) {
      assert.match(shows, /^What it shows: .+ The engine refused it: .+ \([A-Z0-9]+-[-.A-Z0-9]+\)\.$/s, title);
      assert.match(await errors.first().innerText(), outcome, title);
    } else {
      assert.match(shows, /^What it shows: .+ The engine accepted it\.$/s, title);
    }
    assert.equal(await errors.count(), outcome ? 1 : 0, title);
  }
  assert.deepEqual(await axe_faults(page), []);
  await close_page(page);
});

// Captures of two stacks, with and without CRCs, Markers and payload, and one whose Marker is broken already.
const kSamples = [
  "01-rping",
  "08-write-1m",
  "10-zero-length",
  "40-crc-rping",
  "12-send-inv",
  "weft/everything-markers",
  "weft/terminate-2-0-03-marker",
  "weft/rtr-read",
];

test("an experiment is offered only where it shows what it says", async () => {
  const ran = new Set();
  for (const sample of kSamples) {
    const own = join(folder, "sample.html");
    const capture = fileURLToPath(new URL(`../../../pcap-samples/${sample}.pcap`, import.meta.url));
    execFileSync(process.env.WEFT_COMMAND, ["explain", capture, "-o", own], {stdio: "ignore"});
    const page = await open_page(browser, own, {hash: "#row=1&tab=laboratory"});
    await page.locator(".lab").waitFor();
    for (const [title, outcome] of Object.entries(kOutcomes)) {
      await page.locator(".lab-experiments button", {hasText: title}).click();
      const run = page.locator("[data-experiment=run]");
      if (!(await run.count())) {
        assert.match(await text(page, ".lab-experiments .note"), /This capture has nothing for it: it takes /);
        continue;
      }
      await run.click();
      ran.add(title);
      const errors = await page.locator(".lab-answer .finding").allInnerTexts();
      assert.equal(errors.length, outcome ? 1 : 0, `${sample}: ${title}`);
      if (outcome) assert.match(errors[0], outcome, `${sample}: ${title}`);
    }
    await close_page(page);
  }
  assert.deepEqual([...ran].sort(), Object.keys(kOutcomes).sort());
});

// Nothing else tells of a segment of a Write that is missing, so the engine goes on up to the error that was captured.
test("without a segment, the Markers after it are right", async () => {
  const page = await open_page(browser, path, {hash: "#row=3&tab=laboratory"});
  await page.locator(".lab").waitFor();
  await page.locator(".piece", {hasText: "RDMA Write, segment 1"}).first().click();
  await page.locator(".lab-list button", {hasText: "Drop"}).click();
  await page.locator(".lab-bar button", {hasText: /^All$/}).click();
  assert.match(await text(page, ".lab-answer .finding"), /layer 1, type 1, code 0(?!\d)/);
  await page.locator("#repair").uncheck();
  await page.locator(".lab-bar button", {hasText: /^All$/}).click();
  assert.match(await text(page, ".lab-answer .finding"), /layer 2, type 0/, "unrepaired, the Markers are wrong");
  await close_page(page);
});

test("an STag edited in the laboratory brings a Terminate that can be read", async () => {
  const page = await open_page(browser, path, {hash: `#row=${row_of("RDMA Write")}&tab=laboratory`});
  await page.locator(".lab").waitFor();
  await page.locator(".editor-boxes .field", {hasText: "STag"}).first().locator(".octet").last().click();
  await page.keyboard.type("ff");
  await page.locator(".lab-bar button", {hasText: "Up to the chosen one"}).click();
  assert.match(await text(page, ".lab-answer .finding"), /layer 1, type 1, code 0/);
  assert.match(await text(page, ".sent.terminate table"), /Layer and EType\s+0x11/);
  await page.locator(".lab-bar button", {hasText: "As captured"}).click();
  await page.locator("#repair").uncheck();
  await page.locator(".editor-boxes .field", {hasText: "STag"}).first().locator(".octet").last().click();
  await page.keyboard.type("ff");
  await page.locator(".lab-bar button", {hasText: "Up to the chosen one"}).click();
  assert.match(await text(page, ".lab-answer .finding"), /layer 2, type 0, code 2/);
  assert.deepEqual(await axe_faults(page), []);
  await close_page(page);
});
