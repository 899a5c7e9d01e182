// Rows of the timeline: the selected one, which the chat marks, too; moving by keys, with one tab stop for all rows; and
// invocations, which fold into their header together with rows that arrive later.
import { soon } from "../inspector/requests.js";
import { connectOnce } from "../shell/behaviors.js";
import { look, reveal } from "./gaps.js";

const REST = 90;
const VISIBLE = "#rows > .row[data-event]:not([hidden], [data-folded])";
const folded = new Set();
let next = null; // the number of the event that `go` will select

export function start() {
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-fold]");
    if (!button) return;
    const header = button.closest(".inv");
    fold(header.id, !folded.has(header.id));
  });
  document.addEventListener("htmx:after:history:update", () => { next = null; mark(); show(); });
  document.addEventListener("focusin", (event) => {
    const link = event.target.closest?.("#rows .seq a");
    if (link) stop(link);
  });
  document.addEventListener("click", (event) => {
    const row = event.target.closest?.("#rows > .row[data-event]");
    const link = row?.querySelector(".seq a");
    if (!link || event.target.closest("a, button, input") || !window.getSelection().isCollapsed) return;
    if (event.ctrlKey || event.metaKey) window.open(link.href, "_blank", "noopener");
    else {
      link.focus({ preventScroll: true });
      link.click();
    }
  });
  document.addEventListener("pointerover", (event) => pair(event.target.closest?.("[data-event]")?.dataset.event));
  document.documentElement.addEventListener("pointerleave", () => pair());
}

export function connect(root) {
  connectOnce(root, "#rows", (list) => {
    new MutationObserver(() => { folded.forEach((group) => showGroup(group)); keepStop(); }).observe(list, { childList: true });
  });
  connectOnce(root, "#rows .row[data-event]", (row) => { row.querySelector(".seq a").tabIndex = -1; });
}

export function update() {
  folded.forEach((group) => showGroup(group));
  mark();
}

export function selected() {
  const query = new URLSearchParams(location.search);
  return Number(query.get("event") ?? query.get("at")) || null;
}

export function current() {
  return Number(document.activeElement?.closest("#rows > .row[data-event]")?.dataset.event) || selected();
}

// Moves by `count` rows; the inspector follows once no key has been pressed for a moment.
export function step(count) {
  const rows = visible();
  const here = rows.findIndex((row) => row.contains(document.activeElement));
  const number = next ?? selected(); // while the trace covers the rows, none has the focus
  const from = here >= 0 ? here : rows.findIndex((row) => Number(row.dataset.event) === number);
  const start = from >= 0 ? from : count > 0 ? -1 : rows.length;
  if (start + count === rows.length && from >= 0) document.querySelector("#next[href]")?.click();
  const row = rows[Math.min(Math.max(start + count, 0), rows.length - 1)];
  if (from < 0 || !gapBetween(rows[from], count)) go(row);
}

// Whether the next row in that direction hasn't been fetched.
function gapBetween(row, count) {
  let item = row;
  do item = count > 0 ? item.nextElementSibling : item.previousElementSibling;
  while (item && !item.matches("[data-event], [data-gap]"));
  return Boolean(item?.matches("[data-gap]"));
}

export function focus() {
  document.activeElement?.blur();
  document.querySelector('#rows .seq a[tabindex="0"]')?.focus({ preventScroll: true });
}

export function first() {
  const gap = document.querySelector("#rows > [data-gap]");
  if (!gap || gap.previousElementSibling?.closest("[data-event]")) return go(visible()[0]);
  const url = new URL(document.querySelector("[data-scrub]").form.getAttribute("action"), location);
  const current = new URLSearchParams(location.search);
  for (const name of ["at", "filter", "view"]) if (current.has(name)) url.searchParams.set(name, current.get(name));
  url.searchParams.set("event", 1);
  location.assign(url);
}

function visible() {
  return [...document.querySelectorAll(VISIBLE)];
}

