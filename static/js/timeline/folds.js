// Parts of the timeline that fold to their first row: what an agent or a workflow's node did in an invocation, which a reader
// folds, and checkpoints and changes of the state in a row, which a reader unfolds. Rows that arrive later join.
import { each } from "../shell/behaviours.js";
import { selected } from "./rows.js";

const ROW = ".row[data-event]";
const closed = new Set(); // agents: the invocation's id and the path
const opened = new Set(); // events among unfolded checkpoints and changes of the state

export function start() {
  document.addEventListener("click", (event) => {
    const row = event.target.closest?.("[data-fold-row]")?.closest(ROW);
    if (!row) return;
    if (row.getAttribute("aria-expanded") === "false") open(row);
    else close(row, true);
    row.querySelector("[data-fold-row]")?.focus({ preventScroll: true });
  });
  // A selected row is not left in a fold.
  document.addEventListener("htmx:after:history:update", reveal);
}

export function connect(root) {
  each(root, "[data-rows]", (list) => {
    new MutationObserver(() => refresh(list)).observe(list, { childList: true });
    reveal();
  });
}

// Folds what the row is part of, the innermost first, or the outermost that begins with it; whether there was anything.
export function close(row, outermost = false) {
  const run = asides(row);
  if (run.length > 1 && run.some((each) => opened.has(each.dataset.event))) {
    run.forEach((each) => opened.delete(each.dataset.event));
    refresh(row.parentElement);
    return true;
  }
  const paths = outermost ? begun(row) : prefixes(row).reverse().filter((path) => stretch(row, path).length > 1);
  const path = paths.find((each) => !closed.has(key(row, each)));
  if (!path) return false;
  closed.add(key(row, path));
  const head = stretch(row, path)[0];
  refresh(row.parentElement);
  if (row !== head && row.contains(document.activeElement)) head.querySelector(".seq a").focus({ preventScroll: true });
  return true;
}

// Unfolds what has folded to the row; whether there was anything.
export function open(row) {
  if (row.getAttribute("aria-expanded") !== "false") return false;
  const path = prefixes(row).find((each) => closed.has(key(row, each)));
  if (path) closed.delete(key(row, path));
  else asides(row).forEach((each) => opened.add(each.dataset.event));
  refresh(row.parentElement);
  return true;
}

function reveal() {
  const row = document.getElementById(`e-${selected()}`);
  if (row) prefixes(row).forEach((path) => closed.delete(key(row, path)));
  document.querySelectorAll("[data-rows]").forEach(refresh);
}

// Numbers in one fold of checkpoints and changes of the state: the list leaves out what is far away, and rows without a height
// never are.
const MOST = 50;

const key = (row, path) => `${row.dataset.group} ${path}`;

// The paths of the agents that the row is from, without the root, which is the invocation.
function prefixes(row) {
  const names = (row.dataset.path ?? "").split("/");
  return names.slice(1).map((_, place) => names.slice(0, place + 2).join("/"));
}

const within = (row, path) => row.dataset.path === path || Boolean(row.dataset.path?.startsWith(`${path}/`));

// The rows beside one another, this one among them, for which something holds.
function run(row, holds) {
  const rows = [row];
  const joins = (each) => each?.matches(ROW) && each.dataset.group === row.dataset.group && holds(each);
  for (let each = row.previousElementSibling; joins(each); each = each.previousElementSibling) rows.unshift(each);
  for (let each = row.nextElementSibling; joins(each); each = each.nextElementSibling) rows.push(each);
  return rows;
}

const stretch = (row, path) => run(row, (each) => within(each, path));
const asides = (row) => row.matches(".aside") ? run(row, (each) => each.matches(".aside") && part(each) === part(row)) : [];
const part = (row) => Math.floor(row.dataset.event / MOST);
const joins = (row, path) => row?.matches(ROW) && within(row, path);

// The paths of the agents whose rows begin here and go on, outermost first.
function begun(row) {
  const { previousElementSibling: before, nextElementSibling: after } = row;
  const same = (each) => each?.dataset.group === row.dataset.group;
  return prefixes(row).filter((path) => !(same(before) && joins(before, path)) && same(after) && joins(after, path));
}

function refresh(list) {
  let last = null, head = null, of = null, hidden = []; // the row before, and the fold that it is in
  const finish = () => { if (head) say(head, hidden); head = of = null; hidden = []; };
  const number = String(selected() ?? "");
  const filtered = Boolean(document.querySelector("[data-filter-text]"));
  const runs = new Map(); // by their rows, so that each is looked at once
  const runOf = (row) => {
    if (!row.matches(".aside")) return null;
    if (!runs.has(row)) {
      const rows = asides(row);
      const isOpen = rows.length < 2 || rows.some(({ dataset: { event } }) => opened.has(event) || event === number);
      for (const each of rows) runs.set(each, { rows, isOpen });
    }
    return runs.get(row);
  };
  for (const row of list.children) {
    const joined = row.matches(ROW) && last?.dataset.group === row.dataset.group;
    const fold = row.matches(ROW) ? foldOf(row, filtered ? null : runOf(row)) : null;
    if (!joined || fold !== of) finish();
    const within = Boolean(head);
    row.toggleAttribute("data-folded", within);
    last = row.matches(ROW) ? row : null;
    if (!last) continue;
    if (within) hidden.push(row);
    else if (fold) [head, of] = [row, fold];
    else say(row, [], begun(row).length > 0 || (runOf(row)?.rows[0] === row && opened.has(row.dataset.event)));
  }
  finish();
}

// What a row folds into: an agent, or the checkpoints and changes of the state beside it; null for none.
function foldOf(row, beside) {
  const path = prefixes(row).find((each) => closed.has(key(row, each)));
  if (path) return path;
  return !beside || beside.isOpen ? null : `asides ${beside.rows[0].dataset.event}`;
}

// What the first row of a fold says of it.
function say(row, hidden, begins = false) {
  const button = row.querySelector("[data-fold-row]");
  if (!hidden.length && !begins) {
    row.removeAttribute("aria-expanded");
    button?.remove();
    return;
  }
  row.setAttribute("aria-expanded", String(!hidden.length));
  const shown = button ?? document.createElement("button");
  const errors = hidden.filter((each) => each.matches(".k-error")).length;
  const seconds = hidden.reduce((sum, each) => sum + (parseFloat(each.querySelector(".dt").textContent) || 0), 0);
  const told = [`+${hidden.length}`, seconds >= 0.1 && `${seconds.toFixed(1)} s`, errors && `${errors} failed`];
  const text = hidden.length ? told.filter(Boolean).join(" · ") : "";
  if (shown.textContent !== text || !button) shown.textContent = text;
  Object.assign(shown, { type: "button", className: "fold-row", title: hidden.length ? "Show these events (→)" : "Fold these events (←)" });
  shown.setAttribute("aria-label", hidden.length ? `Show ${hidden.length} more events` : "Fold these events");
  shown.dataset.foldRow = "";
  shown.tabIndex = -1;
  if (!button) row.querySelector(".flags").prepend(shown);
}
