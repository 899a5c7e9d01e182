// Spans of the trace: arrow keys move between them, and those of the selected event are scrolled into view.
import { connectOnce } from "../shell/behaviors.js";

const STEPS = { ArrowDown: 1, ArrowUp: -1 };

export function start() {
  document.addEventListener("keydown", (event) => {
    const table = event.target.closest?.("[data-trace]");
    if (!table || !(event.key in STEPS)) return;
    const stops = [...table.querySelectorAll("th :is(a, .unheard)")];
    const next = stops[stops.indexOf(event.target) + STEPS[event.key]];
    event.preventDefault();
    next?.focus();
  });
  document.addEventListener("htmx:after:swap", ({ detail: { ctx } }) => {
    if (ctx.target?.id === "inspector") show("nearest");
  });
}

export function connect(root) {
  connectOnce(root, "[data-spans]", () => show("center"));
}

function show(block) {
  document.querySelector("#trace .chosen")?.scrollIntoView({ block });
}
