// The graph: node menus, zooming and panning. Zooming changes the drawing's width within a scrolling box, so wheel, touch and
// arrow keys pan as usual. The zoom stays when the graph is redrawn.
const STEP = 1.25;
const LEAST = 0.8; // names have 10 pixels; a graph that fits only at a smaller scale is drawn at this one and scrolls
const MOST = 2; // in full screen, a small graph grows no further
const MARGIN = 24; // pixels left and right of the drawing together, or above and below it
let zoom = null; // 0: fits its box; null: fits it if names stay legible
const sizes = new ResizeObserver(apply); // also notices when a hidden pane is shown, as on a phone

export function start() {
  document.addEventListener("click", (event) => {
    const node = event.target.closest?.("[data-graph-menu]");
    if (node) return openMenu(event, node);
    const button = event.target.closest?.("[data-zoom]");
    if (button) press(button.dataset.zoom);
  });
  document.addEventListener("submit", (event) => event.target.closest(".graph-menu")?.hidePopover());
  document.addEventListener("wheel", (event) => {
    if (!(event.ctrlKey || event.metaKey) || !event.target.closest?.("[data-graph]")) return;
    event.preventDefault();
    scale(event.deltaY < 0 ? STEP : 1 / STEP, event);
  }, { passive: false });
  document.addEventListener("keydown", (event) => {
    if (!event.target.closest?.(".graph") || event.ctrlKey || event.metaKey || event.altKey) return;
    const way = { "+": "in", "=": "in", "-": "out", 0: "fit" }[event.key];
    if (way) press(way);
    else if (!event.key.startsWith("Arrow") || !walk(event)) return;
    event.preventDefault();
    event.stopPropagation();
  }, true);
  document.addEventListener("pointerdown", drag);
  document.addEventListener("htmx:after:swap", apply);
  document.addEventListener("fullscreenchange", refit);
}

export function update() {
  for (const tools of document.querySelectorAll("[data-graph-tools]")) {
    tools.hidden = false;
    tools.querySelector('[data-zoom="full"]').hidden = !document.fullscreenEnabled;
  }
  for (const view of document.querySelectorAll("[data-graph]")) sizes.observe(view);
  apply();
}

function openMenu(event, node) {
  const menu = document.getElementById(node.dataset.graphMenu);
  if (!menu?.showPopover || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  menu.showPopover();
  const box = node.querySelector("rect").getBoundingClientRect();
  menu.style.left = `${Math.max(8, Math.min(box.left, innerWidth - menu.offsetWidth - 8))}px`;
  menu.style.top = `${Math.max(8, Math.min(box.bottom + 4, innerHeight - menu.offsetHeight - 8))}px`;
  menu.querySelector("a, button")?.focus();
}

function press(way) {
  if (way === "full") return document.querySelector(".graph").requestFullscreen();
  if (way === "close") return document.exitFullscreen();
  if (way !== "fit") return scale(way === "in" ? STEP : 1 / STEP);
  zoom = 0;
  apply();
}

// Entering or leaving full screen shows the whole graph again, and moves the focus so that keys work at once.
function refit({ target }) {
  if (!target.matches?.(".graph")) return; // a video can enter full screen, too
  const isFull = document.fullscreenElement === target;
  zoom = null;
  apply();
  document.querySelector(isFull ? "[data-graph]" : '[data-zoom="full"]')?.focus();
}

function scale(factor, at) {
  const view = document.querySelector("[data-graph]");
  const svg = view?.querySelector("svg");
  if (!svg) return;
  const before = svg.getBoundingClientRect();
  const x = at ? at.clientX : before.left + view.clientWidth / 2;
  const y = at ? at.clientY : before.top + view.clientHeight / 2;
  zoom = Math.min(4, Math.max(0.2, (before.width / natural(svg)) * factor));
  apply();
  const ratio = svg.getBoundingClientRect().width / before.width;
  view.scrollLeft += (x - before.left) * (ratio - 1);
  view.scrollTop += (y - before.top) * (ratio - 1);
}

const natural = (svg) => svg.viewBox.baseVal.width;

// The scale in full screen, where the drawing fits in both directions. 0 in the page, where styles fit the width.
function onScreen(view, svg) {
  if (!document.fullscreenElement?.contains(view)) return 0;
  const { width, height } = svg.viewBox.baseVal;
  return Math.min(MOST, (view.clientWidth - MARGIN) / width, (view.clientHeight - MARGIN) / height);
}

function apply() {
  const view = document.querySelector("[data-graph]");
  const svg = view?.querySelector("svg");
  if (!svg || !view.clientWidth) return;
  const fit = onScreen(view, svg);
  const small = (fit || view.clientWidth / natural(svg)) < LEAST;
  const factor = (zoom ?? (small ? LEAST : 0)) || fit;
  view.classList.toggle("zoomed", factor > 0);
  svg.style.width = factor ? `${natural(svg) * factor}px` : "";
}

// Focuses the nearest node in the direction of the arrow. Returns false for the box itself, which arrows scroll.
function walk({ key, target }) {
  const here = target.closest(".node")?.querySelector("rect").getBoundingClientRect();
  if (!here) return false;
  const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key];
  let best = null, least = Infinity;
  for (const node of target.closest("svg").querySelectorAll(".node[href]")) {
    const box = node.querySelector("rect").getBoundingClientRect();
    const x = box.left - here.left, y = box.top - here.top;
    const along = x * dx + y * dy, off = Math.abs(x * dy) + Math.abs(y * dx);
    if (along > 1 && along + 2 * off < least) [best, least] = [node, along + 2 * off];
  }
  best?.focus();
  return true;
}

function drag(down) {
  const view = down.target.closest?.("[data-graph]");
  if (!view || down.button !== 0 || down.target.closest(".node[href]:not(.frame)")) return;
  const { scrollLeft, scrollTop } = view;
  const move = (event) => {
    view.classList.add("dragging");
    view.scrollLeft = scrollLeft - event.clientX + down.clientX;
    view.scrollTop = scrollTop - event.clientY + down.clientY;
  };
  document.addEventListener("pointermove", move);
  document.addEventListener("pointerup", () => {
    document.removeEventListener("pointermove", move);
    view.classList.remove("dragging");
  }, { once: true });
}
