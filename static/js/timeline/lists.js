// The growing lists of rows and messages. A list stays at its end while the reader is there; otherwise a button counts the new
// items. Items that arrive twice are shown once, and a rewind marks the events it covers.
import { connectOnce } from "../shell/behaviors.js";

const NEAR = 24, ROWS = 120, SEEN = 16; // pixels
const ITEMS = ".row[data-event], .msg[data-event]";
const RECENT = 1000; // milliseconds
const ACTIONS = ["wheel", "touchmove", "pointerdown", "keydown"]; // what readers scroll with
let acted = -RECENT;
const atEnd = (box) => box.scrollHeight - box.scrollTop - box.clientHeight < NEAR;
const selected = () => ["event", "at"].map((name) => new URLSearchParams(location.search).get(name)).find(Boolean) ?? "";
const following = new WeakMap();
let replying = new WeakSet(); // lists that follow, after the reader's own message, although an event is selected
const follows = (box) => following.get(box) && (!selected() || replying.has(box));
const ends = new WeakMap();
const catchUps = new WeakMap(); // functions that scroll each list to its end and keep it there
// The prefixes of the ids of an event's elements and of their rewind marks, in the order of the marks that a rewind sends.
const PLACES = [["e", "tb"], ["m", "tm"], ["taken", "td"]];

function toEnd(box) {
  box.scrollTop = box.scrollHeight;
  noteEnd(box);
}

function noteEnd(box) {
  ends.set(box, { top: box.scrollHeight - box.clientHeight, height: box.scrollHeight });
}

// Whether the reader has scrolled away from the end. Scrolling is reported with the next frame; what arrives before that must not
// scroll back. A box that gets shorter scrolls to its new end by itself, a few rows off if it has grown again in the same frame.
function hasLeft(box) {
  const end = ends.get(box), hasActed = performance.now() - acted < RECENT;
  if (!end) return false;
  if (box.scrollHeight >= end.height) return box.scrollTop < end.top - (hasActed ? NEAR : ROWS);
  return hasActed && box.scrollTop < box.scrollHeight - box.clientHeight - ROWS;
}

// Going live from a selection scrolls to the end.
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

// After the reader's own message: shows the end of every list, or only of the chat if an event is selected.
export function toEnds() {
  for (const box of document.querySelectorAll("[data-tail]")) {
    if (selected() && !box.querySelector("#messages")) continue;
    replying.add(box);
    toEndAndStay(box);
  }
}

const toEndAndStay = (box) => catchUps.get(box)();

export function connect(root) {
  connectOnce(root, "#rows, #messages", removeDuplicates);
  connectOnce(root, "#rewind-news > [data-first]", markRewound);
  connectOnce(root, "[data-tail]", follow);
}

function follow(box) {
  const button = box.parentElement.querySelector("[data-newer]");
  let unseen = [], frame = 0; // unseen: the numbers of items below the visible part
  let newest = Number(document.getElementById("scrub").max); // items that fill a gap aren't new
  const look = () => {
    if (follows(box) || atEnd(box)) unseen = [];
    const last = unseen.length && lastInSight(box);
    unseen = unseen.filter((number) => number > last);
    button.hidden = unseen.length === 0;
    button.textContent = `${unseen.length} new ↓`;
  };
  const setFollowing = (is) => {
    following.set(box, is);
    if (is) { unseen = []; button.hidden = true; }
  };
  const stay = () => {
    if (follows(box) && hasLeft(box)) setFollowing(false);
    // A reader who has come near the end isn't moved the rest of the way until something arrives.
    if (follows(box) && ends.get(box)?.top !== box.scrollHeight - box.clientHeight) toEnd(box);
  };
  const settle = () => {
    frame = 0;
    stay();
    look();
  };
  setFollowing(!selected());
  box.addEventListener("scroll", () => {
    if (atEnd(box)) noteEnd(box); // the end moves when an invocation is folded
    // Rows may have arrived since the scrolling that is reported here.
    setFollowing(atEnd(box) || (follows(box) && !hasLeft(box)));
    if (unseen.length) look();
  }, { passive: true });
  catchUps.set(box, () => { toEnd(box); setFollowing(true); });
  button.addEventListener("click", catchUps.get(box));
  new MutationObserver((changes) => {
    const numbers = changes.flatMap(({ addedNodes }) => [...addedNodes].map(numberOf)).filter((number) => number > newest);
    newest = Math.max(newest, ...numbers);
    unseen.push(...new Set(numbers));
    frame ||= requestAnimationFrame(settle); // reuses the layout of the next frame
  }).observe(box, { childList: true, subtree: true, characterData: true });
  new ResizeObserver(stay).observe(box);
  box.addEventListener("load", stay, true); // pictures get their height only now
}

// The number of the item's event; 0 for other nodes, and for items that are still streaming.
function numberOf(node) {
  return node.nodeType === 1 && node.matches(ITEMS) ? Number(node.dataset.event) : 0;
}

function lastInSight(box) {
  const { bottom } = box.getBoundingClientRect();
  const isInSight = ({ height, top }) => height && top + SEEN < bottom;
  return Number([...box.querySelectorAll(ITEMS)].findLast((item) => isInSight(item.getBoundingClientRect()))?.dataset.event ?? 0);
}

// A row may arrive again after a reconnect, and an invocation's header with its earlier events: the first place counts.
function removeDuplicates(list) {
  new MutationObserver((changes) => {
    for (const change of changes) change.addedNodes.forEach((node) => node.id && keepFirst(list, node));
  }).observe(list, { childList: true });
}

export function keepFirst(list, node) {
  const [, ...others] = document.querySelectorAll(`#${CSS.escape(node.id)}`); // browsers look these up by id
  others.forEach((element) => { if (element.parentElement === list) element.remove(); });
}

// Marks the events that a rewind covers, or unmarks them when it is undone.
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
