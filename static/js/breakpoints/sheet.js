// Breakpoints: the sheet that a row's gutter opens, and where the focus goes when a breakpoint is changed or deleted.
import { connectOnce } from "../shell/behaviors.js";
import * as rows from "../timeline/rows.js";

const GAP = 6;
const DELETE = ":scope > form:last-child button";
let opener = null;
let focused = null;

export function start() {
  document.addEventListener("click", (event) => { opener = event.target.closest?.("[data-gutter]") ?? opener; });
  document.addEventListener("focusin", ({ target }) => {
    const item = target.closest(".break");
    focused = item && { item, others: neighbors(item) };
  });
}

export function connect(root) {
  connectOnce(root, "[data-sheet]", show);
  connectOnce(root, "#sheet", (sheet) => {
    new MutationObserver(() => { if (!sheet.querySelector("[data-sheet]")) close(sheet); }).observe(sheet, { childList: true });
    new ResizeObserver(() => { place(sheet); }).observe(sheet);
  });
  connectOnce(root, "[data-focus-fallback]", (list) => {
    new MutationObserver(() => {
      focusChanged(list);
      keepFocus(list.dataset.focusFallback);
    }).observe(list, { childList: true, subtree: true });
  });
}

// Opens the sheet of the row that has the focus, or else of the selected one.
export function open() {
  document.querySelector(`#g-${rows.current()} [data-gutter]`)?.click();
}

function show(form) {
  const sheet = form.closest("[popover]");
  sheet.showPopover();
  place(sheet);
  form.querySelector("input[type=checkbox]").focus();
}

// Places the sheet beside the row, moved up as far as needed to fit the window.
function place(sheet) {
  const row = opener?.getBoundingClientRect();
  if (!row || !sheet.matches(":popover-open")) return;
  sheet.style.left = `${row.right + GAP}px`;
  sheet.style.top = `${Math.max(GAP, Math.min(row.top, innerHeight - sheet.offsetHeight - GAP))}px`;
}

function close(sheet) {
  if (!sheet.matches(":popover-open")) return;
  sheet.hidePopover();
  opener?.focus({ preventScroll: true });
}

// The items below it, then those above, the nearest first.
function neighbors(item) {
  const all = [...item.parentElement.children], at = all.indexOf(item);
  return [...all.slice(at + 1), ...all.slice(0, at).reverse()];
}

// Focuses a changed breakpoint. htmx would do so later, when the stream may have replaced it by one without the attribute.
function focusChanged(list) {
  const changed = list.querySelector("[autofocus]");
  if (!changed) return;
  changed.removeAttribute("autofocus");
  changed.focus();
}

// The focused breakpoint may be deleted here or on another page: the nearest remaining one gets the focus.
function keepFocus(otherwise) {
  if (!focused || focused.item.isConnected || document.activeElement !== document.body) return;
  const next = focused.others.find((item) => item.isConnected)?.querySelector(DELETE);
  (next ?? document.querySelector(otherwise)).focus();
}
