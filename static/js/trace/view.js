// The trace in the place of the events. The address says which of them is shown: what the page asks for its inspector keeps it,
// except for the switch itself, and going back and forward.
import { afterwards } from "../inspector/requests.js";

const view = () => new URLSearchParams(location.search).get("view");

export function start() {
  document.addEventListener("htmx:config:request", ({ detail: { ctx } }) => {
    const { sourceElement, target, request } = ctx;
    if (target?.id !== "inspector" || sourceElement === target || sourceElement.matches("[data-view]")) return;
    if (!view()) return;
    const url = new URL(request.action, location); // of a form that is posted, too, whose answer leads back to the page
    url.searchParams.set("view", view());
    request.action = url.pathname + url.search;
  });
}

export const isEvents = () => !view();

// By key: the span of the selected event gets the focus, or the first one, so that the arrow keys go on from there; in the list
// of events, its tab stop.
export function toggle() {
  document.querySelector("#views a:not([aria-current])")?.click();
  afterwards(() => {
    const line = document.querySelector("#trace tr.chosen") ?? document.querySelector("#trace tbody tr");
    const place = line?.querySelector("a, .unheard") ?? document.querySelector('#rows .seq a[tabindex="0"]');
    place?.focus({ preventScroll: true });
  });
}
