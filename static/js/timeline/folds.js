// Parts of the timeline that fold into their first row: what an agent or a workflow's node did in an invocation, which the reader
// folds, and clusters, which the reader unfolds. Later rows join in. A gap (gaps.js) stands for the rest of a long fold: it
// knows the agent that all its events are under, and is folded as they were.
import { connectOnce } from "../shell/behaviors.js";
import { MARKED, ROW, cluster, prefixes, within } from "./clusters.js";
import { say } from "./fold-button.js";
import { gapOf, look } from "./gaps.js";
import { fold, keepStop, selected } from "./rows.js";

const PIECE = `${ROW}, [data-gap][data-path]`;
const TUCKED = '[data-folded="cluster"]';
const closed = new Set(); // folded agents, by invocation id and path
const opened = new Set(); // events of unfolded clusters
let wanted = null; // the selected event, until it is shown

export function start() {
  document.addEventListener("click", (event) => {
    const row = event.target.closest?.("[data-fold-row]")?.closest(ROW);
    if (!row) return;
    if (row.getAttribute("aria-expanded") === "false") open(row);
    else close(row, true);
    row.querySelector("[data-fold-row]")?.focus({ preventScroll: true });
  });
  document.addEventListener("htmx:after:history:update", want);
}

export function connect(root) {
  connectOnce(root, "[data-rows]", (list) => {
    new MutationObserver(() => { refresh(list); reveal(list); }).observe(list, { childList: true });
    refresh(list);
    want();
  });
}

// Unfolds rows that are marked while they are folded.
export function update() {
  for (const list of document.querySelectorAll("[data-rows]")) {
    if (list.querySelector(`:scope > ${TUCKED} :is(${MARKED})`)) refresh(list);
  }
}

// Folds what begins with the row: its unfolded cluster, or else its innermost agent; with `outermost`, the cluster and its outermost
// agent. Returns whether there was anything to fold.
export function close(row, outermost = false) {
  const hadCluster = isUnfolded(row);
  if (hadCluster) {
    cluster(row).forEach((each) => opened.delete(each.dataset.event));
    refresh(row.parentElement);
    if (!outermost) return true;
  }
  const paths = begun(row).filter((each) => !closed.has(key(row, each)));
  if (!paths.length) return hadCluster;
  closed.add(key(row, outermost ? paths[0] : paths.at(-1)));
  refresh(row.parentElement);
  return true;
}

const isUnfolded = (row) => opened.has(row.dataset.event) && cluster(row)[0] === row;

// Folds the agent that the row would go up to, if its first row may be in a gap; the fold fetches that row. Returns whether it did.
export function closeCut(row) {
  const path = prefixes(row).reverse().find((each) => headOf(row, each) !== row);
  if (!path || !isCut(stretch(row, path)[0])) return false;
  closed.add(key(row, path));
  refresh(row.parentElement);
  return true;
}

function isCut(first) {
  let before = first.previousElementSibling;
  if (before?.matches(".inv[data-continued]")) before = before.previousElementSibling;
  return first.matches("[data-gap]") || Boolean(before?.matches("[data-gap]"));
}

// Unfolds what is folded into the row. Returns whether there was anything.
export function open(row) {
  if (row.getAttribute("aria-expanded") !== "false") return false;
  const path = closedPath(row);
  if (path) closed.delete(key(row, path));
  else cluster(row).forEach((each) => opened.add(each.dataset.event));
  refresh(row.parentElement);
  return true;
}

// The row that this one folds into: the first of its cluster, else of its agent; null if that is the invocation's header.
export function parent(row) {
  const [first] = cluster(row);
  if (first && first !== row && opened.has(row.dataset.event)) return first;
  const heads = prefixes(row).reverse().map((path) => headOf(row, path));
  return heads.find((head) => head !== row) ?? null;
}

// A selected row is taken out of its fold, even if it has to be fetched from a gap first. A row selected through its own link was
// visible: if it is folded now, the reader folded it while the selection was loading. Changing tabs selects nothing.
function want({ detail } = {}) {
  const source = detail?.sourceElement;
  if (source?.closest("[data-tab]")) return;
  wanted = source?.closest(ROW) ? null : selected();
  document.querySelectorAll("[data-rows]").forEach(reveal);
}

