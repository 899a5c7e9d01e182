// Invocations fold to their header; rows that arrive later join what is folded.
import { each } from "./connected.js";

const folded = new Set();

export function start() {
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-fold]");
    if (!button) return;
    const header = button.closest(".inv");
    toggle(header.id, !folded.has(header.id));
  });
}

export function connect(root) {
  each(root, "#rows", (list) => {
    new MutationObserver(() => folded.forEach((group) => show(group))).observe(list, { childList: true });
  });
  if (folded.size) folded.forEach((group) => show(group));
}

export function toggle(group, close) {
  if (close) folded.add(group);
  else folded.delete(group);
  show(group);
}

function show(group) {
  const open = !folded.has(group);
  const header = document.getElementById(group);
  if (!header) return;
  header.setAttribute("aria-expanded", String(open));
  for (const row of document.querySelectorAll(`#rows > [data-group="${CSS.escape(group)}"]`)) row.hidden = !open;
}
