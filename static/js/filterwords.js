// What a filter may ask for is offered for the word at the caret, once somebody types or asks for it with the arrows.
import { each } from "./connected.js";

const MOST = 14;
const field = () => document.getElementById("filter-field");
const list = () => document.getElementById("filter-words");

export function start() {
  document.addEventListener("click", (event) => {
    const option = event.target.closest?.("#filter-words [role=option]");
    if (option) take(option);
  });
  // The field keeps the focus while an option is clicked.
  document.addEventListener("mousedown", (event) => {
    if (event.target.closest?.("#filter-words")) event.preventDefault();
  });
  document.addEventListener("htmx:after:swap", ({ detail: { ctx } }) => {
    if (ctx.target?.id === "filter-words" && document.activeElement === field() && !field().value) offer();
  });
}

export function connect(root) {
  each(root, "[data-filter] [role=combobox]", (input) => {
    for (const type of ["input", "click"]) input.addEventListener(type, offer);
    input.addEventListener("focus", () => { if (!input.value) offer(); });
    input.addEventListener("blur", () => unfold(false));
    input.addEventListener("keydown", keydown);
  });
}

function keydown(event) {
  const shown = list().hidden ? [] : [...list().querySelectorAll("[role=option]:not([hidden])")];
  const at = shown.findIndex((option) => option.getAttribute("aria-selected") === "true");
  if (event.key === "Escape") {
    event.preventDefault();
    if (list().hidden) event.target.blur();
    unfold(false);
  } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault();
    if (list().hidden) offer();
    else choose(shown, event.key === "ArrowDown" ? at + 1 : at - 1);
  } else if ((event.key === "Enter" || event.key === "Tab") && at >= 0) {
    event.preventDefault();
    take(shown[at]);
  }
}

// The word that ends at the caret, without its minus.
function word() {
  const { value, selectionStart: end } = field();
  const from = value.slice(0, end).search(/\S*$/);
  const start = value[from] === "-" ? from + 1 : from;
  return { start, end, text: value.slice(start, end).toLowerCase() };
}

function offer() {
  const { text } = word();
  let count = 0;
  for (const option of list().querySelectorAll("[role=option]")) {
    const offered = option.dataset.word.toLowerCase();
    option.hidden = offered === text || !offered.includes(text) || ++count > MOST;
    option.setAttribute("aria-selected", "false");
  }
  unfold(count > 0);
}

function choose(shown, at) {
  const chosen = shown.at(Math.max(at, -1) % shown.length);
  for (const option of shown) option.setAttribute("aria-selected", String(option === chosen));
  chosen.scrollIntoView({ block: "nearest" });
  field().setAttribute("aria-activedescendant", chosen.id);
}

function take(option) {
  const { start, end } = word();
  const text = option.dataset.word;
  field().setRangeText(text.endsWith(">") ? text : `${text} `, start, end, "end");
  field().focus();
  unfold(false);
}

function unfold(open) {
  list().hidden = !open;
  field().setAttribute("aria-expanded", String(open));
  field().removeAttribute("aria-activedescendant");
}
