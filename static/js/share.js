// The address of what is seen: the selected event with its tab, the cursor, the pinned key.
import * as rows from "./rows.js";

// What a link needs; the rest of an address is of the moment.
const KEPT = ["at", "event", "tab", "key", "path", "hits", "since", "with", "filter"];

export function address() {
  const asked = new URLSearchParams(location.search);
  const kept = new URLSearchParams(KEPT.filter((name) => asked.has(name)).map((name) => [name, asked.get(name)]));
  const number = rows.current();
  if (number && !asked.has("at")) kept.set("event", number);
  const tab = document.querySelector("#tab:not([disabled])")?.value;
  if (tab && number) kept.set("tab", tab);
  const query = kept.toString();
  return location.origin + location.pathname + (query ? `?${query}` : "");
}

export async function copy() {
  const url = address();
  try {
    await navigator.clipboard.writeText(url);
    say("Link copied");
  } catch {
    prompt("The link to what is seen", url);
  }
}

let saying = 0;

// The menu that has the button is closed for who comes by key: what is spoken is shown, too.
function say(text) {
  const spoken = document.getElementById("spoken");
  for (const place of document.querySelectorAll("#spoken, [data-copy-link] .copy-said")) place.textContent = text;
  spoken.classList.add("shown");
  clearTimeout(saying);
  saying = setTimeout(() => {
    spoken.classList.remove("shown");
    for (const place of document.querySelectorAll("[data-copy-link] .copy-said")) place.textContent = "Copy link";
  }, 1500);
}

export function start() {
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-copy-link]")) copy();
  });
}
