// A session exported as one HTML file: the address names the event shown, and the keys work as on the session page.
const rows = [...document.querySelectorAll("#rows > .row[data-event]")];
const field = document.getElementById("filter");
const folded = new Set(); // ids of invocation headers
const visible = () => rows.filter((row) => !row.hidden);
const current = () => rows.find((row) => location.hash === `#d-${row.dataset.event}`);

function mark() {
  const row = current();
  for (const each of rows) each.setAttribute("aria-selected", each === row ? "true" : "false");
  row?.scrollIntoView({ block: "nearest" });
  document.getElementById(`m-${row?.dataset.event}`)?.scrollIntoView({ block: "nearest" });
  document.querySelector(".inspector").scrollTop = 0;
}

function step(count) {
  const here = visible();
  const at = here.indexOf(current());
  const next = at < 0 ? (count > 0 ? 0 : here.length - 1) : Math.min(Math.max(at + count, 0), here.length - 1);
  if (here[next]) location.hash = `d-${here[next].dataset.event}`;
}

function filter() {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  const matches = rows.filter((row) => words.every((word) => row.textContent.toLowerCase().includes(word)));
  const groups = new Set(matches.map((row) => row.dataset.group));
  for (const row of rows) row.hidden = true;
  for (const row of matches) row.hidden = folded.has(row.dataset.group);
  for (const header of document.querySelectorAll("#rows > .inv")) header.hidden = !groups.has(header.id);
  document.getElementById("nothing").hidden = !rows.length || matches.length > 0;
}

function fold(header) {
  const open = folded.delete(header.id);
  if (!open) folded.add(header.id);
  header.setAttribute("aria-expanded", String(open));
  filter();
}

function theme() {
  const root = document.documentElement;
  const dark = root.dataset.theme === "auto" ? matchMedia("(prefers-color-scheme: dark)").matches : root.dataset.theme === "dark";
  root.dataset.theme = dark ? "light" : "dark";
}

const KEYS = { j: () => step(1), k: () => step(-1), ArrowDown: () => step(1), ArrowUp: () => step(-1), "/": () => field.focus(), t: theme };

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target === field) {
    if (event.key === "Escape") field.blur();
    return;
  }
  const action = KEYS[event.key];
  if (!action || (event.key.startsWith("Arrow") && !event.target.closest("#rows, body:focus"))) return;
  event.preventDefault();
  action();
});
document.getElementById("theme").addEventListener("click", theme);
document.getElementById("rows").addEventListener("click", ({ target }) => {
  if (target.closest("[data-fold]")) fold(target.closest(".inv"));
});
field.addEventListener("input", filter);
addEventListener("hashchange", mark);
mark();

// Colors the JSON of an event when it is unfolded, up to as many characters as the session page does.
const TOKEN = /("(?:[^"\\]|\\.)*"?)|(-?\d[\d.eE+-]*)|(true|false)|(null)/g;
const KINDS = ["string", "number", "boolean", "null"];
const COLORED = 65536;

function color(pre) {
  const text = pre.textContent;
  const pieces = document.createDocumentFragment();
  let end = 0;
  for (const match of text.slice(0, COLORED).matchAll(TOKEN)) {
    const span = document.createElement("span");
    span.textContent = match[0];
    pieces.append(text.slice(end, match.index), span);
    end = match.index + match[0].length;
    const kind = KINDS[match.slice(1).findIndex(Boolean)];
    span.className = `j-${kind === "string" && text[end] === ":" ? "key" : kind}`;
  }
  pieces.append(text.slice(end));
  pre.replaceChildren(pieces);
}

document.addEventListener("toggle", (event) => {
  if (!event.target.matches(".raw-fold") || event.target.dataset.colored) return;
  event.target.dataset.colored = "yes";
  for (const pre of event.target.querySelectorAll("pre.json-text")) color(pre);
}, true);
