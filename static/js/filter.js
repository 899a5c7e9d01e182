// The filter of the timeline: Enter goes to the page that shows what it lets through, as it is otherwise. The address
// always names the filter in force.
import { each } from "./connected.js";

const FOCUSED = "devui-filter-focused";
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
    if (sessionStorage.getItem(FOCUSED) !== location.pathname) return;
    sessionStorage.removeItem(FOCUSED);
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
  if (!applied || url.searchParams.has("filter")) return;
  url.searchParams.set("filter", applied);
  window.history.replaceState(window.history.state, "", url);
}

function go(text, event) {
  event.preventDefault();
  const url = new URL(location);
  if (text) url.searchParams.set("filter", text);
  else url.searchParams.delete("filter");
  sessionStorage.setItem(FOCUSED, location.pathname);
  location.assign(url);
}
