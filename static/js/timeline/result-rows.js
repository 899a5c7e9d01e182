// Shows a call and its result as one row or as two. The browser remembers the choice.
import { connectOnce } from "../shell/behaviors.js";

export function start() {
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-apart-toggle]")) toggle();
  });
}

export function connect(root) {
  connectOnce(root, "[data-apart-toggle]", show);
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
