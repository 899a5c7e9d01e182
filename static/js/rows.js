// The selected event: marked in the timeline and the chat, moved by keys, one tab stop for all rows.
import { soon } from "./choosing.js";
import { each } from "./connected.js";

const REST = 90;

export function start() {
  document.addEventListener("htmx:after:history:update", mark);
  document.addEventListener("focusin", (event) => {
    const link = event.target.closest?.("#rows .seq a");
    if (link) stop(link);
  });
  document.addEventListener("click", ({ target }) => {
    if (target.closest?.("#rows .row :is(.flag, .dt)")) target.closest(".row").querySelector(".seq a").click();
  });
  document.addEventListener("pointerover", (event) => pair(event.target.closest?.("[data-event]")?.dataset.event));
  document.documentElement.addEventListener("pointerleave", () => pair());
}

export function connect(root) {
  each(root, "#rows .row[data-event]", (row) => { row.querySelector(".seq a").tabIndex = -1; });
  if (root.querySelector?.("#rows") || root.closest?.("#rows")) mark();
}

export function selected() {
  const asked = new URLSearchParams(location.search);
  return Number(asked.get("event") ?? asked.get("at")) || null;
}

export function current() {
  return Number(document.activeElement?.closest("#rows > .row[data-event]")?.dataset.event) || selected();
}

// Moves by `count` rows; the inspector follows when the key rests.
export function step(count) {
  const rows = visible();
  const here = rows.findIndex((row) => row.contains(document.activeElement));
  const from = here >= 0 ? here : rows.findIndex((row) => Number(row.dataset.event) === selected());
  const start = from >= 0 ? from : count > 0 ? -1 : rows.length;
  if (start + count === rows.length && from >= 0) document.querySelector("#next[href]")?.click();
  go(rows[Math.min(Math.max(start + count, 0), rows.length - 1)]);
}

export function focus() {
  document.activeElement?.blur();
  document.querySelector('#rows .seq a[tabindex="0"]')?.focus({ preventScroll: true });
}

export function first() {
  if (!document.getElementById("earlier")) return go(visible()[0]);
  const url = new URL(document.querySelector("[data-scrub]").form.getAttribute("action"), location);
  const shown = new URLSearchParams(location.search);
  for (const name of ["at", "filter"]) if (shown.has(name)) url.searchParams.set(name, shown.get(name));
  url.searchParams.set("event", 1);
  location.assign(url);
}

function visible() {
  return [...document.querySelectorAll("#rows > .row[data-event]:not([hidden])")];
}

function go(row) {
  if (!row) return;
  const link = row.querySelector(".seq a");
  link.focus({ preventScroll: true });
  row.scrollIntoView({ block: "nearest" });
  soon(() => link.click(), REST);
}

function mark() {
  const number = selected();
  for (const row of document.querySelectorAll('#rows > .row[data-event][aria-selected="true"]')) {
    row.setAttribute("aria-selected", "false");
  }
  document.querySelectorAll(".msg.selected").forEach((message) => message.classList.remove("selected"));
  const row = number && document.getElementById(`e-${number}`);
  const rows = visible();
  const link = (row || rows.at(-1))?.querySelector(".seq a");
  if (link && !document.activeElement?.closest("#rows")) stop(link);
  if (!row) return;
  document.getElementById(`m-${number}`)?.classList.add("selected");
  const messages = [...document.querySelectorAll("#messages > [data-event]")];
  messages.findLast((message) => message.dataset.event <= number)?.scrollIntoView({ block: "nearest" });
  row.setAttribute("aria-selected", "true");
  row.scrollIntoView({ block: "nearest" });
}

function stop(link) {
  document.querySelectorAll('#rows .seq a[tabindex="0"]').forEach((other) => { other.tabIndex = -1; });
  link.tabIndex = 0;
}

// A row and its message look alike while the pointer is over one of them; what was under it may be gone by now.
function pair(number) {
  document.querySelectorAll(".paired").forEach((element) => { if (element.dataset.event !== number) element.classList.remove("paired"); });
  if (!number) return;
  for (const id of [`e-${number}`, `m-${number}`]) document.getElementById(id)?.classList.add("paired");
}
