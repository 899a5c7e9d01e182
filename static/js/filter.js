// The filter of the timeline: Enter asks for the rows that it lets through, and leaves the rest of the page as it is, the
// message that is being written too. The address always names the filter in force.
import { each } from "./connected.js";
import { position } from "./seats.js";

let asking = false;
const field = () => document.getElementById("filter-field");

export function start() {
  document.addEventListener("htmx:after:history:update", keep);
  document.addEventListener("submit", (event) => {
    if (event.target.matches("[data-filter]")) go(field().value.trim(), event);
  });
  document.addEventListener("click", (event) => {
    if (event.target.closest?.("#filter-clear, #filter-none")) go("", event);
  });
}

export function connect(root) {
  each(root, "#filter-field", (input) => {
    if (!asking) return;
    asking = false;
    input.focus({ preventScroll: true });
    input.setSelectionRange(input.value.length, input.value.length);
  });
}

export function focus() {
  field().focus();
  field().select();
}

// A choice in another pane may lead to an address that does not name it.
function keep() {
  const applied = document.querySelector("[data-applied]")?.value;
  const url = new URL(location);
  if (asking || !applied || url.searchParams.has("filter")) return;
  url.searchParams.set("filter", applied);
  window.history.replaceState(window.history.state, "", url);
}

function go(text, event) {
  event.preventDefault();
  const url = new URL(location);
  if (text) url.searchParams.set("filter", text);
  else url.searchParams.delete("filter");
  const asked = new URL(url);
  asked.searchParams.set("seen", position());
  asking = true;
  window.htmx.ajax("GET", asked.pathname + asked.search, { source: "#timeline", push: url.pathname + url.search });
}
