// A selection outside the rows that are loaded, or going live from a window of the past, needs another page.
let held = false;

export function start() {
  document.addEventListener("htmx:after:history:update", check);
  document.addEventListener("change", (event) => {
    if (event.target.matches?.("[data-scrub]") && held) check();
  });
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
