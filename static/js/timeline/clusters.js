// Rows that are one until a reader asks for them: a row with the checkpoints after it, or changes of the state in a row.

export const ROW = ".row[data-event]";

// Numbers in one cluster: the list leaves out what is far away, and rows without a height never are.
const MOST = 50;

// The rows that fold to one, which is their first: this row among them, and maybe alone.
export function cluster(row) {
  let first = row;
  while (follows(first, first.previousElementSibling)) first = first.previousElementSibling;
  const rows = [first];
  while (follows(rows.at(-1).nextElementSibling, rows.at(-1))) rows.push(rows.at(-1).nextElementSibling);
  return rows;
}

// Whether a row is in the cluster of the one before it. A checkpoint with which an agent begins isn't: there, the agent folds.
function follows(row, before) {
  if (!row?.matches(".aside") || !before?.matches(ROW) || row.dataset.group !== before.dataset.group) return false;
  if (part(row) !== part(before)) return false;
  return row.matches(".k-checkpoint") ? within(before, row.dataset.path) : before.matches(".aside.k-state");
}

const part = (row) => Math.floor(row.dataset.event / MOST);

// Whether a row or gap is from the agent of this path, or one below it. No path is that of the root.
export const within = (item, path) => !path || item.dataset.path === path || Boolean(item.dataset.path?.startsWith(`${path}/`));
