// The form for a breakpoint on events like one: opened beside the row, closed when it has been sent.
import { each } from "./connected.js";
import * as rows from "./rows.js";

const GAP = 6;
let opener = null;

export function start() {
  document.addEventListener("click", (event) => { opener = event.target.closest?.("[data-gutter]") ?? opener; });
}

export function connect(root) {
  each(root, "[data-sheet]", show);
  each(root, "#sheet", (sheet) => {
    new MutationObserver(() => { if (!sheet.querySelector("[data-sheet]")) close(sheet); }).observe(sheet, { childList: true });
    new ResizeObserver(() => { place(sheet); }).observe(sheet);
  });
}

// For the row of the focus, else for the selected one.
export function open() {
  document.querySelector(`#g-${rows.current()} [data-gutter]`)?.click();
}

function show(form) {
  const sheet = form.closest("[popover]");
  sheet.showPopover();
  place(sheet);
  form.querySelector("input[type=checkbox]").focus();
}

// Beside the row, and as far up as it takes to be seen whole.
function place(sheet) {
  const at = opener?.getBoundingClientRect();
  if (!at || !sheet.matches(":popover-open")) return;
  sheet.style.left = `${at.right + GAP}px`;
  sheet.style.top = `${Math.max(GAP, Math.min(at.top, innerHeight - sheet.offsetHeight - GAP))}px`;
}

function close(sheet) {
  if (!sheet.matches(":popover-open")) return;
  sheet.hidePopover();
  opener?.focus({ preventScroll: true });
}
