// Events that the page leaves out. A gap takes the room of its events; where it comes near what the reader sees, it is
// replaced by those that belong there, and rows and messages far from what the reader sees become a gap again. So the
// lists scroll from the first event to the last, and stay short.
// Rows of a folded agent or invocation become a gap wherever they are, which is folded with them and fetched once it is seen.
import { each } from "../shell/behaviours.js";
import { totals } from "./totals.js";

const NEAR = 500, FAR = 900; // pixels beyond what is seen: what is nearer is fetched, what is farther is dropped
const LEAST = 30, MOST = 160; // events of one request
const CROWD = 12; // items that are dropped together
const REST = 60; // milliseconds
const pending = new WeakMap(); // the list's request
const looks = new WeakMap(); // what looks at a list soon, and fetches and drops what it has to
const targets = new WeakMap(); // the event that a list is to show

export function start() {
  const anchors = new WeakMap();
  document.addEventListener("htmx:before:swap", ({ detail: { ctx } }) => {
    const gap = ctx.sourceElement?.matches?.("[data-gap]") && ctx.sourceElement;
    if (gap?.parentElement) anchors.set(ctx, { keep: anchor(gap.parentElement), before: gap.previousElementSibling });
  });
  document.addEventListener("htmx:after:swap", ({ detail: { ctx } }) => {
    if (!anchors.has(ctx)) return;
    const { keep, before } = anchors.get(ctx), gap = ctx.sourceElement;
    for (let each = gap.previousElementSibling; each !== before; each = each.previousElementSibling) inherit(each, gap);
    gap.remove();
    keep();
  });
}

export function connect(root) {
  each(root, "[data-gaps]", (list) => {
    looks.set(list, throttled(() => { fill(list); trim(list); }));
    list.closest(".scroller").addEventListener("scroll", looks.get(list), { passive: true });
    new MutationObserver(looks.get(list)).observe(list, { childList: true });
    look(list);
  });
  each(root, "[data-gap]", size);
}

// Fetches what is in sight, after rows have been shown or hidden.
export function look(list) {
  looks.get(list)?.();
}

