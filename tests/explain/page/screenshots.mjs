// SPDX-License-Identifier: Apache-2.0
// The pictures in docs/explain/: browser.sh PAGE-WRITER FOLDER --screenshots PAGE.html OUT-FOLDER [ROW]
// PAGE.html is what `weft explain --demo` wrote, so that the pictures show what a reader gets.
import {join} from "node:path";
import {close_page, open_page, start_browser} from "./browser.mjs";

const [path, out, row = "1"] = process.argv.slice(2);
const kShots = [
  ["light", {theme: "light", width: 1400, height: 900}, "octets"],
  ["dark", {theme: "dark", width: 1400, height: 900}, "octets"],
  ["memory", {theme: "light", width: 1400, height: 900}, "memory"],
  ["laboratory", {theme: "dark", width: 1400, height: 900}, "laboratory"],
  ["narrow", {theme: "light", width: 390, height: 844, deviceScaleFactor: 2}, "octets"],
  ["narrow-ladder", {theme: "dark", width: 390, height: 844, deviceScaleFactor: 2}, "ladder"],
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
  await page.waitForTimeout(500);
  await page.screenshot({path: join(out, `${name}.png`)});
  await close_page(page);
}
await browser.close();
