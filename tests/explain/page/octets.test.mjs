// SPDX-License-Identifier: Apache-2.0
// Octets: nested boxes, fields with their card, Markers, and the arithmetic.
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

test("a box for each layer, each in the one below it", async () => {
  const page = await open_page(browser, path, {hash: `#row=${row_of("RDMA Read Request")}`});
  const nested = ["ethernet", "ip", "tcp", "mpa", "ddp", "rdmap"].map((layer) => `.box.layer-${layer}`).join(" > .box-body > ");
  assert.ok((await page.locator(nested).count()) > 0);
  assert.equal(await page.locator(".box.layer-tcp .field.layer-tcp").count(), 0);
  await page.locator(".fold").click();
  assert.ok((await page.locator(".field.layer-tcp", {hasText: "Sequence Number"}).count()) === 1);
  await close_page(page);
});

test("every octet of every row is in the page, once, in order", async () => {
  const page = await open_page(browser, path);
  for (const [index, row] of rows.entries()) {
    if (!row.octets) continue;
    await page.evaluate(
      (hash) => {
        location.hash = hash;
      },
      `#row=${index + 1}&tab=octets`,
    );
    await page.waitForSelector(`#octets-pane[data-row="${index}"]`, {timeout: 120000});
    while (await page.locator("#octets-pane .more").count()) await page.locator("#octets-pane .more").first().click();
    const shown = await page
      .locator("#octets-pane .boxes .octet")
      .evaluateAll((cells) => cells.map((cell) => cell.textContent).join(""));
    assert.equal(shown, row.octets, `row ${index}: ${row.words}`);
  }
  await close_page(page);
});

test("a field's card has name, value, meaning, RFC, and the clause's words", async () => {
  const page = await open_page(browser, path, {hash: `#row=${row_of("RDMA Write, segment 1 of 3")}`});
  await page.locator(".field", {hasText: "ULPDU_Length"}).click();
  const card = await text(page, "#card");
  for (const words of [
    "MPA",
    "ULPDU_Length",
    "0x0578",
    "1400 octets",
    "RFC 5044 section 4.1",
    "MPA-4.1-02",
    "network byte order",
  ])
    assert.ok(card.includes(words), `${words} in ${card}`);
  await close_page(page);
});

test("a click on an octet, and arrow keys from field to field", async () => {
  const page = await open_page(browser, path, {hash: `#row=${row_of("RDMA Write, segment 1 of 3")}`});
  await page.locator(".field", {hasText: "STag"}).locator(".octet").nth(1).click();
  assert.match(await text(page, ".card-octet"), /0x51 = 81 = 0101 0001 in binary, 'Q' in ASCII/);
  await page.keyboard.press("ArrowRight");
  assert.equal(await text(page, "#card h3"), "TO");
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ArrowLeft");
  assert.equal(await text(page, "#card h3"), "RDMAP Control");
  assert.deepEqual(await page.locator(".bits-cell").allInnerTexts(), ["RV\n01", "Rsv\n00", "Opcode\n0000"]);
  await close_page(page);
});

test("a Marker interrupts the payload and points to ULPDU_Length", async () => {
  const index = rows.findIndex((row) => row.markers?.some(({at}) => at > 20));
  const page = await open_page(browser, path, {hash: `#row=${index + 1}`});
  const inside = rows[index].markers.filter(({at}) => at > 20).length;
  assert.equal(await page.locator(".marker").count(), rows[index].markers.length);
  assert.ok((await page.locator(".box.layer-ddp .marker").count()) >= inside);
  assert.equal(await page.locator(".pointers path:not(.pointer-head)").count(), rows[index].markers.length);
  const last = rows[index].markers.at(-1);
  assert.match(
    await page.locator(".marker-words").last().innerText(),
    new RegExp(`points to the FPDU's ULPDU_Length, ${last.pointer} octets before`),
  );
  await page.locator(".marker .field").last().click();
  assert.match(await text(page, "#card"), /Marker.*FPDUPTR/s);
  // The line ends at the field that the Marker points to.
  const [line, field] = await page.evaluate(() =>
    [
      document.querySelector(".pointers path").getBoundingClientRect(),
      [...document.querySelectorAll(".field")]
        .find((block) => block.textContent.startsWith("ULPDU_Length"))
        .getBoundingClientRect(),
    ].map(({top, left, height}) => ({top, left, height})),
  );
  assert.ok(Math.abs(line.top - (field.top + field.height / 2)) < 8, JSON.stringify([line, field]));
  await close_page(page);
});

