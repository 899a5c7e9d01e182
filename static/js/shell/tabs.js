// Lists of links marked `data-tabs` become tabs with one tab stop; without scripts they stay links. Arrow keys, Home and End move
// the focus. A tab whose panel is on the page opens as soon as it has the focus. One whose panel comes from the server opens on
// Enter, Space or a click: otherwise, moving past five tabs would fetch five panels and add five steps to the browser's history.
import { connectOnce } from "./behaviors.js";

const tabs = (list) => [...list.querySelectorAll("a")];

export function connect(root) {
  connectOnce(root, "[data-tabs]", (list) => list.addEventListener("keydown", press));
}

// The server marks the current link, on the page and whenever it is swapped.
export function update() {
  for (const link of document.querySelectorAll("[data-tabs] [aria-current]")) select(link);
}

export function select(current) {
  const list = current.closest("[data-tabs]");
  list.setAttribute("role", "tablist");
  for (const tab of tabs(list)) {
    const isSelected = tab === current;
    const panel = document.getElementById(tab.dataset.panel);
    tab.removeAttribute("aria-current");
    tab.setAttribute("role", "tab");
    tab.setAttribute("aria-selected", String(isSelected));
    tab.tabIndex = isSelected ? 0 : -1;
    panel?.setAttribute("role", "tabpanel");
    if (!isSelected || !panel) continue;
    tab.setAttribute("aria-controls", panel.id);
    if (!panel.hasAttribute("aria-label")) panel.setAttribute("aria-labelledby", tab.id);
    if (panel.hasAttribute("tabindex")) panel.tabIndex = 0; // its text can be scrolled by keys
  }
}

function press(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
  const all = tabs(event.currentTarget);
  const here = all.indexOf(event.target);
  const places = { ArrowLeft: here - 1, ArrowRight: here + 1, Home: 0, End: -1, " ": here };
  if (here < 0 || !(event.key in places)) return;
  event.preventDefault();
  const tab = all.at(places[event.key] % all.length);
  tab.focus();
  if (event.key === " " || tab.getAttribute("href").startsWith("#")) tab.click();
}
