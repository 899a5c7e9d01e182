// The trace, in place of the events. The address says which is shown (`view`). Requests for the inspector keep it, except those
// of the view switch and of history navigation.
import { afterwards } from "../inspector/requests.js";

const view = () => new URLSearchParams(location.search).get("view");

export function start() {
  document.addEventListener("htmx:config:request", ({ detail: { ctx } }) => {
    const { sourceElement, target, request } = ctx;
    if (target?.id !== "inspector" || sourceElement === target || sourceElement.matches("[data-view]")) return;
    if (!view()) return;
    const url = new URL(request.action, location); // also for posted forms, whose response leads back to the page
    url.searchParams.set("view", view());
    request.action = url.pathname + url.search;
  });
}

export const showsEvents = () => !view();

// Switches the view by key. The span of the selected event, or else the first one, gets the focus, so that the arrow keys continue
// from there; in the list of events, the tab stop gets it.
export function toggle() {
  document.querySelector("#views [aria-selected=false]")?.click();
  afterwards(() => {
    const line = document.querySelector("#trace tr.chosen") ?? document.querySelector("#trace tbody tr");
    const place = line?.querySelector("a, .unheard") ?? document.querySelector('#rows .seq a[tabindex="0"]');
    place?.focus({ preventScroll: true });
  });
}
