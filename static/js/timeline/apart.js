// Calls and their results, as one row or as two, which the browser remembers.
import { each } from "../shell/behaviours.js";

export function start() {
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-apart-toggle]")) toggle();
  });
}

export function connect(root) {
  each(root, "[data-apart-toggle]", show);
}

export function toggle() {
  const root = document.documentElement, apart = !root.hasAttribute("data-apart");
  root.toggleAttribute("data-apart", apart);
  if (apart) localStorage.setItem("apart", "yes");
  else localStorage.removeItem("apart");
  document.querySelectorAll("[data-apart-toggle]").forEach(show);
}

function show(button) {
  button.setAttribute("aria-pressed", String(document.documentElement.hasAttribute("data-apart")));
}