// Scrolls a list to an event that is in one of its gaps; whether there is such a gap.
export function reveal(list, number) {
  const gap = gapOf(list, number);
  if (!gap) return false;
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

function size(gap) {
  gap.style.setProperty("--count", gap.dataset.count);
}

function fill(list) {
  if (pending.has(list) || document.documentElement.hasAttribute("data-offline")) return;
  const view = list.closest(".scroller").getBoundingClientRect();
  const top = view.top - NEAR, bottom = view.bottom + NEAR;
  const places = [...list.querySelectorAll(":scope > [data-gap]")].filter(isShown).map((gap) => [gap, gap.getBoundingClientRect()]);
  const near = places.filter(([, place]) => place.bottom >= top && place.top <= bottom);
  if (!near.length || !view.height) return;
  // What is seen comes first.
  const [gap, place] = near.find(([, each]) => each.bottom > view.top && each.top < view.bottom) ?? near[0];
  if (gap.matches("[data-leads]")) return fetchPart(list, gap, 0, 1); // the row that the rest folds to
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
  const request = window.htmx.ajax("GET", url.pathname + url.search, { source: gap, target: gap, swap: "beforebegin", sync: "this" });
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

// The folded agent next to a gap, whose events there the reader doesn't see either: its row, and how many names its path has.
function foldBeside(gap) {
  let below = gap.nextElementSibling, above = gap.previousElementSibling;
  if (below?.matches(".inv")) below = below.nextElementSibling;
  while (above?.matches(FOLDED)) above = above.previousElementSibling;
  const head = [below, above].find((item) => item?.matches("[data-heads]"));
  return head ? { fold: head.dataset.event, names: head.dataset.heads } : {};
}

// Keeps what the reader sees where it is, while something above it changes.
function anchor(list) {
  const box = list.closest(".scroller"), top = box.getBoundingClientRect().top;
  const seen = [...list.children].find((item) => !item.matches("[data-gap]") && item.getBoundingClientRect().bottom > top + 60);
  const before = seen?.getBoundingClientRect().top;
  return () => {
    if (seen?.isConnected) box.scrollTop += seen.getBoundingClientRect().top - before;
  };
}

// The items that belong together: a header with its first row, a row or message with what follows from it.
function blocks(list) {
  const all = [];
  let open = false; // whether the last block still waits for its row
  for (const item of list.children) {
    const numbered = item.matches("[data-event], [data-gap]"), header = item.matches(".inv");
    if (!all.length || header || (numbered && !open)) all.push([]);
    all.at(-1).push(item);
    open = header || (open && !numbered);
  }
  return all;
}

function trim(list) {
  const view = list.closest(".scroller").getBoundingClientRect();
  if (!view.height || list.children.length < CROWD) return;
  const runs = [[]];
  const all = blocks(list);
  let end = list.getBoundingClientRect().top;
  for (const block of all) {
    const isFolded = block.every((item) => item.matches(FOLDED));
    const places = block.filter(isShown).map((item) => item.getBoundingClientRect());
    const start = places.length ? places[0].top : end;
    end = places.length ? places.at(-1).bottom : end;
    const far = isFolded || end < view.top - FAR || start > view.bottom + FAR;
    // What is folded goes with the row that it has folded to, or by itself.
    if (!isFolded && isAllFolded(runs.at(-1))) runs.push([]);
    if (far && block !== all.at(-1) && !isKept(block)) runs.at(-1).push(...block);
    else if (runs.at(-1).length) runs.push([]);
  }
  const long = runs.filter((run) => run.length >= CROWD || (run.length > 1 && !isAllFolded(run) && run.some((item) => item.matches("[data-gap]"))));
  if (!long.length) return;
  const keep = anchor(list);
  long.forEach((run) => drop(list, run));
  keep();
}

// What has the focus, is selected, or takes input stays.
function isKept(block) {
  return block.some((item) => item.matches(':focus-within, [aria-selected="true"], :has(form)'));
}

const FOLDED = '[hidden], [data-folded="agent"]';
const isShown = (item) => !item.matches("[hidden], [data-folded]");
const isAllFolded = (items) => items.length > 0 && items.every((item) => item.matches(FOLDED));

function drop(list, items) {
  const numbers = items.filter((item) => item.matches("[data-event], [data-gap]"));
  const places = items.filter(isShown).map((item) => item.getBoundingClientRect());
  const height = places.length ? places.at(-1).bottom - places[0].top : 0;
  const first = firstOf(numbers[0]), last = firstOf(next(items.at(-1))) - 1;
  const isRow = list.id === "rows";
  const rows = numbers.reduce((sum, item) => sum + Number(item.dataset.count ?? 1), 0);
  const gap = document.createElement("div");
  const count = isRow ? rows : last - first + 1;
  gap.className = "gap";
  Object.assign(gap.dataset, { gap: "", first, last, count });
  gap.setAttribute("hx-include", "this"); // the list's address says it all; the inspector may be as of another event
  if (isRow) share(gap, numbers);
  if (isAllFolded(items)) fold(gap, items[0]);
  else gap.style.height = `${height}px`;
  const label = document.createElement("span");
  label.textContent = `${count} more events`;
  if (isRow) { gap.setAttribute("role", "row"); label.setAttribute("role", "gridcell"); }
  gap.append(label);
  size(gap);
  list.insertBefore(gap, items[0]);
  items.forEach((item) => item.remove());
}

// What a gap's rows have in common, so that it folds as they would: the invocation, and the agent that they are under.
function share(gap, items) {
  const [{ dataset: { group } }] = items;
  gap.dataset.totals = JSON.stringify(totals(items));
  if (!group || items.some((item) => item.dataset.group !== group)) return;
  gap.dataset.group = group;
  const [path, ...others] = items.map((item) => (item.dataset.path ?? "").split("/"));
  const differs = path.findIndex((name, place) => others.some((other) => other[place] !== name));
  const common = differs < 0 ? path : path.slice(0, differs);
  if (common.length > 1) gap.dataset.path = common.join("/");
}

// What is left of a gap has the same in common.
function inherit(rest, gap) {
  if (!rest.matches("[data-gap]")) return;
  for (const name of ["group", "path"]) if (gap.dataset[name]) rest.dataset[name] = gap.dataset[name];
}

// Out of sight at once, as what it stands for is, and not when the page has looked at it.
function fold(gap, like) {
  gap.hidden = like.hidden;
  if (like.dataset.folded) gap.dataset.folded = like.dataset.folded;
}

const firstOf = (item) => Number(item.dataset.first ?? item.dataset.event);

function next(item) {
  let after = item.nextElementSibling;
  while (!after.matches("[data-event], [data-gap]")) after = after.nextElementSibling;
  return after;
}
