// Narrow pages: the inspector is a drawer, and below that one pane at a time is shown. A click on the tab that is shown
// asks for nothing anew, which would be without what was typed there.
import { each } from "./connected.js";

const phone = matchMedia("(max-width: 700px)");

export function start() {
  document.addEventListener("click", stay, true);
  document.addEventListener("click", (event) => {
    const tab = event.target.closest("[data-pane-tab]");
    if (tab) { event.preventDefault(); show(tab.dataset.paneTab); }
    if (event.target.closest("[data-drawer-close]")) close();
    if (event.target.closest("[data-drawer-open]")) { drawer("open"); document.getElementById("panel").focus(); }
  });
  document.addEventListener("htmx:after:swap", (event) => {
    const { target } = event.detail.ctx;
    const query = new URLSearchParams(location.search);
    if (target?.id === "inspector" && (query.has("event") || query.has("tab"))) reveal();
  });
}

function stay(event) {
  const elsewhere = event.ctrlKey || event.metaKey || event.shiftKey || event.altKey;
  if (elsewhere || !event.target.closest?.("#inspector [data-tab][aria-current]")) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  reveal();
}

function reveal() {
  drawer("open");
  if (phone.matches) show("inspector");
}

export function connect(root) {
  each(root, ".pane-tabs", () => show(document.documentElement.dataset.pane ?? "chat"));
}

export function close() {
  const open = document.querySelector('.panes[data-drawer="open"]');
  const floats = open && getComputedStyle(document.getElementById("inspector")).position === "fixed";
  drawer("closed");
  return Boolean(floats);
}

function drawer(state) {
  const panes = document.querySelector(".panes");
  if (panes) panes.dataset.drawer = state;
}

function show(pane) {
  document.documentElement.dataset.pane = pane;
  sessionStorage.setItem("pane", pane);
  for (const tab of document.querySelectorAll("[data-pane-tab]")) {
    if (tab.dataset.paneTab === pane) tab.setAttribute("aria-current", "true");
    else tab.removeAttribute("aria-current");
  }
}
