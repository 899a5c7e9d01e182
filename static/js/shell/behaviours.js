// Starts behaviours, and connects those that belong to elements again whenever htmx brings new ones. What a behaviour does for
// the page as a whole, in `update`, follows once, however many elements came together.
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

// Calls `connect` once for each matching element under `root`, including the root itself. A selector belongs to one behaviour:
// another that uses the same text is not called.
export function each(root, selector, connect) {
  const elements = [...root.querySelectorAll(selector)];
  if (root.matches?.(selector)) elements.push(root);
  for (const element of elements) {
    const selectors = connected.get(element) ?? new Set();
    if (selectors.has(selector)) continue;
    connected.set(element, selectors.add(selector));
    connect(element);
  }
}
