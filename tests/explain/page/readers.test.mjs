// SPDX-License-Identifier: Apache-2.0
// For every reader: axe-core finds nothing in any view, theme and width; narrow screens; paper; the theme switch; the help.
import assert from "node:assert/strict";
import test, {after, before} from "node:test";
import {axe_faults, close_page, open_page, start_browser, text, write_page} from "./browser.mjs";
import {small_model} from "./models.mjs";

let browser, path;
const model = small_model();
const index = model.connections[0].rows.findIndex((row) => row.words === "RDMA Write, segment 2 of 3");
before(async () => {
  browser = await start_browser();
  path = write_page("readers", model, {fake: true});
});
after(() => browser.close());

for (const theme of ["light", "dark"]) {
  for (const width of [1440, 1024, 390]) {
    test(`axe-core finds nothing: ${theme}, ${width} wide`, async () => {
      const page = await open_page(browser, path, {theme, width, hash: `#row=${index + 1}&tab=octets`});
      for (const tab of [...(width < 900 ? ["ladder"] : []), "story", "octets", "memory", "laboratory"]) {
        await page.locator(`#tab-${tab}`).click();
        if (tab === "laboratory") await page.locator(".lab-bar button", {hasText: "All"}).click();
        await page.locator("details").evaluateAll((nodes) =>
          nodes.forEach((node) => {
            node.open = true;
          }),
        );
        assert.deepEqual(await axe_faults(page), [], tab);
      }
      await page.locator("#show-help").click();
      assert.deepEqual(await axe_faults(page), [], "help");
      await page.keyboard.press("Escape");
      await page.keyboard.press("g");
      assert.deepEqual(await axe_faults(page), [], "glossary");
      await close_page(page);
    });
  }
}

test("nothing is wider than a phone", async () => {
  const page = await open_page(browser, path, {width: 360, height: 740, hash: "#row=3&tab=ladder"});
  assert.ok(await page.locator("#ladder").isVisible());
  await page.locator(".row", {hasText: "segment 2 of 3"}).click();
  assert.equal(await page.locator("#tab-octets").getAttribute("aria-selected"), "true");
  for (const tab of ["octets", "memory", "laboratory", "story", "ladder"]) {
    await page.locator(`#tab-${tab}`).click();
    const wide = await page.evaluate(() =>
      [document.documentElement, document.querySelector(".detail")].map((node) => node.scrollWidth - node.clientWidth),
    );
    assert.deepEqual(wide, [0, 0], tab);
  }
  await close_page(page);
});

test("the theme follows the system until it is switched", async () => {
  const page = await open_page(browser, path, {theme: "dark"});
  const paper = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  assert.equal(await paper(), "rgb(20, 22, 27)");
  await page.keyboard.press("t");
  assert.equal(await text(page, "#theme"), "Theme: light");
  assert.equal(await paper(), "rgb(252, 251, 248)");
  // Chromium stores what a page keeps asynchronously: a document that loads at once may not see it, a later one does.
  let kept;
  for (let load = 0; load < 20 && kept !== "Theme: light"; ++load) {
    await page.reload();
    kept = await text(page, "#theme");
  }
  assert.equal(kept, "Theme: light");
  await close_page(page);
});

test("on paper there are the ladder, the fields and their clauses", async () => {
  const page = await open_page(browser, path, {theme: "dark", hash: `#row=${index + 1}&tab=octets`});
  await page.emulateMedia({media: "print"});
  await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
  assert.match(await text(page, "#print"), /initiator 10\.0\.0\.1.*RDMA Read Request/s);
  assert.match(await text(page, ".all-fields .clauses"), /MPA-4.3-05/);
  assert.ok(!(await page.locator(".tabs").isVisible()));
  assert.ok(await page.locator(".card").isVisible());
  assert.equal(
    await page.evaluate(() => getComputedStyle(document.querySelector(".card")).backgroundColor),
    "rgb(255, 255, 255)",
  );
  await page.evaluate(() => window.dispatchEvent(new Event("afterprint")));
  assert.ok((await page.pdf({format: "A4"})).length > 10000);
  await close_page(page);
});

for (const width of [1440, 1024, 390]) {
  test(`what can be chosen says so: ${width} wide`, async () => {
    const page = await open_page(browser, path, {width, hash: `#row=${index + 1}&tab=octets`});
    assert.ok(await page.locator(".hint", {hasText: "Choose a field"}).isVisible());
    await close_page(page);
  });
}

test("help begins at its heading, lists the keys and closes with Escape", async () => {
  const page = await open_page(browser, path, {height: 420});
  await page.keyboard.press("?");
  assert.equal(await page.evaluate(() => document.activeElement.id), "help-title");
  assert.equal(await page.locator("#help").evaluate((node) => node.scrollTop), 0);
  assert.match(await text(page, "#help"), /next row with a finding.*feed one octet/s);
  await page.keyboard.press("Escape");
  assert.ok(!(await page.locator("#help").isVisible()));
  await close_page(page);
});
