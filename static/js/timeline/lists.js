// The growing lists, rows and messages. A list stays at its end while the reader is there; otherwise a button counts what is
// new. Items that arrive twice are shown once, and a rewind marks what it covers.
import { each } from "../shell/behaviours.js";

const NEAR = 24, ROWS = 120; // pixels
const RECENT = 1000; // milliseconds
const ACTIONS = ["wheel", "touchmove", "pointerdown", "keydown"]; // by which readers scroll
let acted = -RECENT;
const atEnd = (box) => box.scrollHeight - box.scrollTop - box.clientHeight < NEAR;
const selected = () => ["event", "at"].map((name) => new URLSearchParams(location.search).get(name)).find(Boolean) ?? "";
const following = new WeakMap();
let replying = new WeakSet(); // the chat after one's own message, which follows although an event is selected
const follows = (box) => following.get(box) && (!selected() || replying.has(box));
const ends = new WeakMap();
const catchUps = new WeakMap(); // what takes a list to its end, and keeps it there
// What shows an event, in the order of the marks that a rewind brings: how the ids of its slot and of the mark begin.
const PLACES = [["e", "tb"], ["m", "tm"], ["taken", "td"]];

function toEnd(box) {
  box.scrollTop = box.scrollHeight;
  noteEnd(box);
}

function noteEnd(box) {
  ends.set(box, { top: box.scrollHeight - box.clientHeight, height: box.scrollHeight });
}

// A reader's scrolling is reported with the next frame; what arrives before must not scroll back. A box that becomes shorter
// scrolls by itself, to its new end, and by a few rows also where others have made it longer again in the same frame.
function hasLeft(box) {
  const end = ends.get(box), hasActed = performance.now() - acted < RECENT;
  if (!end) return false;
  if (box.scrollHeight >= end.height) return box.scrollTop < end.top - (hasActed ? NEAR : ROWS);
  return hasActed && box.scrollTop < box.scrollHeight - box.clientHeight - ROWS;
}

// Going live from a selection leads to the end.
export function start() {
  const note = ({ target }) => { if (!target.closest?.("input, textarea")) acted = performance.now(); };
  ACTIONS.forEach((kind) => addEventListener(kind, note, { capture: true, passive: true }));
  let before = selected();
  document.addEventListener("htmx:after:history:update", () => {
    const now = selected();
    if (now !== before) replying = new WeakSet();
    if (before && !now) document.querySelectorAll("[data-tail]").forEach(toEndAndStay);
    before = now;
  });
}

// After one's own message: shows the end of every list, or only of the chat if an event is selected.
export function toEnds() {
  for (const box of document.querySelectorAll("[data-tail]")) {
    if (selected() && !box.querySelector("#messages")) continue;
    replying.add(box);
    toEndAndStay(box);
  }
}

const toEndAndStay = (box) => catchUps.get(box)();

export function connect(root) {
  each(root, "#rows, #messages", removeDuplicates);
  each(root, "#rewind-news > [data-first]", markRewound);
  each(root, "[data-tail]", follow);
}

function follow(box) {
  const button = box.parentElement.querySelector("[data-newer]");
  let fresh = 0, frame = 0;
  const setFollowing = (is) => {
    following.set(box, is);
    if (is) { fresh = 0; button.hidden = true; }
  };
  const stay = () => {
    if (follows(box) && hasLeft(box)) setFollowing(false);
    // A reader who has come near the end isn't moved the rest of the way until something comes.
    if (follows(box) && ends.get(box)?.top !== box.scrollHeight - box.clientHeight) toEnd(box);
  };
  const settle = () => {
    frame = 0;
    stay();
    if (follows(box) || atEnd(box)) fresh = 0;
    button.hidden = fresh === 0;
    button.textContent = `${fresh} new ↓`;
  };
  setFollowing(!selected());
  box.addEventListener("scroll", () => {
    if (atEnd(box)) noteEnd(box); // it may be another one, where an invocation was folded
    // Rows may have come since the scrolling that is reported here.
    setFollowing(atEnd(box) || (follows(box) && !hasLeft(box)));
  }, { passive: true });
  catchUps.set(box, () => { toEnd(box); setFollowing(true); });
  button.addEventListener("click", catchUps.get(box));
  new MutationObserver((changes) => {
    for (const change of changes) change.addedNodes.forEach((node) => { fresh += counts(node) ? 1 : 0; });
    frame ||= requestAnimationFrame(settle); // with the layout that the frame makes anyway
  }).observe(box, { childList: true, subtree: true, characterData: true });
  new ResizeObserver(stay).observe(box);
  box.addEventListener("load", stay, true); // a picture has its height only now
}

// Something new at the end of its list: not older events, and not what is still streaming.
function counts(node) {
  return node.nodeType === 1 && node.matches(".row[data-event], .msg[id]") && !node.nextElementSibling;
}

// A row may arrive again after a reconnection, the header of an invocation with its earlier events: the first place counts.
function removeDuplicates(list) {
  new MutationObserver((changes) => {
    for (const change of changes) change.addedNodes.forEach((node) => node.id && keepFirst(list, node));
  }).observe(list, { childList: true });
}

export function keepFirst(list, node) {
  const [, ...others] = document.querySelectorAll(`#${CSS.escape(node.id)}`); // browsers find these by the id alone
  others.forEach((element) => { if (element.parentElement === list) element.remove(); });
}

// A rewind marks any number of events as rewound, or an undone rewind unmarks them.
function markRewound(news) {
  const { first, last } = news.dataset, marks = news.querySelectorAll("template");
  PLACES.forEach(([slot, name], place) => {
    for (const [element, number] of shown(slot)) {
      if (number < Number(first) || number > Number(last)) continue;
      document.getElementById(`${name}-${number}`)?.remove();
      if (marks.length) put(marks[place], element, `${name}-${number}`);
    }
  });
}

function* shown(slot) {
  for (const element of document.querySelectorAll(`[id^="${slot}-"]`)) {
    const number = element.id.slice(slot.length + 1);
    if (/^\d+$/.test(number)) yield [element, Number(number)];
  }
}

function put(template, element, id) {
  const mark = template.content.firstElementChild.cloneNode(true);
  mark.id = id;
  element.prepend(mark);
  window.htmx.process(mark);
}
