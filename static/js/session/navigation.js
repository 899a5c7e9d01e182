// Back, forward, and links. Going back or forward to another event, tab or view of the same moment fetches only the inspector, so
// that text typed elsewhere on the page is kept. A selection that the filter excludes needs another page; so does a link out of
// the session.
const SELECTION = ["event", "tab", "hits", "with", "key", "path", "since", "fork", "view"];
let previous = location.href;
let deferred = false;

export function start() {
  document.addEventListener("click", leave, true);
  document.addEventListener("htmx:after:history:update", check);
  document.addEventListener("change", (event) => {
    if (event.target.matches?.("[data-scrub]") && deferred) check();
  });
  document.addEventListener("htmx:after:history:update", () => { previous = location.href; });
  document.addEventListener("htmx:before:history:restore", (event) => {
    const same = place(previous) === place(location.href) && document.getElementById("inspector");
    previous = location.href;
    if (!same) return;
    event.preventDefault();
    const path = event.detail.path;
    window.htmx.ajax("GET", path, { source: "#inspector", target: "#inspector", swap: "innerMorph", replace: path });
  });
  // A response that arrives after the next step would replace the current address with its own.
  document.addEventListener("htmx:before:swap", (event) => {
    const { sourceElement, replace } = event.detail.ctx;
    if (sourceElement?.id === "inspector" && replace && whole(replace) !== whole(location.href)) event.preventDefault();
  });
}

function whole(address) {
  const url = new URL(address, location.href);
  return url.pathname + url.search;
}

function place(address) {
  const url = new URL(address);
  SELECTION.forEach((name) => url.searchParams.delete(name));
  return url.pathname + url.search;
}

// Lets the browser follow links out of the session, because htmx would load the other page into a pane of this one. A link that
// opens a dialog leads out of the session only without scripts.
function leave(event) {
  const link = event.target.closest?.("#main a[href], #transport a[href], .topbar a[href]");
  const session = `/sessions/${document.getElementById("main")?.dataset.session}`;
  if (!link || link.origin !== location.origin || link.matches("[data-dialog]")) return;
  if (link.pathname !== session && !link.pathname.startsWith(`${session}/`)) event.stopPropagation();
}

function check() {
  const number = new URLSearchParams(location.search).get("event");
  const outside = number && document.querySelector("[data-filter-text]") && !document.getElementById(`e-${number}`);
  deferred = Boolean(outside) && document.querySelector("[data-scrub]")?.matches(":active");
  if (outside && !deferred) location.reload();
}
