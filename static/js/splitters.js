// Separators between panes: dragged, moved by arrow keys, remembered; a double click gives the size back.
import { each } from "./connected.js";

const LEAST = 240;
const STEP = 24;

export function connect(root) {
  each(root, "[data-splitter]", (bar) => {
    const pane = document.getElementById(bar.dataset.splitter);
    const sign = bar.dataset.splitter === "chat" ? 1 : -1;
    const most = () => Math.round(window.innerWidth * 0.6);
    const tell = () => {
      bar.setAttribute("aria-valuemin", LEAST);
      bar.setAttribute("aria-valuemax", most());
      bar.setAttribute("aria-valuenow", Math.round(pane.offsetWidth));
    };
    const resize = (width) => {
      set(bar.dataset.splitter, `${Math.min(Math.max(width, LEAST), most())}px`);
      tell();
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
    bar.addEventListener("dblclick", () => { set(bar.dataset.splitter, null); tell(); });
    tell();
  });
}

function set(pane, size) {
  document.documentElement.style.setProperty(`--${pane}`, size ?? "");
  if (size) localStorage.setItem(`size:${pane}`, size);
  else localStorage.removeItem(`size:${pane}`);
}
