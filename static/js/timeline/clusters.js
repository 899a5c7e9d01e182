// Clusters: rows that show as one until the reader unfolds them. A cluster is a row with the checkpoints after it, and with the
// events after it in which its agent changed only the state.

export const ROW = ".row[data-event]";

// What readers look for: a row with one of these isn't folded into another.
export const MARKED = ".note-mark > *, .stop-here[class*=' at-'], .flag:is(.edited, .dirty, .silent, .overlap, .artifact, .round)";

// The range of event numbers in one cluster. It is limited because the list drops only rows that are far away, and folded rows,
// which have no height, never are.
const MOST = 50;

// The cluster of a row: the rows that fold into its first, or the row alone.
export function cluster(row) {
  let first = row;
  while (first.matches(".aside") && isNext(first, first.previousElementSibling)) first = first.previousElementSibling;
  let rows = [first];
  for (let next = first.nextElementSibling; next?.matches(".aside") && isNext(next, rows.at(-1)); next = next.nextElementSibling) {
    if (folds(next, rows[0])) rows.push(next);
    else if (rows.includes(row)) break;
    else rows = [next];
  }
  return rows;
}

const isNext = (row, before) => before?.matches(ROW) && row.dataset.group === before.dataset.group && part(row) === part(before);

const part = (row) => Math.floor(row.dataset.event / MOST);

// Whether a row that belongs to what is above folds into `head`. A checkpoint may be any agent's; a state change must be the same
// agent's, or it would look like the other one's.
function folds(row, head) {
  if (row.querySelector(MARKED)) return false;
  return row.matches(".k-checkpoint") || (!head.matches(".k-checkpoint") && agent(row) === agent(head));
}

const agent = (row) => `${row.dataset.path ?? ""} ${row.querySelector(".who").textContent}`;

// Whether a row or gap is from the agent at `path` or one below it. An empty path is the root's.
export const within = (item, path) => !path || item.dataset.path === path || Boolean(item.dataset.path?.startsWith(`${path}/`));

// The paths of the agents that a row or gap is under, outermost first, without the root, which is the invocation.
export function prefixes(item) {
  const names = (item.dataset.path ?? "").split("/");
  return names.slice(1).map((_, place) => names.slice(0, place + 2).join("/"));
}
