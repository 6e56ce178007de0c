// SPDX-License-Identifier: Apache-2.0
// The views: story, octets, memory, laboratory; on a narrow screen the ladder is one of them.

const kTabs = ["ladder", "story", "octets", "memory", "laboratory"];
const narrow = window.matchMedia("screen and (max-width: 60rem)");
const card_over_octets = window.matchMedia("screen and (max-width: 68rem)");

const tab_button = (tab) => by_id(`tab-${tab}`);
const pane_of = (tab) => by_id(`${tab}-pane`);
const tabs_now = () => (narrow.matches ? kTabs : kTabs.slice(1));

function choose_tab(tab) {
  if (looking.tab === tab || !tabs_now().includes(tab)) return;
  looking.tab = tab;
  tell("tab");
}

function draw_tabs() {
  if (!tabs_now().includes(looking.tab)) looking.tab = "octets";
  document.body.dataset.tab = looking.tab;
  for (const tab of kTabs) {
    const chosen = tab === looking.tab;
    tab_button(tab).setAttribute("aria-selected", chosen);
    tab_button(tab).tabIndex = chosen ? 0 : -1;
    if (tab !== "ladder") pane_of(tab).hidden = !chosen;
  }
}

function tab_key(event) {
  const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
  if (!step) return;
  const tabs = tabs_now();
  choose_tab(tabs[(tabs.indexOf(looking.tab) + step + tabs.length) % tabs.length]);
  tab_button(looking.tab).focus();
  event.preventDefault();
}

function start_tabs() {
  for (const tab of kTabs) tab_button(tab).addEventListener("click", () => choose_tab(tab));
  document.querySelector(".tabs").addEventListener("keydown", tab_key);
  for (const width of [narrow, card_over_octets]) width.addEventListener("change", () => tell("tab"));
  when("tab", draw_tabs);
  draw_tabs();
}
