// Gaps: events that the page leaves out. A gap takes the room of its events, which are fetched when it comes near the visible part;
// rows and messages far from there become a gap again (trimming.js). So the lists scroll from the first event to the last, and
// stay short.
import { connectOnce } from "../shell/behaviors.js";
import { keepFirst } from "./lists.js";
import { FOLDED, anchor, isShown, size, trim } from "./trimming.js";

const NEAR = 500; // pixels beyond the visible part: nearer events are fetched
const LEAST = 15, MOST = 160; // events per request
const REST = 60; // milliseconds
const pending = new WeakMap(); // the request of each list
const looks = new WeakMap(); // throttled functions that fill and trim each list
const targets = new WeakMap(); // the event that each list should show

export function start() {
  const anchors = new WeakMap();
  document.addEventListener("htmx:before:swap", ({ detail: { ctx } }) => {
    const gap = ctx.sourceElement?.matches?.("[data-gap]") && ctx.sourceElement;
    if (gap?.parentElement) anchors.set(ctx, { keep: anchor(gap.parentElement), before: gap.previousElementSibling });
  });
  document.addEventListener("htmx:after:swap", ({ detail: { ctx } }) => {
    if (!anchors.has(ctx)) return;
    const { keep, before } = anchors.get(ctx), gap = ctx.sourceElement;
    const filled = [];
    for (let each = gap.previousElementSibling; each && each !== before; each = each.previousElementSibling) filled.push(each);
    for (const each of filled) {
      inherit(each, gap);
      if (each.matches(".inv")) keepFirst(gap.parentElement, each); // before anything is measured
    }
    gap.remove();
    keep();
  });
}

export function connect(root) {
  connectOnce(root, "[data-gaps]", (list) => {
    looks.set(list, throttled(() => { fill(list); trim(list); }));
    list.closest(".scroller").addEventListener("scroll", looks.get(list), { passive: true });
    new MutationObserver(looks.get(list)).observe(list, { childList: true });
    look(list);
  });
  connectOnce(root, "[data-gap]", size);
}

// Fetches what has come into view, and trims the rest, after rows were shown or hidden.
export function look(list) {
  looks.get(list)?.();
}

// Scrolls a list to an event in one of its gaps, unless the gap is folded. Returns whether it scrolled.
export function reveal(list, number) {
  const gap = gapOf(list, number);
  if (!gap || !isShown(gap)) return false;
  const box = list.closest(".scroller"), place = gap.getBoundingClientRect();
  const part = (number - gap.dataset.first + .5) / (gap.dataset.last - gap.dataset.first + 1);
  targets.set(list, number);
  box.scrollTop += place.top + place.height * part - box.getBoundingClientRect().top - box.clientHeight / 2;
  fill(list);
  return true;
}

export function gapOf(list, number) {
  return [...list.querySelectorAll(":scope > [data-gap]")].find(({ dataset: { first, last } }) => first <= number && number <= last);
}

function throttled(act) {
  let timer = null;
  return () => { timer ??= setTimeout(() => { timer = null; act(); }, REST); };
}

function fill(list) {
  if (pending.has(list) || document.documentElement.hasAttribute("data-offline")) return;
  const view = list.closest(".scroller").getBoundingClientRect();
  const top = view.top - NEAR, bottom = view.bottom + NEAR;
  const places = [...list.querySelectorAll(":scope > [data-gap]")].filter(isShown).map((gap) => [gap, gap.getBoundingClientRect()]);
  const near = places.filter(([, place]) => place.bottom >= top && place.top <= bottom);
  if (!near.length || !view.height) return;
  // Visible gaps come first.
  const [gap, place] = near.find(([, each]) => each.bottom > view.top && each.top < view.bottom) ?? near[0];
  if (gap.matches("[data-leads]")) return fetchPart(list, gap, 0, 1); // the row that the rest folds into
  const count = Number(gap.dataset.count), each = place.height / count || 1;
  const from = Math.max(0, top - place.top), to = Math.min(place.height, bottom - place.top);
  const limit = Math.min(MOST, Math.max(LEAST, Math.ceil((to - from) / each)));
  const skip = from <= 0 ? 0 : Math.floor(from / each);
  fetchPart(list, gap, to >= place.height && from > 0 ? Math.max(0, count - limit) : skip, limit);
}

async function fetchPart(list, gap, skip, limit) {
  const { first, last } = gap.dataset;
  const url = new URL(list.dataset.gaps, location);
  for (const [name, value] of Object.entries({ first, last, skip, limit, ...foldBeside(gap) })) url.searchParams.set(name, value);
  const request = window.htmx.ajax("GET", url.pathname + url.search, { source: gap, target: gap, swap: "beforebegin" });
  pending.set(list, request);
  try {
    await request;
  } finally {
    pending.delete(list);
  }
  if (gap.isConnected) return; // the server did not answer; scrolling asks again
  const target = document.getElementById(`${list.id === "rows" ? "e" : "m"}-${targets.get(list)}`);
  target?.scrollIntoView({ block: "center" });
  targets.delete(list);
  fill(list);
}

// The folded agent next to a gap, whose events in the gap stay hidden, too: its row, and the number of names in its path.
function foldBeside(gap) {
  let below = gap.nextElementSibling, above = gap.previousElementSibling;
  if (below?.matches(".inv")) below = below.nextElementSibling;
  while (above?.matches(FOLDED)) above = above.previousElementSibling;
  const head = [below, above].find((item) => item?.matches("[data-heads]"));
  return head ? { fold: head.dataset.event, names: head.dataset.heads } : {};
}

// The rest of a gap keeps its invocation and path.
function inherit(rest, gap) {
  if (!rest.matches("[data-gap]")) return;
  for (const name of ["group", "path"]) if (gap.dataset[name]) rest.dataset[name] = gap.dataset[name];
}
