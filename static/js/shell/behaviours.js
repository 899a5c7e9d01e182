// Starts behaviours, and connects them to their elements again whenever htmx adds new ones. A behaviour's `update`, which
// concerns the whole page, runs once afterwards, however many elements were added.
const connected = new WeakMap();

export function start(behaviours) {
  for (const behaviour of behaviours) behaviour.start?.();
  let due = false;
  const update = () => { due = false; behaviours.forEach((behaviour) => behaviour.update?.()); };
  const connect = (root) => {
    behaviours.forEach((behaviour) => behaviour.connect?.(root));
    if (!due) queueMicrotask(update);
    due = true;
  };
  connect(document);
  document.addEventListener("htmx:after:process", (event) => connect(event.target));
}

// Calls `connect` once for each matching element under `root`, including the root itself. Each selector belongs to one behaviour;
// a second one that uses the same text isn't called.
export function connectOnce(root, selector, connect) {
  const elements = [...root.querySelectorAll(selector)];
  if (root.matches?.(selector)) elements.push(root);
  for (const element of elements) {
    const selectors = connected.get(element) ?? new Set();
    if (selectors.has(selector)) continue;
    connected.set(element, selectors.add(selector));
    connect(element);
  }
}