test("padding and CRC in words; all fields as a table", async () => {
  const page = await open_page(browser, path, {hash: `#row=${row_of("RDMA Write")}`});
  assert.match(
    await text(page, ".sums"),
    /Padding.*2 \+ 19 = 21, 21 mod 4 = 1: 3 octets of padding.*The CRC is right.*as computed 0x/s,
  );
  await page.locator(".all-fields summary").click();
  assert.match(await text(page, ".all-fields table"), /STag\s+0x9b513000/);
  assert.match(await text(page, ".all-fields"), /All PAD octets are sent as zero/);
  await close_page(page);
});

test("the field that a finding is about is marked", async () => {
  const own = model.connections[1].rows.findIndex((row) => row.refused);
  const page = await open_page(browser, path, {hash: `#row=${own + 1}&connection=2`});
  assert.match(await page.locator(".field.wrong").innerText(), /STag/);
  assert.match(
    await text(page, "#card"),
    /STag.*0xdeadbeef.*was never seen before, and was refused/s,
    "and it is the one that is chosen first",
  );
  await page.locator(".links button", {hasText: "Terminate"}).click();
  assert.match(await text(page, "#octets-pane"), /Terminated DDP Header/);
  await close_page(page);
});

test("rows that could not be read say what they are", async () => {
  const broken = structuredClone(model);
  const own = broken.connections[0].rows;
  Object.assign(own[4], {
    words: "FPDU 1 with a wrong CRC, ULPDU of 46 octets",
    crc: {...own[4].crc, verdict: "bad", computed: "0x00000001"},
  });
  Object.assign(own[5], {words: "FPDU 2 without a readable DDP header, ULPDU of 3 octets", octets: own[5].octets.slice(0, 200)});
  Object.assign(own[6], {
    kind: "gap",
    words: "octets are missing from the capture",
    octets: undefined,
    fields: undefined,
    markers: undefined,
  });
  const page = await open_page(browser, write_page("broken", broken), {hash: "#row=5"});
  assert.match(await text(page, "#octets-pane .lesson"), /The CRC does not fit the octets/);
  assert.match(await text(page, ".sums"), /The CRC is wrong.*but computed 0x00000001/s);
  assert.match(await text(page, ".row[aria-selected=true] .badge"), /CRC/);
  await page.keyboard.press("j");
  assert.match(await text(page, "#octets-pane .lesson"), /DDP cannot read a header/);
  assert.match(await text(page, "#octets-pane .boxes"), /octets not in this page/);
  await page.keyboard.press("j");
  assert.match(await text(page, "#octets-pane"), /Octets are missing from the capture.*nothing is made up/s);
  await close_page(page);
});

test("the mouse over a field previews its card, and the chosen one comes back", async () => {
  const page = await open_page(browser, path, {hash: `#row=${row_of("RDMA Write, segment 1 of 3")}`});
  await page.locator(".field", {hasText: "STag"}).click();
  await page.locator(".field", {hasText: "ULPDU_Length"}).hover();
  assert.equal(await text(page, "#card h3"), "ULPDU_Length");
  assert.match(await page.locator(".field.chosen").innerText(), /STag/);
  await page.locator("#octets-pane h2").hover();
  assert.equal(await text(page, "#card h3"), "STag");
  await close_page(page);
});

test("payload has its characters beside the octets", async () => {
  const page = await open_page(browser, path, {hash: `#row=${row_of("Send")}`});
  const lines = await page.locator(".boxes .field.layer-ulp .ascii").allTextContents();
  assert.equal(lines.join(""), "Hello, RDDP! <b>not HTML</b>");
  assert.equal(await page.locator(".boxes b").count(), 0);
  await close_page(page);
});

test("a FIN is an orderly close only without a Terminate before it", async () => {
  const orderly = structuredClone(model);
  const own = orderly.connections[0].rows;
  const terminate = own.findIndex((row) => row.words === "Terminate");
  const fin = own.findIndex((row) => row.words === "FIN");
  const page = await open_page(browser, path, {hash: `#row=${fin + 1}`});
  assert.match(await text(page, "#octets-pane .lesson"), /a Terminate ended the stream: this is no orderly close/);
  await close_page(page);
  own[terminate].words = "Send";
  const other = await open_page(browser, write_page("orderly", orderly), {hash: `#row=${fin + 1}`});
  assert.match(await text(other, "#octets-pane .lesson"), /If all requests have been answered, this is how a connection ends/);
  await close_page(other);
});
