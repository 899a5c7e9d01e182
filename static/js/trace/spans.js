// Arrow keys move from span to span.
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
}
