// The trace in the place of the events. The address says which of them is shown: what the page asks for its inspector keeps it,
// except for the switch itself, and going back and forward.
const view = () => new URLSearchParams(location.search).get("view");

export function start() {
  document.addEventListener("htmx:config:request", ({ detail: { ctx } }) => {
    const { sourceElement, target, request } = ctx;
    if (target?.id !== "inspector" || sourceElement === target || sourceElement.matches("[data-view]")) return;
    if (view()) request.body.set("view", view());
  });
}

export const isEvents = () => !view();

export function toggle() {
  document.querySelector("#views a:not([aria-current])")?.click();
}
