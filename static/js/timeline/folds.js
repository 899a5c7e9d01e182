// Parts of the timeline that fold to their first row: what an agent or a workflow's node did in an invocation, which a reader
// folds, and clusters, which a reader unfolds. Rows that arrive later join. Of a long fold, the page has a gap (gaps.js), which
// knows the agent that all its events are under, and is folded as they were.
import { each } from "../shell/behaviours.js";
import { ROW, cluster, within } from "./clusters.js";
import { say } from "./fold-button.js";
import { gapOf, look } from "./gaps.js";
import { fold, keepStop, selected } from "./rows.js";

const PIECE = `${ROW}, [data-gap][data-path]`;
const closed = new Set(); // agents: the invocation's id and the path
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
  each(root, "[data-rows]", (list) => {
    new MutationObserver(() => { refresh(list); reveal(list); }).observe(list, { childList: true });
    refresh(list);
    want();
  });
}

// Folds what begins with the row: the smallest of it, or the outermost agent first, and with it what was unfolded of the row's
// cluster. Whether there was anything.
export function close(row, outermost = false) {
  const paths = begun(row).filter((each) => !closed.has(key(row, each)));
  const rows = cluster(row);
  const isUnfolded = rows[0] === row && opened.has(row.dataset.event);
  if (!isUnfolded && !paths.length) return false;
  if (isUnfolded) rows.forEach((each) => opened.delete(each.dataset.event));
  if (paths.length && (outermost || !isUnfolded)) closed.add(key(row, outermost ? paths[0] : paths.at(-1)));
  refresh(row.parentElement);
  return true;
}

// Folds what the row would go up to, if the page may not have the first row of that, which the fold then fetches; whether it did.
export function closeCut(row) {
  const path = prefixes(row).reverse().find((each) => stretch(row, each).find((item) => item.matches(ROW)) !== row);
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

// Unfolds what has folded to the row; whether there was anything.
export function open(row) {
  if (row.getAttribute("aria-expanded") !== "false") return false;
  const path = prefixes(row).find((each) => closed.has(key(row, each)));
  if (path) closed.delete(key(row, path));
  else cluster(row).forEach((each) => opened.add(each.dataset.event));
  refresh(row.parentElement);
  return true;
}

// The row that the row folds to: the first of its cluster, else of its agent; null for the invocation's header.
export function parent(row) {
  const [first] = cluster(row);
  if (first && first !== row && opened.has(row.dataset.event)) return first;
  const heads = prefixes(row).reverse().map((path) => stretch(row, path).find((each) => each.matches(ROW)));
  return heads.find((head) => head !== row) ?? null;
}

// A row is not left in a fold when it is selected; one that is in a gap of a fold may still have to come. A row that was selected
// by itself was in sight: if it is in a fold now, the reader folded it while the selection was on its way. A tab selects nothing.
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
  if (row) cluster(row).forEach((each) => opened.add(each.dataset.event));
  refresh(list);
}

const key = (item, path) => `${item.dataset.group} ${path}`;

// The paths of the agents that a row or gap is from, without the root, which is the invocation.
function prefixes(item) {
  const names = (item.dataset.path ?? "").split("/");
  return names.slice(1).map((_, place) => names.slice(0, place + 2).join("/"));
}

// The rows and gaps beside one another, this row among them, for which something holds.
function run(row, holds) {
  const items = [row];
  const joins = (each) => each?.matches(PIECE) && each.dataset.group === row.dataset.group && holds(each);
  for (let each = row.previousElementSibling; joins(each); each = each.previousElementSibling) items.unshift(each);
  for (let each = row.nextElementSibling; joins(each); each = each.nextElementSibling) items.push(each);
  return items;
}

const stretch = (row, path) => run(row, (each) => within(each, path));
const joins = (item, path) => item?.matches(PIECE) && within(item, path);

// The paths of the agents whose rows begin here and go on, outermost first.
function begun(row) {
  const { previousElementSibling: before, nextElementSibling: after } = row;
  const same = (each) => each?.dataset.group === row.dataset.group;
  return prefixes(row).filter((path) => !(same(before) && joins(before, path)) && same(after) && joins(after, path));
}

function refresh(list) {
  let last = null, head = null, of = null, hidden = []; // the item before, and the fold that it is in
  const active = document.activeElement;
  const finish = () => {
    if (head) say(head, hidden);
    if (hidden.some((item) => item.contains(active))) head.querySelector(".seq a").focus({ preventScroll: true });
    head = of = null;
    hidden = [];
  };
  const filtered = Boolean(document.querySelector("[data-filter-text]"));
  const clusters = new Map(); // by their rows, so that each is looked at once
  const clusterOf = (row) => {
    if (!clusters.has(row)) {
      const rows = cluster(row);
      const isOpen = rows.length < 2 || rows.some(({ dataset: { event } }) => opened.has(event));
      for (const each of rows) clusters.set(each, { rows, isOpen });
    }
    return clusters.get(row);
  };
  for (const item of list.children) {
    const isRow = item.matches(ROW), isPiece = isRow || item.matches(PIECE);
    const joined = isPiece && last?.dataset.group === item.dataset.group;
    const fold = isPiece ? foldOf(item, filtered || !isRow ? null : clusterOf(item)) : null;
    if (!joined || fold?.id !== of) finish();
    hide(item, head && fold);
    item.toggleAttribute("data-leads", Boolean(fold && !head && !isRow)); // a gap: its first row is to come
    last = isPiece ? item : null;
    const isHead = !head && fold && isRow;
    heads(item, isHead && fold.kind === "agent" ? fold.id : "");
    if (isHead) [head, of] = [item, fold.id];
    else if (head) hidden.push(item);
    else if (isRow) say(item, [], begun(item).length > 0 || (clusterOf(item).rows[0] === item && opened.has(item.dataset.event)));
  }
  finish();
  keepStop();
  look(list);
}

// `data-folded` says which kind of fold an item is in: `agent`, whose rows may become a gap, or `cluster`.
function hide(item, fold) {
  if (!fold) item.removeAttribute("data-folded");
  else if (item.dataset.folded !== fold.kind) item.dataset.folded = fold.kind;
}

// `data-heads`: the row stands for a folded agent, whose path has so many names.
function heads(item, path) {
  if (path) item.dataset.heads = path.split("/").length;
  else item.removeAttribute("data-heads");
}

// What an item folds into: an agent, or its cluster; null for none.
function foldOf(item, mates) {
  const path = prefixes(item).find((each) => closed.has(key(item, each)));
  if (path) return { kind: "agent", id: path };
  return !mates || mates.isOpen ? null : { kind: "cluster", id: `cluster ${mates.rows[0].dataset.event}` };
}
