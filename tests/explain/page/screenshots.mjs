// SPDX-License-Identifier: Apache-2.0
// The pictures in docs/explain/: browser.sh PAGE-WRITER FOLDER --screenshots PAGE.html OUT-FOLDER [ROW]
// PAGE.html is what `weft explain --demo` wrote, so that the pictures show what a reader gets.
import {join} from "node:path";
import {close_page, open_page, start_browser} from "./browser.mjs";

const [path, out, row = "1"] = process.argv.slice(2);
const kWide = {width: 1280, height: 820};
const kPhone = {width: 390, height: 844};
const kShots = [
  ["story", {theme: "light", ...kWide}, "story"],
  ["light", {theme: "light", ...kWide}, "octets"],
  ["dark", {theme: "dark", ...kWide}, "octets"],
  ["memory", {theme: "light", ...kWide}, "memory"],
  ["laboratory", {theme: "dark", ...kWide}, "laboratory"],
  ["narrow", {theme: "light", ...kPhone}, "octets"],
  ["narrow-ladder", {theme: "dark", ...kPhone}, "ladder"],
];
const browser = await start_browser();

// An STag that the engine does not know, and what it says to that.
async function break_stag(page) {
  await page.locator(".lab").waitFor();
  await page.locator(".editor-boxes .field", {hasText: "STag"}).first().locator(".octet").last().click();
  await page.keyboard.type("ff");
  await page.locator(".lab-bar button", {hasText: "Up to the chosen one"}).click();
}

for (const [name, options, tab] of kShots) {
  const page = await open_page(browser, path, {...options, hash: `#row=${row}&tab=${tab}`});
  if (name === "narrow") await page.locator("#octets-pane .field", {hasText: "STag"}).first().click();
  if (tab === "laboratory") await break_stag(page);
  if (tab === "laboratory")
    await page.locator(".detail").evaluate((node) => {
      node.scrollTop = 0;
    });
  await page.waitForTimeout(500);
  await page.screenshot({path: join(out, `${name}.png`)});
  await close_page(page);
}
await browser.close();
