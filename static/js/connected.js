// Runs `connect` once for each element under `root`, the root included, that matches.
const done = new WeakMap();

export function each(root, selector, connect) {
  const found = [...root.querySelectorAll(selector)];
  if (root.matches?.(selector)) found.push(root);
  for (const element of found) {
    const before = done.get(element) ?? new Set();
    if (before.has(selector)) continue;
    done.set(element, before.add(selector));
    connect(element);
  }
}
