// The graph and the tools of an app come from its code. Those that are open are fetched again when the code is reloaded.
let last = null; // how often the code had been loaded

export function connect(root) {
  const loads = root.querySelector?.(".app-head")?.dataset.loads;
  if (!loads || loads === last) return;
  if (last !== null) document.querySelectorAll("[data-of-code][open]").forEach((details) => window.htmx.trigger(details, "reloaded"));
  last = loads;
}
