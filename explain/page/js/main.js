// SPDX-License-Identifier: Apache-2.0
// The page begins here. "#row=7&tab=memory&connection=1" in its address leads to a place in it, counted from 1.

function read_address() {
  const wanted = new URLSearchParams(location.hash.slice(1));
  const number = (name, most) => clamp((parseInt(wanted.get(name), 10) || 1) - 1, 0, Math.max(0, most - 1));
  const chosen = wanted.has("connection") ? number("connection", model.connections.length) : -1;
  const connection_index = model.connections[chosen]?.rows?.length
    ? chosen
    : model.connections.findIndex((of) => of.rows?.length);
  const of = model.connections[connection_index];
  return {
    connection: connection_index,
    row: wanted.has("row") ? number("row", of.rows.length) : first_row(of),
    tab: kTabs.includes(wanted.get("tab")) ? wanted.get("tab") : wanted.has("row") ? "octets" : "story",
  };
}

// A while after the last choice: browsers refuse a page that does it at each key of a key held down.
let address_due;
function write_address() {
  clearTimeout(address_due);
  address_due = setTimeout(write_address_now, 250);
}

function address_now() {
  const several = model.connections.length > 1 ? `&connection=${looking.connection + 1}` : "";
  return `#row=${looking.row + 1}&tab=${looking.tab}${several}`;
}

// A place that the reader has chosen is an entry of the browser's history, so that Back leads to the place before. One that the address
// led to is the entry that is there.
function write_address_now(how = "pushState") {
  clearTimeout(address_due);
  if (location.hash === address_now()) return;
  try {
    history[how](null, "", address_now());
  } catch {
    // a browser that allows a page too few of these: then the address stays behind
  }
}

function follow_address() {
  Object.assign(looking, read_address(), {field: -1, octet: -1});
  for (const name of ["connection", "tab", "row"]) tell(name);
  write_address_now("replaceState");
}

// To this row and view. Where the browser keeps the clipboard from the page, the address is shown to be copied by hand.
async function copy_link() {
  write_address_now();
  try {
    await navigator.clipboard.writeText(location.href);
    say("The link is copied");
    by_id("copy-link").textContent = "Copied";
  } catch {
    const field = el("input", {type: "text", readonly: true, value: location.href, "aria-label": "The link"});
    show_dialog("link", "The link to this row and view", field);
    field.select();
  }
}

function start_copy_link() {
  by_id("copy-link").addEventListener("click", copy_link);
  when("row tab connection", () => {
    by_id("copy-link").textContent = "Copy link";
  });
}

function start_connections() {
  const select = by_id("connection");
  select.append(
    ...model.connections.map((of, index) => el("option", {value: index}, `${of.id}: ${of.initiator} → ${of.responder}`)),
  );
  select.closest("label").hidden = model.connections.length < 2;
  select.addEventListener("change", () => choose_connection(Number(select.value)));
  when("connection", () => {
    select.value = looking.connection;
  });
}

function stop(words) {
  by_id("stop").hidden = false;
  by_id("stop").replaceChildren(...words.map((line) => el("p", {}, line)));
  for (const nothing_to_do of [document.querySelector("main"), by_id("copy-link"), by_id("show-help")])
    nothing_to_do.hidden = true;
}

function start_page() {
  start_themes();
  by_id("source").textContent = model.source ?? "";
  if (model.source) document.title = `${model.source} – weft explain`;
  if (!model.connections.some((of) => of.rows?.length))
    return stop(["There is no iWARP connection to show.", ...(model.notes ?? [])]);
  for (const start of [
    start_connections,
    start_ladder,
    start_tabs,
    start_story,
    start_octets,
    start_memory,
    start_laboratory,
    start_find,
    start_copy_link,
    start_keys,
    start_printing,
  ])
    start();
  when("row tab connection", write_address);
  follow_address();
  window.addEventListener("hashchange", follow_address);
}

start_page();
