// SPDX-License-Identifier: Apache-2.0
// Light and dark: as the system has it, until the reader switches. The choice is kept where the browser lets a page keep one.

const kThemes = {system: "Theme: auto", light: "Theme: light", dark: "Theme: dark"};
let theme = "system";

function kept_theme(value) {
  try {
    if (value) localStorage.setItem("weft-theme", value);
    return localStorage.getItem("weft-theme");
  } catch {
    return value;
  }
}

function use_theme(next) {
  theme = next in kThemes ? next : "system";
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  by_id("theme").textContent = kThemes[theme];
}

function next_theme() {
  const names = Object.keys(kThemes);
  use_theme(names[(names.indexOf(theme) + 1) % names.length]);
  kept_theme(theme);
  say(kThemes[theme]);
}

function start_themes() {
  use_theme(kept_theme());
  by_id("theme").addEventListener("click", next_theme);
}
