// The filter of the timeline: Enter fetches the matching rows and leaves the rest of the page as it is, such as a message being
// written. The address always contains the current filter. Suggestions complete the word at the caret.
import { afterwards } from "../inspector/requests.js";
import { connectOnce } from "../shell/behaviors.js";
import { position } from "../shell/stream.js";
import * as view from "../trace/view.js";

const MOST = 14;
const clicked = []; // ids of chips that were clicked while the rows for another filter were loading
let underWay = 0; // the number of row requests in progress
let isWaiting = false; // for the suggestions, which are fetched when they are first needed
let pending = ""; // the id of the element to focus when the rows for a new filter arrive
const field = () => document.getElementById("filter-field");
const list = () => document.getElementById("filter-words");

export function start() {
  document.addEventListener("htmx:after:history:update", keepInAddress);
  document.addEventListener("submit", (event) => {
    if (event.target.matches("[data-filter]")) go(field().value.trim(), event);
  });
  document.addEventListener("click", (event) => {
    if (event.target.closest?.("#filter-clear, #filter-none")) go("", event);
    const chip = event.target.closest?.("[data-filter-after]");
    if (!chip || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    chip.closest("[popover]")?.hidePopover();
    if (underWay && chip.id) clicked.push(chip.id); // the filter it leads to isn't known until the chips are up to date
    else go(chip.dataset.filterAfter, event, chip.id || document.activeElement.id);
  });
  document.addEventListener("click", (event) => {
    const option = event.target.closest?.("#filter-words [role=option]");
    if (option) take(option);
  });
  // The field keeps the focus while an option is clicked.
  document.addEventListener("mousedown", (event) => {
    if (event.target.closest?.("#filter-words")) event.preventDefault();
  });
  document.addEventListener("htmx:after:swap", ({ detail: { ctx } }) => {
    if (ctx.target?.id !== "filter-words") return;
    if (isWaiting && document.activeElement === field()) suggest();
    isWaiting = false;
  });
}

export function connect(root) {
  connectOnce(root, "#filter-field", (input) => {
    if (!pending) return;
    const next = document.getElementById(pending) ?? input;
    pending = "";
    next.focus({ preventScroll: true });
    next.scrollIntoView({ block: "nearest", inline: "nearest" });
    input.setSelectionRange(input.value.length, input.value.length);
  });
  connectOnce(root, "[data-filter] [role=combobox]", (input) => {
    for (const type of ["input", "click"]) input.addEventListener(type, suggest);
    input.addEventListener("focus", () => (input.value ? fetchWords() : suggest()));
    input.addEventListener("blur", () => expand(false));
    input.addEventListener("keydown", keydown);
  });
}

function keydown(event) {
  const options = list().hidden ? [] : [...list().querySelectorAll("[role=option]:not([hidden])")];
  const at = options.findIndex((option) => option.getAttribute("aria-selected") === "true");
  if (event.key === "Escape") {
    event.preventDefault();
    if (list().hidden) event.target.blur();
    expand(false);
  } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault();
    if (list().hidden) suggest();
    else choose(options, event.key === "ArrowDown" ? at + 1 : at - 1);
  } else if ((event.key === "Enter" || event.key === "Tab") && at >= 0) {
    event.preventDefault();
    take(options[at]);
  }
}

// The word that ends at the caret, without a leading minus.
function word() {
  const { value, selectionStart: end } = field();
  const from = value.slice(0, end).search(/\S*$/);
  const start = value[from] === "-" ? from + 1 : from;
  return { start, end, text: value.slice(start, end).toLowerCase() };
}

function fetchWords() {
  field().dispatchEvent(new Event("words"));
}

function suggest() {
  if (!list().firstElementChild) {
    isWaiting = true;
    return fetchWords();
  }
  const { text } = word();
  const plain = unquoted(text);
  let count = 0;
  for (const option of list().querySelectorAll("[role=option]")) {
    const suggestion = option.dataset.word.toLowerCase();
    option.hidden = suggestion === text || !unquoted(suggestion).includes(plain) || ++count > MOST;
    option.setAttribute("aria-selected", "false");
  }
  expand(count > 0);
}

// Quotes only make a name match as a whole.
function unquoted(text) {
  return text.replaceAll('"', "");
}

function choose(options, at) {
  const current = options.at(Math.max(at, -1) % options.length);
  for (const option of options) option.setAttribute("aria-selected", String(option === current));
  current.scrollIntoView({ block: "nearest" });
  field().setAttribute("aria-activedescendant", current.id);
}

function take(option) {
  const { start, end } = word();
  const text = option.dataset.word;
  field().setRangeText(text.endsWith(">") ? text : `${text} `, start, end, "end");
  field().focus();
  expand(false);
}

function expand(open) {
  list().hidden = !open;
  field().setAttribute("aria-expanded", String(open));
  field().removeAttribute("aria-activedescendant");
}

export function focus() {
  if (view.showsEvents()) return edit();
  view.toggle();
  afterwards(edit);
}

function edit() {
  field().focus();
  field().select();
}

// A selection in another pane may lead to an address without the filter.
function keepInAddress() {
  const applied = document.querySelector("[data-filter-text]")?.value;
  const url = new URL(location);
  if (pending || !applied || url.searchParams.has("filter")) return;
  url.searchParams.set("filter", applied);
  window.history.replaceState(window.history.state, "", url);
}

function go(text, event, next = "filter-field") {
  event.preventDefault();
  const url = new URL(location);
  if (text) url.searchParams.set("filter", text);
  else url.searchParams.delete("filter");
  const request = new URL(url);
  request.searchParams.set("seen", position());
  pending = next;
  underWay += 1;
  const loaded = window.htmx.ajax("GET", request.pathname + request.search, { source: "#timeline", push: url.pathname + url.search });
  Promise.resolve(loaded).finally(() => {
    underWay -= 1;
    if (!underWay) document.getElementById(clicked.shift())?.click();
  });
}
