// Replaces items by gaps (gaps.js): rows and messages far from what the reader sees, and rows of a folded agent or invocation
// wherever they are. A gap for folded rows is folded with them, and fetched once it becomes visible.
import { totals } from "./totals.js";

const FAR = 900; // pixels beyond the visible part
const CROWD = 12; // the fewest items that become a new gap
export const FOLDED = '[hidden], [data-folded="agent"]';
export const isShown = (item) => !item.matches("[hidden], [data-folded]");

export function size(gap) {
  gap.style.setProperty("--count", gap.dataset.count);
}

// Returns a function that scrolls what the reader sees back into place, to be called after something above it has changed. A reader
// at the very top stays there.
export function anchor(list) {
  const box = list.closest(".scroller"), top = box.getBoundingClientRect().top;
  if (box.scrollTop < 1) return () => { box.scrollTop = 0; };
  const seen = [...list.children].find((item) => !item.matches("[data-gap], .inv") && item.getBoundingClientRect().bottom > top + 60);
  const before = seen?.getBoundingClientRect().top;
  return () => {
    if (seen?.isConnected) box.scrollTop += seen.getBoundingClientRect().top - before;
  };
}

// The items in blocks that stay together: a header with its first row, a row or message with what follows from it.
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

export function trim(list) {
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
    // Folded items are dropped with the row that they fold into, or by themselves.
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

// Items that have the focus, are selected, or take input stay.
function isKept(block) {
  return block.some((item) => item.matches(':focus-within, [aria-selected="true"], :has(form)'));
}

const isAllFolded = (items) => items.length > 0 && items.every((item) => item.matches(FOLDED));

function drop(list, run) {
  const header = headerAfter(run), items = run.filter((item) => item !== header);
  const numbers = items.filter((item) => item.matches("[data-event], [data-gap]"));
  const places = items.filter(isShown).map((item) => item.getBoundingClientRect());
  const height = places.length ? places.at(-1).bottom - places[0].top - (header?.offsetHeight ?? 0) : 0;
  const first = firstOf(numbers[0]), last = firstOf(next(items.at(-1))) - 1;
  const isRow = list.id === "rows";
  const rows = numbers.reduce((sum, item) => sum + Number(item.dataset.count ?? 1), 0);
  const gap = document.createElement("div");
  const count = isRow ? rows : last - first + 1;
  gap.className = "gap";
  Object.assign(gap.dataset, { gap: "", first, last, count });
  gap.setAttribute("hx-include", "this"); // the list's address is complete; the inspector may show another moment
  gap.setAttribute("hx-sync", "this"); // otherwise its request would replace a selection's
  if (isRow) share(gap, numbers);
  if (isAllFolded(items)) fold(gap, items[0]);
  else gap.style.height = `${height}px`;
  const label = document.createElement("span");
  label.textContent = `${count} more events`;
  if (isRow) { gap.setAttribute("role", "row"); label.setAttribute("role", "gridcell"); }
  gap.append(label);
  size(gap);
  list.insertBefore(gap, run[0]);
  items.forEach((item) => item.remove());
  header?.toggleAttribute("data-continued", true);
}

// The header of the invocation that continues below. It stays, above the rest of its rows.
function headerAfter(items) {
  const group = items.at(-1).nextElementSibling?.dataset.group;
  return group && items.findLast((item) => item.id === group);
}

// Gives a gap what its rows have in common, so that it folds as they would: their invocation, and the agent they are under.
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

// Hides a gap at once if the items it replaces were hidden, instead of at the next refresh.
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
