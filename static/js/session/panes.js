// The panes: separators resize them; on narrow pages the inspector replaces the chat while it is open, and phones show one pane at a time.
// Clicking the current tab fetches nothing, because that would discard what was typed there.
import { connectOnce } from "../shell/behaviors.js";
import * as tabs from "../shell/tabs.js";

const LEAST = 240;
const STEP = 24;
const narrow = matchMedia("(min-width: 700.02px) and (max-width: 1100px)");
const phone = matchMedia("(max-width: 700px)");

export function start() {
  document.addEventListener("click", stay, true);
  document.addEventListener("click", (event) => {
    const tab = event.target.closest("[data-pane-tab]");
    if (tab) { event.preventDefault(); show(tab.dataset.paneTab); }
    if (event.target.closest("#held")) showTimeline(); // the palette presses its buttons from any pane
    if (event.target.closest("[data-drawer-close]")) close();
    if (event.target.closest("[data-drawer-open]")) { drawer("open"); document.getElementById("panel").focus(); }
  });
  document.addEventListener("htmx:after:swap", (event) => {
    const { sourceElement, target } = event.detail.ctx;
    const query = new URLSearchParams(location.search);
    if (target?.id !== "inspector") return;
    if (sourceElement?.matches("[data-view]")) showTimeline();
    else if (sourceElement?.id !== "go-live" && (query.has("event") || query.has("tab"))) reveal();
  });
}

function stay(event) {
  const elsewhere = event.ctrlKey || event.metaKey || event.shiftKey || event.altKey;
  if (elsewhere || !event.target.closest?.("#inspector [data-tab][aria-selected=true]")) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  reveal();
}

function reveal() {
  drawer("open");
  if (phone.matches) show("inspector");
}

function showTimeline() {
  if (phone.matches) show("timeline");
}

export function connect(root) {
  connectOnce(root, "[data-splitter]", splitter);
  connectOnce(root, ".pane-tabs", () => {
    const refresh = () => show(document.documentElement.dataset.pane ?? "chat");
    phone.addEventListener("change", refresh);
    refresh();
  });
}

// A filter replaces the pane of the timeline.
export function update() {
  const timeline = document.getElementById("timeline");
  if (phone.matches && timeline && !timeline.hasAttribute("role")) show(document.documentElement.dataset.pane ?? "chat");
}

export function close() {
  const open = document.querySelector('.panes[data-drawer="open"]') && narrow.matches;
  drawer("closed");
  return Boolean(open);
}

function drawer(state) {
  const panes = document.querySelector(".panes");
  if (panes) panes.dataset.drawer = state;
}

function show(pane) {
  document.documentElement.dataset.pane = pane;
  sessionStorage.setItem("pane", pane);
  tabs.select(document.querySelector(`[data-pane-tab="${pane}"]`));
  // Pages that show every pane have no tabs for them.
  if (!phone.matches) document.querySelectorAll(".panes > .pane").forEach((each) => each.removeAttribute("role"));
}

// Separators can be dragged or moved by arrow keys, and their positions are remembered; a double click resets one.
function splitter(bar) {
  const pane = document.getElementById(bar.dataset.splitter);
  const sign = bar.dataset.splitter === "chat" ? 1 : -1;
  const most = () => Math.round(window.innerWidth * 0.6);
  const describe = () => {
    bar.setAttribute("aria-valuemin", LEAST);
    bar.setAttribute("aria-valuemax", most());
    bar.setAttribute("aria-valuenow", Math.round(pane.offsetWidth));
  };
  const resize = (width) => {
    setSize(bar.dataset.splitter, `${Math.min(Math.max(width, LEAST), most())}px`);
    describe();
  };
  bar.addEventListener("pointerdown", (event) => {
    const from = event.clientX;
    const width = pane.offsetWidth;
    bar.setPointerCapture(event.pointerId);
    bar.dataset.dragging = "";
    const move = (now) => resize(width + sign * (now.clientX - from));
    bar.addEventListener("pointermove", move);
    bar.addEventListener("lostpointercapture", () => {
      bar.removeEventListener("pointermove", move);
      delete bar.dataset.dragging;
    }, { once: true });
  });
  bar.addEventListener("keydown", (event) => {
    const widths = {
      ArrowLeft: pane.offsetWidth - sign * STEP, ArrowRight: pane.offsetWidth + sign * STEP,
      Home: LEAST, End: most(),
    };
    if (!(event.key in widths)) return;
    event.preventDefault();
    resize(widths[event.key]);
  });
  bar.addEventListener("dblclick", () => { setSize(bar.dataset.splitter, null); describe(); });
  describe();
}

function setSize(pane, size) {
  document.documentElement.style.setProperty(`--${pane}`, size ?? "");
  if (size) localStorage.setItem(`size:${pane}`, size);
  else localStorage.removeItem(`size:${pane}`);
}
