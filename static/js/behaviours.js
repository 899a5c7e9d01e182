// Starts behaviours. Those that belong to an element are connected again whenever htmx brings new ones.
export function start(behaviours) {
  for (const behaviour of behaviours) behaviour.start?.();
  const connect = (root) => behaviours.forEach((behaviour) => behaviour.connect?.(root));
  connect(document);
  document.addEventListener("htmx:after:process", (event) => connect(event.target));
}
