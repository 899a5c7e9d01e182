// When the breakpoint that has the focus is taken away, here or by somebody else, the next one in its list gets it.
import { each } from "./connected.js";

const BUTTON = ":scope > form:last-child button";
let last = null;

export function start() {
  document.addEventListener("focusin", ({ target }) => {
    const item = target.closest(".break");
    last = item && { item, others: others(item) };
  });
}

export function connect(root) {
  each(root, "[data-breaks]", (list) => {
    new MutationObserver(() => { pass(list.dataset.breaks); }).observe(list, { childList: true, subtree: true });
  });
}

// Those below it, then those above, the nearest first.
function others(item) {
  const all = [...item.parentElement.children], at = all.indexOf(item);
  return [...all.slice(at + 1), ...all.slice(0, at).reverse()];
}

function pass(otherwise) {
  if (!last || last.item.isConnected || document.activeElement !== document.body) return;
  const next = last.others.find((item) => item.isConnected)?.querySelector(BUTTON);
  (next ?? document.querySelector(otherwise)).focus();
}
