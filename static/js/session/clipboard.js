// Copies texts, messages as Markdown, blocks of code, and a link to what the page shows: the selected event with its tab, the
// moment, the pinned key.
import * as rows from "../timeline/rows.js";

// The parameters that a link keeps; others are temporary.
const LINKED = ["at", "event", "tab", "key", "path", "hits", "since", "with", "filter", "view"];
const SHOWN = 1500; // milliseconds

function address() {
  const query = new URLSearchParams(location.search);
  const link = new URLSearchParams(LINKED.filter((name) => query.has(name)).map((name) => [name, query.get(name)]));
  const number = rows.current();
  if (number && !query.has("at")) link.set("event", number);
  const tab = document.querySelector("#tab:not([disabled])")?.value;
  if (tab && number) link.set("tab", tab);
  const text = link.toString();
  return location.origin + location.pathname + (text ? `?${text}` : "");
}

export async function copyLink() {
  const url = address();
  try {
    await navigator.clipboard.writeText(url);
    confirmCopy("Link copied");
    for (const place of document.querySelectorAll("[data-copy-link] .copy-said")) place.textContent = "Link copied";
  } catch {
    prompt("Link to this view", url);
  }
}

// Copies an event's message, as the agent wrote it.
export async function copyMessage(number = rows.current()) {
  if (!number) return;
  const { pathname } = location;
  await copyFrom(`${pathname}/events/${number}/text`, `#${number} copied as Markdown`, `#${number} has no text to copy`);
}

async function copyFrom(url, done, empty) {
  const response = await fetch(url);
  const text = response.ok ? await response.text() : "";
  if (text) copyText(text, done);
  else confirmCopy(empty);
}

async function copyText(text, done) {
  try {
    await navigator.clipboard.writeText(text);
    confirmCopy(done);
  } catch {
    confirmCopy("Not copied: the browser denied access to the clipboard");
  }
}

let timer = 0;

// Shows the announcement, too, because the menu with the button is closed when the key is used.
function confirmCopy(text) {
  const spoken = document.getElementById("spoken");
  spoken.textContent = text;
  spoken.classList.add("shown");
  clearTimeout(timer);
  timer = setTimeout(() => {
    spoken.classList.remove("shown");
    for (const place of document.querySelectorAll("[data-copy-link] .copy-said")) place.textContent = "Copy link";
  }, SHOWN);
}

export function start() {
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-copy-link]")) copyLink();
  });
  document.addEventListener("click", async (event) => {
    const message = event.target.closest("[data-copy-from]");
    if (message) copyFrom(message.dataset.copyFrom, "Message copied as Markdown", "No text to copy");
    const code = event.target.closest("[data-copy-code]");
    if (code) copyText(code.parentElement.querySelector("pre").textContent, "Code copied");
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    const text = document.querySelector(button.dataset.copy)?.textContent ?? "";
    await navigator.clipboard.writeText(text);
    const label = button.lastChild;
    const before = label.textContent;
    label.textContent = "Copied";
    setTimeout(() => { label.textContent = before; }, SHOWN);
  });
}