function reveal(list) {
  const row = wanted && document.getElementById(`e-${wanted}`);
  const item = row || (wanted && gapOf(list, wanted));
  if (!item) return;
  if (row) wanted = null;
  if (item.hidden) fold(item.dataset.group, false);
  if (!item.matches("[data-folded]")) return;
  prefixes(item).forEach((path) => closed.delete(key(item, path)));
  if (row && cluster(row)[0] !== row) cluster(row).forEach((each) => opened.add(each.dataset.event));
  refresh(list);
}

const key = (item, path) => `${item.dataset.group} ${path}`;

// The adjacent rows and gaps for which `holds` is true, around the given row and including it.
function run(row, holds) {
  const items = [row];
  const joins = (each) => each?.matches(PIECE) && each.dataset.group === row.dataset.group && holds(each);
  for (let each = row.previousElementSibling; joins(each); each = each.previousElementSibling) items.unshift(each);
  for (let each = row.nextElementSibling; joins(each); each = each.nextElementSibling) items.push(each);
  return items;
}

const stretch = (row, path) => run(row, (each) => within(each, path));
const headOf = (row, path) => stretch(row, path).find((each) => each.matches(`${ROW}:not(${TUCKED})`));
const closedPath = (item) => prefixes(item).find((path) => closed.has(key(item, path)));
const joins = (item, path) => item?.matches(PIECE) && within(item, path);

// The paths of the agents whose rows begin here and continue below, outermost first.
function begun(row) {
  const before = beside(row, "previousElementSibling"), after = beside(row, "nextElementSibling");
  const same = (each) => each?.dataset.group === row.dataset.group;
  return prefixes(row).filter((path) => !(same(before) && joins(before, path)) && same(after) && joins(after, path));
}

// The item before or after a row, skipping those that are folded into another row.
function beside(row, way) {
  let item = row[way];
  while (item?.matches(TUCKED)) item = item[way];
  return item;
}

function refresh(list) {
  let last = null, head = null, of = null, hidden = []; // the previous item, and its fold
  const plain = []; // rows that neither are in a fold nor stand for one
  const active = document.activeElement;
  const finish = () => {
    if (head) say(head, hidden);
    if (hidden.some((item) => item.contains(active))) head.querySelector(".seq a").focus({ preventScroll: true });
    head = of = null;
    hidden = [];
  };
  for (const items of units(list)) {
    const [item] = items, isPiece = item.matches(PIECE), isRow = item.matches(ROW);
    const path = isPiece ? closedPath(item) : undefined;
    if (!path || path !== of || last?.dataset.group !== item.dataset.group) finish();
    const begins = !head && isRow && Boolean(path || items[1]);
    item.toggleAttribute("data-leads", Boolean(path && !head && !isRow)); // a gap whose first row hasn't been fetched
    heads(item, begins && path);
    if (begins) [head, of] = [item, path];
    else if (!head && isRow) plain.push(item);
    for (const each of items) {
      const isHidden = head && each !== head;
      hide(each, isHidden && (path && within(each, path) ? "agent" : "cluster"));
      if (isHidden) hidden.push(each);
    }
    last = isPiece ? items.at(-1) : null;
    if (!path || !within(last, path)) finish(); // a gap couldn't tell other agents' events apart
  }
  finish();
  plain.forEach((row) => say(row, [], begun(row).length > 0 || isUnfolded(row)));
  keepStop();
  look(list);
}

// The items of a list, each with those that are folded into it: a row with the rest of its cluster. With a filter, every event has
// its own row.
function units(list) {
  const isFiltered = Boolean(document.querySelector("[data-filter-text]"));
  const all = [];
  for (let item = list.firstElementChild; item; item = all.at(-1).at(-1).nextElementSibling) {
    const rows = isFiltered || !item.matches(ROW) ? [item] : cluster(item);
    all.push(rows.some(({ dataset: { event } }) => opened.has(event)) ? [item] : rows);
  }
  return all;
}

// `data-folded` says which kind of fold an item is in: `agent`, whose rows may become a gap, or `cluster`.
function hide(item, kind) {
  if (!kind) item.removeAttribute("data-folded");
  else if (item.dataset.folded !== kind) item.dataset.folded = kind;
}

// `data-heads` marks the row that stands for a folded agent, with the number of names in the agent's path.
function heads(item, path) {
  if (path) item.dataset.heads = path.split("/").length;
  else item.removeAttribute("data-heads");
}
