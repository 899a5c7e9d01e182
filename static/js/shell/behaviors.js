// Starts behaviors, and connects them to their elements again whenever htmx adds new ones. A behavior's `update`, which
// concerns the whole page, runs once afterwards, however many elements were added.
const connected = new WeakMap();

export function start(behaviors) {
  for (const behavior of behaviors) behavior.start?.();
  let due = false;
  const update = () => { due = false; behaviors.forEach((behavior) => behavior.update?.()); };
  const connect = (root) => {
    behaviors.forEach((behavior) => behavior.connect?.(root));
    if (!due) queueMicrotask(update);
    due = true;
  };
  connect(document);
  document.addEventListener("htmx:after:process", (event) => connect(event.target));
}

// Calls `connect` once for each matching element under `root`, including the root itself. Each selector belongs to one behavior;
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
