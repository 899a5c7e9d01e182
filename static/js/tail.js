// A list that grows stays at its end while the reader is there; otherwise a button counts what is new. A page that has
// grown long sheds its beginning only where every list is followed: `data-follows` says so to what arrives.
import { each } from "./connected.js";

const NEAR = 24;
const atEnd = (box) => box.scrollHeight - box.scrollTop - box.clientHeight < NEAR;
const selected = () => ["event", "at"].some((name) => new URLSearchParams(location.search).has(name));
const following = new WeakMap();
const follows = (box) => following.get(box) && !selected();
const ends = new WeakMap();

function toEnd(box) {
  box.scrollTop = box.scrollHeight;
  ends.set(box, { top: box.scrollTop, height: box.scrollHeight });
}

// A reader's scrolling is told of with the next frame; what arrives before that must not take them back. A box that has
// become shorter scrolls by itself.
function left(box) {
  const end = ends.get(box);
  return end && box.scrollTop < end.top - NEAR && box.scrollHeight >= end.height;
}

export function start() {
  document.addEventListener("htmx:after:history:update", say);
}

export function connect(root) {
  each(root, "[data-tail]", (box) => {
    const button = box.parentElement.querySelector("[data-newer]");
    let fresh = 0;
    const follow = (is) => {
      following.set(box, is);
      if (is) { fresh = 0; button.hidden = true; }
      say();
    };
    const stay = () => {
      if (follows(box) && left(box)) follow(false);
      if (follows(box)) toEnd(box);
    };
    const settle = () => {
      stay();
      if (follows(box) || atEnd(box)) fresh = 0;
      button.hidden = fresh === 0;
      button.textContent = `${fresh} new ↓`;
    };
    follow(!selected());
    box.addEventListener("scroll", () => follow(atEnd(box)), { passive: true });
    button.addEventListener("click", () => { toEnd(box); follow(true); });
    new MutationObserver((changes) => {
      for (const change of changes) change.addedNodes.forEach((node) => { fresh += counts(node) ? 1 : 0; });
      settle();
    }).observe(box, { childList: true, subtree: true, characterData: true });
    new ResizeObserver(stay).observe(box);
  });
}

function say() {
  const all = [...document.querySelectorAll("[data-tail]")].every(follows);
  document.getElementById("main").toggleAttribute("data-follows", all);
}

// Something new, at the end of its list: not older events, and not what is in flight.
function counts(node) {
  return node.nodeType === 1 && node.matches(".row[data-event], .msg[id]") && !node.nextElementSibling;
}
