// SPDX-License-Identifier: Apache-2.0
// Pages for the tests, opened in Debian's Chromium. Whatever a page asks of the network fails the test, and so does an error in it.
import assert from "node:assert/strict";
import {execFileSync} from "node:child_process";
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from "node:fs";
import {createRequire} from "node:module";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {pathToFileURL} from "node:url";

const {WEFT_PAGE_WRITER, WEFT_NODE_MODULES, WEFT_CHROMIUM} = process.env;
const require = createRequire(join(WEFT_NODE_MODULES, "anything.js"));
const {chromium} = require("playwright-core");
const kAxe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const kHere = new URL(".", import.meta.url);
export const folder = mkdtempSync(join(tmpdir(), "weft-page-"));
process.on("exit", () => rmSync(folder, {recursive: true, force: true}));

export const start_browser = () =>
  chromium.launch({executablePath: WEFT_CHROMIUM, args: ["--no-sandbox", "--force-color-profile=srgb"]});

// `fake`: with the laboratory of these tests instead of the one that was built in.
export function write_page(name, model, {fake = false} = {}) {
  const json = join(folder, `${name}.json`);
  writeFileSync(json, typeof model === "string" ? model : JSON.stringify(model));
  const wasm = join(folder, "laboratory.wasm");
  writeFileSync(wasm, "not a module");
  let page = execFileSync(WEFT_PAGE_WRITER, fake ? [json, wasm] : [json], {maxBuffer: 1 << 28}).toString();
  if (fake) {
    const script = readFileSync(new URL("fake_laboratory.js", kHere), "utf8");
    page = page.replace(
      /<script id="laboratory-script">[^]*?<\/script>/,
      () => `<script id="laboratory-script">${script}</script>`,
    );
  }
  const path = join(folder, `${name}.html`);
  writeFileSync(path, page);
  return path;
}

// The page, and what went wrong in it: look at `faults` when all is done.
export async function open_page(browser, path, {hash = "", width = 1440, height = 900, theme = "light", ...more} = {}) {
  const context = await browser.newContext({
    viewport: {width, height},
    colorScheme: theme,
    reducedMotion: "reduce",
    offline: true,
    ...more,
  });
  const page = await context.newPage();
  const faults = [];
  const own = pathToFileURL(path).href;
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && faults.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
  page.on(
    "request",
    (request) =>
      request.url().split("#")[0] === own || request.url().startsWith("data:") || faults.push(`request: ${request.url()}`),
  );
  await page.goto(own + hash);
  page.faults = faults;
  return page;
}

// The least of some times: what else the machine does makes them longer, never shorter.
export async function least_of(tries, measure) {
  let least = Infinity;
  for (let i = 0; i < tries; ++i) least = Math.min(least, await measure());
  return least;
}

export async function close_page(page) {
  assert.deepEqual(page.faults, []);
  await page.context().close();
}

export async function axe_faults(page) {
  await page.evaluate(kAxe);
  const {violations} = await page.evaluate(() => axe.run(document, {resultTypes: ["violations"]}));
  return violations.map(
    ({id, nodes}) =>
      `${id}: ${nodes
        .slice(0, 3)
        .map(({html, failureSummary}) => `${html.slice(0, 200)} ${failureSummary.split("\n")[1]}`)
        .join(" | ")}`,
  );
}

export const text = (page, selector) => page.locator(selector).first().innerText();
