// A selection outside the rows that are loaded, or going live from a window of the past, needs another page; and so does
// a link that leads out of the session, wherever in this page it stands.
let held = false;

export function start() {
  document.addEventListener("click", leave, true);
  document.addEventListener("htmx:after:history:update", check);
  document.addEventListener("change", (event) => {
    if (event.target.matches?.("[data-scrub]") && held) check();
  });
}

// The browser follows it, before htmx would bring the other page into a pane of this one.
function leave(event) {
  const link = event.target.closest?.("#main a[href], #transport a[href], .topbar a[href]");
  const session = `/sessions/${document.getElementById("main")?.dataset.session}`;
  if (!link || link.origin !== location.origin) return;
  if (link.pathname !== session && !link.pathname.startsWith(`${session}/`)) event.stopPropagation();
}

function check() {
  const number = new URLSearchParams(location.search).get("event");
  const stream = document.querySelector("[data-stream]");
  if (!stream) return;
  const past = stream.getAttribute("hx-sse:connect").includes("tail=no");
  const outside = number ? !document.getElementById(`e-${number}`) : past;
  held = outside && document.querySelector("[data-scrub]")?.matches(":active");
  if (outside && !held) location.reload();
}
