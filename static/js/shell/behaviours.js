// Starts behaviours, and connects those that belong to elements again whenever htmx brings new ones.
const connected = new WeakMap();

export function start(behaviours) {
  for (const behaviour of behaviours) behaviour.start?.();
  const connect = (root) => behaviours.forEach((behaviour) => behaviour.connect?.(root));
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