// Focuses a row, and selects it once no key has been pressed for a moment.
export function go(row) {
  if (!row) return;
  next = Number(row.dataset.event);
  row.querySelector(".seq a").focus({ preventScroll: true });
  row.scrollIntoView({ block: "nearest" });
  soon(() => {
    const target = document.getElementById(row.id); // it may have been replaced or folded by then
    if (target?.matches(VISIBLE)) target.querySelector(".seq a").click();
  }, REST);
}

function mark() {
  const number = selected();
  for (const row of document.querySelectorAll('#rows > .row[data-event][aria-selected="true"]')) {
    row.setAttribute("aria-selected", "false");
  }
  document.querySelectorAll("#messages .selected").forEach((message) => message.classList.remove("selected"));
  const row = number && document.getElementById(`e-${number}`);
  if (!document.activeElement?.closest("#rows")) stopAt(row);
  if (!row) return;
  inChat(number).forEach((element) => element.classList.add("selected"));
  row.setAttribute("aria-selected", "true");
}

// Scrolls the selected row and its message into view when they are selected, not with each row that arrives.
function show() {
  const number = selected();
  if (!number) return;
  for (const list of document.querySelectorAll("[data-gaps]")) reveal(list, number);
  const messages = [...document.querySelectorAll("#messages > [data-event]")];
  const last = messages.findLast((each) => each.dataset.event <= number);
  const [first = last, ...others] = inChat(number);
  const inOrder = [...others.reverse(), first?.closest(".tool"), first]; // the last is sure to be in view
  inOrder.forEach((element) => element?.scrollIntoView({ block: "nearest" }));
  document.getElementById(`e-${number}`)?.scrollIntoView({ block: "nearest" });
}

// The elements of an event in the chat, the most important first: the outcomes in the cards of the calls that it answers, and its
// message, such as the files it saved. A person's answer is a message in the first place.
function inChat(number) {
  const outcomes = document.querySelectorAll(`#messages .outcome[data-event="${number}"]`);
  const message = document.getElementById(`m-${number}`);
  return (message?.matches(".user") ? [message, ...outcomes] : [...outcomes, message]).filter(Boolean);
}

// Keeps the tab stop off folded rows: it moves to the row that they fold into.
export function keepStop() {
  const row = document.querySelector('#rows .seq a[tabindex="0"]')?.closest(".row");
  if (!row?.matches(VISIBLE)) stopAt(row);
}

// Makes a row the tab stop; if it is hidden, the nearest visible row above it, else the last one.
function stopAt(row) {
  let near = row;
  while (near && !near.matches(VISIBLE)) near = near.previousElementSibling;
  const link = (near || visible().at(-1))?.querySelector(".seq a");
  if (link) stop(link);
}

function stop(link) {
  document.querySelectorAll('#rows .seq a[tabindex="0"]').forEach((other) => { other.tabIndex = -1; });
  link.tabIndex = 0;
}

// Highlights a row and its message while the pointer is over one of them, and a call with its result. Any of them may be gone
// by now.
function pair(number) {
  const row = number && document.getElementById(`e-${number}`), call = row && callOf(row);
  const pairs = number ? [row, ...inChat(number), call].filter(Boolean) : [];
  document.querySelectorAll(".paired").forEach((element) => { if (!pairs.includes(element)) element.classList.remove("paired"); });
  pairs.forEach((element) => element.classList.add("paired"));
}

// The row of the call that shows this result as its second line, if there is one.
function callOf(row) {
  const isSecond = row.matches(".answers") && !("apart" in document.documentElement.dataset);
  return isSecond && row.previousElementSibling?.matches(".k-call") ? row.previousElementSibling : null;
}

export function isFolded(group) {
  return folded.has(group);
}

export function fold(group, close) {
  if (close) folded.add(group);
  else folded.delete(group);
  showGroup(group);
  document.querySelectorAll("#rows").forEach(look);
}

function showGroup(group) {
  const open = !folded.has(group);
  const header = document.getElementById(group);
  if (!header) return;
  header.setAttribute("aria-expanded", String(open));
  for (const row of document.querySelectorAll(`#rows > [data-group="${CSS.escape(group)}"]`)) row.hidden = !open;
  keepStop();
}
