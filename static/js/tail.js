// A list that grows stays at its end while the reader is there; otherwise a button counts what is new.
import { each } from "./connected.js";

const NEAR = 24;
const atEnd = (box) => box.scrollHeight - box.scrollTop - box.clientHeight < NEAR;
const toEnd = (box) => { box.scrollTop = box.scrollHeight; };
const selected = () => ["event", "at"].some((name) => new URLSearchParams(location.search).has(name));

export function connect(root) {
  each(root, "[data-tail]", (box) => {
    const button = box.parentElement.querySelector("[data-newer]");
    const follows = () => following && !selected();
    let following = !selected();
    let fresh = 0;
    const settle = () => {
      if (follows()) toEnd(box);
      if (follows()) fresh = 0;
      button.hidden = fresh === 0;
      button.textContent = `${fresh} new ↓`;
    };
    box.addEventListener("scroll", () => {
      following = atEnd(box);
      if (following) { fresh = 0; button.hidden = true; }
    }, { passive: true });
    button.addEventListener("click", () => { fresh = 0; following = true; toEnd(box); button.hidden = true; });
    new MutationObserver((changes) => {
      for (const change of changes) change.addedNodes.forEach((node) => { fresh += counts(node) ? 1 : 0; });
      settle();
    }).observe(box, { childList: true, subtree: true, characterData: true });
    new ResizeObserver(() => { if (follows()) toEnd(box); }).observe(box);
  });
}

// Something new, at the end of its list: not older events, and not what is in flight.
function counts(node) {
  return node.nodeType === 1 && node.matches(".row[data-event], .msg[id]") && !node.nextElementSibling;
}
